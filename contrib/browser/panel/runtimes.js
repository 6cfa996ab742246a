// SPDX-License-Identifier: MIT
// The runtimes that answer on the channel, and how to reach others.
import { h, replace } from "../page/dom.js";
import { PanelClient } from "./client.js";

const CHANNEL = "heapshot";

/** What an address is, in short: the host and what follows. */
export function shortAddress(url) {
  try {
    const { host, pathname } = new URL(url);
    return host + pathname;
  } catch {
    return url;
  }
}

export class Runtimes extends EventTarget {
  /** SAY, FAIL: of Messages. */
  constructor({ say, fail }) {
    super();
    Object.assign(this, { say, fail });
    this.chosen = null; // id
    this.list = h("ul", { class: "items" });
    this.empty = h("p", { class: "dim" });
    this.name = h("input", { id: "channel", type: "text", value: new URLSearchParams(location.search).get("channel") || "", placeholder: CHANNEL, autocomplete: "off", spellcheck: "false" });
    this.token = h("input", { id: "token", type: "password", placeholder: "none", autocomplete: "off" });
    const submit = (event) => {
      event.preventDefault();
      this.connect();
    };
    this.element = h(
      "div",
      { class: "part" },
      h("div", { class: "section-head" }, h("h2", {}, "Runtimes"), h("button", { type: "button", id: "refresh", onclick: () => this.refresh() }, "Refresh")),
      this.empty,
      this.list,
      h(
        "details",
        { class: "connect" },
        h("summary", {}, "Channel and token"),
        h("form", { onsubmit: submit }, h("label", { for: "channel" }, "Channel"), this.name, h("label", { for: "token" }, "Token"), this.token, h("button", { type: "submit" }, "Connect"))
      )
    );
    this.draw();
  }

  get runtimes() {
    return this.client ? this.client.runtimes : [];
  }

  find(id) {
    return this.runtimes.find((runtime) => runtime.id === id);
  }

  /** Listens on the channel that the fields name. */
  connect() {
    if (this.client) this.client.close();
    this.client = undefined;
    let client;
    try {
      client = new PanelClient({ name: this.name.value.trim() || CHANNEL, token: this.token.value });
    } catch (error) {
      this.fail(new Error(`${error.message}; files can be opened all the same.`));
      this.draw();
      return;
    }
    this.client = client;
    client.addEventListener("runtimes", () => this.changed());
    client.addEventListener("gone", (event) => this.dispatchEvent(new CustomEvent("gone", { detail: event.detail })));
    this.refresh();
    this.changed();
  }

  async refresh() {
    if (this.client === undefined) return;
    this.say("Asking which runtimes are there.");
    try {
      await this.client.refresh();
    } catch (error) {
      this.fail(new Error(`${error.message}; files can be opened all the same.`));
    }
  }

  changed() {
    const n = this.runtimes.length;
    this.say(n === 0 ? "No runtime answers." : n === 1 ? "1 runtime answers." : `${n} runtimes answer.`);
    this.draw();
    this.dispatchEvent(new Event("change"));
  }

  choose(id) {
    this.chosen = id;
    this.draw();
  }

  draw() {
    const focused = document.activeElement && this.list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    this.empty.textContent = this.runtimes.length > 0 ? "" : "None answers. An app answers when it has called hs.enableDiagnosticChannel(), is served from this origin, and uses this channel and, if it wants one, this token.";
    this.empty.hidden = this.runtimes.length > 0;
    replace(
      this.list,
      this.runtimes.map((runtime) =>
        h(
          "li",
          { class: "item" },
          h(
            "button",
            {
              type: "button",
              class: "item-open",
              "data-id": runtime.id,
              title: runtime.url,
              "aria-current": runtime.id === this.chosen ? "true" : null,
              onclick: () => this.dispatchEvent(new CustomEvent("open", { detail: runtime.id })),
            },
            h("span", { class: "name" }, runtime.title || shortAddress(runtime.url)),
            h("span", { class: "dim" }, [runtime.runtimeVersion && ".NET " + runtime.runtimeVersion, runtime.isSupported === false && "another version of heapshot"].filter((text) => text).join(", ")),
            h("span", { class: "dim" }, shortAddress(runtime.url))
          )
        )
      )
    );
    const again = focused && [...this.list.querySelectorAll("button")].find((button) => button.dataset.id === focused);
    if (again) again.focus();
  }
}
