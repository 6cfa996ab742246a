// SPDX-License-Identifier: MIT
// Making elements.  Text is always set as text, never as markup: names come
// from recordings, and may be anything.

function fill(node, properties, children) {
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.setAttribute("class", value);
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(node.style, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

/** Appends nodes, texts, and lists of both; null is nothing. */
export function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child);
  }
  return node;
}

/** h("button", { class: "x", onclick: f }, "text", ...) */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg(tag, properties, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

/** TEXT that may be broken behind the signs of long names, not within numbers. */
export function breakable(text) {
  return text.split(/(?<=[.,<>\/])(?=[^\s\d])/).flatMap((part, i) => (i === 0 ? [part] : [h("wbr"), part]));
}

/** Puts CHILDREN in the place of what NODE has. */
export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** Calls BACK when the width of NODE has changed, not while it is hidden. */
export function onResize(node, back) {
  let width = 0;
  new ResizeObserver(() => {
    const now = node.clientWidth;
    if (now > 0 && now !== width) {
      const isFirst = width === 0;
      width = now;
      if (!isFirst) requestAnimationFrame(back);
    }
  }).observe(node);
}

/** A button that copies TEXT. */
export function copyButton(text) {
  const button = h("button", { class: "copy", type: "button", "aria-label": "Copy " + text }, "Copy");
  button.addEventListener("click", async () => {
    let isDone = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      isDone = false;
    }
    button.textContent = isDone ? "Copied" : "Select it";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

/** A command to type, with a button to copy it. */
export function command(text, what) {
  return h("div", { class: "command" }, h("code", {}, text), copyButton(text), what && h("span", { class: "dim" }, what));
}
