// SPDX-License-Identifier: MIT
// Numbers and names as people read them.

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];

/** "1,234,567" */
export function count(n) {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "12.3 MB", in steps of 1,024. */
export function bytes(n) {
  const size = Math.abs(n);
  let unit = 0;
  let value = size;
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const text = unit === 0 ? count(value) : value.toFixed(value < 10 ? 2 : 1);
  return (n < 0 ? "−" : "") + text + " " + UNITS[unit];
}

/** The exact number, for titles. */
export function exactBytes(n) {
  return (n < 0 ? "−" : "") + count(Math.abs(n)) + " bytes";
}

/** A change: "+1,234", "−5", "0". */
export function change(n, format = count) {
  if (n === 0) return "0" + (format === bytes ? " B" : "");
  return (n > 0 ? "+" : "−") + format(Math.abs(n));
}

/** "12.3 %" of ALL. */
export function share(part, all) {
  return (all > 0 ? (100 * part) / all : 0).toFixed(1) + " %";
}

/** "1.23 s", "4.5 ms", "12 µs" */
export function duration(ns) {
  if (ns >= 60e9) {
    const seconds = Math.round(ns / 1e9);
    return Math.floor(seconds / 60) + " min " + (seconds % 60) + " s";
  }
  if (ns >= 1e9) return (ns / 1e9).toFixed(2) + " s";
  if (ns >= 1e6) return (ns / 1e6).toFixed(ns < 1e7 ? 2 : 1) + " ms";
  return (ns / 1e3).toFixed(0) + " µs";
}

/** "2026-01-31 12:34:56", local time. */
export function wallTime(ms) {
  const date = new Date(ms);
  const two = (n) => String(n).padStart(2, "0");
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

/** What a shell takes as one word. */
export function shellWord(text) {
  return /^[A-Za-z0-9._/\-+@:,=%]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
}

/** A type's name without its name space: "Dictionary<String,Node>". */
export function shortName(name) {
  return name.replace(/[A-Za-z_][A-Za-z0-9_]*\.(?=[A-Za-z_<])/g, "");
}

/** The program of a command line: its first .exe or .dll, else its first word. */
export function programName(commandLine) {
  const words = commandLine.split(/[\s\0]+/).filter((word) => word !== "");
  const program = words.find((word) => /\.(exe|dll)$/i.test(word)) || words[0] || "";
  return program.replace(/^.*[\\/]/, "");
}
