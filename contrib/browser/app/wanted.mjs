// SPDX-License-Identifier: MIT
// Is a snapshot still wanted?  While the runtime stands still no message is received.  So the
// panel makes a URL of a Blob, which it revokes to cancel, and which ends with the panel's page;
// and that such a URL is there can be seen at any time.

/** @returns {{url: string, revoke: () => void}} */
export function sign() {
  const url = URL.createObjectURL(new Blob(["heapshot"]));
  return { url, revoke: () => URL.revokeObjectURL(url) };
}

/**
 * @param {*} url  of a message: anything
 * @returns {(() => boolean)|null} asks; null where that cannot be seen, such as by the page's policy
 */
export function watch(url) {
  if (typeof url !== "string" || !url.startsWith("blob:" + globalThis.location?.origin + "/")) return null;
  if (typeof XMLHttpRequest !== "function") return null;
  const isThere = () => {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    try {
      request.send();
    } catch {
      return false;
    }
    return request.status === 200;
  };
  return isThere() ? isThere : null;
}
