// SPDX-License-Identifier: MIT
// What a JavaScript object is, for people, without running code of the program: this may
// be asked in the middle of a collection.  (Only traps of a Proxy cannot be told beforehand.)

const NAME_LENGTH = 200;

const valueOf = (object, key) => Object.getOwnPropertyDescriptor(object, key)?.value;

function nameOf(constructor) {
  const name = valueOf(constructor, "name");
  return typeof name === "string" ? name.slice(0, NAME_LENGTH) : "";
}

/**
 * @param {object|Function} value
 * @returns {{type: "object"|"function", name: string}}  name: of the function, or of the object's class
 */
export function describe(value) {
  const type = typeof value;
  try {
    if (type === "function") return { type, name: nameOf(value) };
    // What the runtime makes for a promise or a task: a class of a minified name.
    if (valueOf(value, "promise") instanceof Promise) return { type, name: "Promise" };
    for (let from = value; from !== null; from = Object.getPrototypeOf(from)) {
      const constructor = valueOf(from, "constructor");
      if (typeof constructor === "function") return { type, name: nameOf(constructor) };
    }
  } catch {
    // A trap of a Proxy threw.
  }
  return { type, name: "" };
}
