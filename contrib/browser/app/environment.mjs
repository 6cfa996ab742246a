// SPDX-License-Identifier: MIT
// What differs between a page, a worker and node.

/** Resolves after what the event loop has to do first: messages that arrived, say. */
export function turn() {
  return new Promise((resolve) => {
    // Not a timer: in a hidden tab that takes a second.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** How a person tells this program from others. */
export function title() {
  if (globalThis.document?.title) return document.title;
  if (globalThis.location?.pathname) return location.pathname.split("/").filter(Boolean).pop() || location.host;
  return globalThis.process?.argv?.[1]?.split(/[\\/]/).pop() || "dotnet";
}

/** "TITLE-2026-01-31T12-00-00.hs", as all systems take it. */
export function fileName(name = title()) {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  return `${name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60)}-${time}.hs`;
}

/** Gives BLOB to the person: as a download of a page, as a file NAME of node. */
export async function save(blob, name) {
  if (globalThis.document?.createElement) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    // The download has its Blob by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    return;
  }
  if (globalThis.process?.versions?.node) {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(name, blob.stream());
    return;
  }
  throw new Error("a worker has no downloads: post the Blob of takeSnapshot() to a page");
}
