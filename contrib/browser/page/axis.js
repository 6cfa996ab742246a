// SPDX-License-Identifier: MIT
// What the axes of charts are labelled with.

/** Round steps so that about N of them make up MOST: 1, 2, 5, 10, ... */
export function ticks(most, n, base = 10) {
  if (!(most > 0)) return [0];
  const rough = most / n;
  const power = Math.pow(base, Math.floor(Math.log(rough) / Math.log(base)));
  const steps = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
  const step = power * (steps.find((one) => one * power >= rough) || base);
  const list = [];
  for (let at = 0; at <= most * 1.0001; at += step) list.push(at);
  return list;
}

/** Seconds, all of one time line with the same decimals. */
export function seconds(ns, end) {
  return (ns / 1e9).toFixed(end < 10e9 ? 2 : end < 100e9 ? 1 : 0) + " s";
}
