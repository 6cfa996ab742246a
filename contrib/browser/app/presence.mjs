// SPDX-License-Identifier: MIT
// Who is still there?  Each side holds a Web Lock that is named by its id, and the other side
// asks for it: that is granted when the holder closed, left, crashed or was killed, and without
// a timer, which a hidden tab would have once a second.

const lockOf = (id) => "heapshot/" + id;

/**
 * Shows that ID is there, until the function that this resolves to is called or the page ends.
 * @returns {Promise<() => void>}
 */
export function hold(id) {
  return new Promise((resolve, reject) => {
    const until = () => new Promise((release) => resolve(release));
    navigator.locks.request(lockOf(id), until).catch(reject);
  });
}

/**
 * Calls BACK once ID is there no more.  Its holder must have it already.
 * @returns {() => void} that ends the waiting
 */
export function whenGone(id, back) {
  const ended = new AbortController();
  // Shared, so that all who wait get it at once.
  navigator.locks.request(lockOf(id), { mode: "shared", signal: ended.signal }, () => {}).then(
    () => ended.signal.aborted || back(),
    () => {},
  );
  return () => ended.abort();
}

/**
 * A page that is left is kept for the way back, and nothing runs in it meanwhile: it is gone
 * for the other side, and comes back as another one.
 * @param {() => void} leave, back
 * @returns {() => void} that ends it
 */
export function onLeaving(leave, back) {
  if (typeof document === "undefined") return () => {}; // a worker ends with its page
  const hidden = () => leave();
  const shown = (event) => event.persisted && back();
  addEventListener("pagehide", hidden);
  addEventListener("pageshow", shown);
  return () => {
    removeEventListener("pagehide", hidden);
    removeEventListener("pageshow", shown);
  };
}
