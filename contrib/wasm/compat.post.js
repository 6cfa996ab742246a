// SPDX-License-Identifier: MIT
readyPromise = Module["ready"];
