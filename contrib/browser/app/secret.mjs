// SPDX-License-Identifier: MIT
// A token that both sides know.  It never crosses: each side proves that it has it, by a
// hash of what it says together with random numbers of both.

const encoder = new TextEncoder();
const ROUNDS = 200000;
const HMAC = { name: "HMAC", hash: "SHA-256", length: 256 };

export class Secret {
  #key;

  constructor(key) {
    this.#key = key;
  }

  /**
   * @param {string} token  none: ""
   * @param {string} name  of the channel
   * @returns {Promise<Secret|null>} null without a token
   */
  static async of(token, name) {
    if (!token) return null;
    if (typeof token !== "string") throw new TypeError("the token of a channel is a string");
    const bytes = await crypto.subtle.importKey("raw", encoder.encode(token), "PBKDF2", false, ["deriveKey"]);
    // Slow, since people choose short tokens, and a script that listens could try them all.
    const how = { name: "PBKDF2", hash: "SHA-256", salt: encoder.encode("heapshot channel " + name), iterations: ROUNDS };
    return new Secret(await crypto.subtle.deriveKey(how, bytes, HMAC, false, ["sign", "verify"]));
  }

  /** @returns {Promise<string>} 64 hexadecimal digits */
  async prove(...words) {
    const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", this.#key, encoder.encode(JSON.stringify(words))));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** @returns {Promise<boolean>} PROOF, which may be anything, is that of these words */
  async isProof(proof, ...words) {
    if (typeof proof !== "string" || !/^[0-9a-f]{64}$/.test(proof)) return false;
    const bytes = Uint8Array.from(proof.match(/../g), (digits) => parseInt(digits, 16));
    return crypto.subtle.verify("HMAC", this.#key, bytes, encoder.encode(JSON.stringify(words)));
  }
}
