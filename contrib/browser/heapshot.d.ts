// SPDX-License-Identifier: MIT
// For those who import heapshot.mjs by another name; TypeScript looks for heapshot.d.mts beside it.
export * from "./heapshot.mjs";
