// SPDX-License-Identifier: MIT
// What a page may not do by its policy, tried from within.
"use strict";

/**
 * For page.evaluate().
 * @returns {Promise<{isScriptRun: boolean, isEvalRun: boolean, refused: string[]}>}  refused:
 *   directives of the policy, and "fetch" where that was rejected
 */
exports.tryAll = async () => {
  const refused = [];
  document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
  const script = document.createElement("script");
  script.textContent = "window.touched = 1";
  document.body.append(script);
  await fetch("https://example.invalid/").catch(() => refused.push("fetch"));
  await new Promise((done) => {
    const image = new Image();
    image.onload = image.onerror = done;
    image.src = "https://example.invalid/x.png";
  });
  let isEvalRun = true;
  try {
    new Function("return 1")();
  } catch {
    isEvalRun = false;
  }
  return { isScriptRun: window.touched !== undefined, isEvalRun, refused };
};
