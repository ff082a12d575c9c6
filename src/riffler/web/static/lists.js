// Lists of documents that are gone through by keys, and said something of without leaving the list.

import { element, VERDICTS } from "./dom.js";
import { onKeys } from "./keys.js";

// Buttons with the four verdicts; `now` is pressed.
export function saysOf(say, now = null) {
  return element("div", { class: "says", role: "group", "aria-label": "Verdict" },
    ...Object.entries(VERDICTS).map(([verdict, label]) => element("button", {
      type: "button", class: "button", "data-verdict": verdict, "aria-pressed": String(now === verdict),
      onclick: () => say(verdict),
    }, verdict === "skip" ? "Skip" : label)));
}

// say(item, verdict) is called by the keys of verdicts, null for none; open(item) by Enter; before() when somebody goes
// up from the first.
export function walk(list, { say, open = (item) => item.querySelector("a").click(), before = () => {} }) {
  const items = () => [...list.children];
  const current = () => document.activeElement?.closest(".hit");
  const move = (step) => {
    const at = items().indexOf(current());
    if (at + step < 0) before();
    else items()[Math.min(at + step, items().length - 1)]?.focus();
  };
  const on = (verdict) => () => { const item = current(); if (item) say(item, verdict); };
  onKeys({ ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1) });
  if (say) {
    onKeys({
      r: on("relevant"), 1: on("relevant"), i: on("irrelevant"), 2: on("irrelevant"),
      m: on("maybe"), 3: on("maybe"), s: on("skip"), 4: on("skip"),
    });
  }
  list.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".hit")) open(event.target);
  });
  return { move, n: () => items().length };
}
