// SPDX-License-Identifier: MIT
// The runtime pack's JavaScript was written for emscripten 3.1.56; what later ones renamed.
var _scriptDir = "";
Module["ready"] = readyPromise;
