// Search as you type; label what is found without leaving the list.

import { get, post } from "./api.js";
import { byId, chip, element, showBanner, several, VERDICTS } from "./dom.js";
import { newKey, onKeys } from "./keys.js";

const PAUSE = 120; // milliseconds after the last letter
const AT_ONCE = 20;
let asked = 0; // replies to older questions are dropped
let timer;

async function search(offset = 0) {
  const number = (asked += 1);
  const q = byId("words").value;
  history.replaceState(null, "", q ? `/search?${new URLSearchParams({ q })}` : "/search");
  const told = q.trim() ? await get("/search", { q, n: AT_ONCE, offset }) : { hits: [], more: false };
  if (number !== asked) return;
  const items = told.hits.map(drawn);
  if (offset) byId("hits").append(...items);
  else byId("hits").replaceChildren(...items);
  byId("more").hidden = !told.more;
  byId("told").textContent = q.trim() ? countOf(byId("hits").children.length, told.more) : "";
}

function countOf(n, more) {
  return n ? `${several(n, "document")}${more ? ", and more" : ""}` : "Nothing has all these words.";
}

function drawn(hit) {
  const item = element("li", { class: "hit", tabindex: "-1", "data-document": hit.id },
    element("div", { class: "hit-head" },
      element("a", { class: "hit-title", href: `/?${new URLSearchParams({ document: hit.id })}` }, hit.title || hit.id),
      element("span", { class: "verdict-place" }, hit.verdict ? chip(hit.verdict) : "")),
    element("p", { class: "excerpt" }, ...hit.snippet.map(({ text, hit: isHit }) => (isHit ? sought(text) : text))),
    element("div", { class: "hit-foot" }, element("div", { class: "says", role: "group", "aria-label": "Verdict" },
      ...Object.entries(VERDICTS).map(([verdict, label]) => element("button", {
        type: "button", class: "button", "data-verdict": verdict, "aria-pressed": String(hit.verdict === verdict),
        onclick: () => say(item, verdict),
      }, verdict === "skip" ? "Skip" : label)))));
  item.answer = hit.answer;
  return item;
}

const sought = (text) => element("mark", { class: "sought" }, text);

async function say(item, verdict) {
  const id = item.dataset.document;
  try {
    const told = await post("/answers", { answers: [{ document: id, verdict, key: newKey(), expect: item.answer }] });
    item.answer = told.receipts[0].id;
    show(item, verdict);
    byId("told").textContent = `Saved: ${VERDICTS[verdict]}.`;
  } catch (error) {
    if (error.status === 409) await refresh(item, id);
    showBanner("fault", "bad", error.message);
  }
}

// Somebody else said something: what holds now is shown, and the next verdict corrects it.
async function refresh(item, id) {
  const record = await get("/document", { id });
  item.answer = record.answer;
  show(item, record.verdict);
}

function show(item, verdict) {
  item.querySelector(".verdict-place").replaceChildren(verdict ? chip(verdict) : "");
  for (const button of item.querySelectorAll("[data-verdict]")) {
    button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
  }
}

const items = () => [...byId("hits").children];
const current = () => document.activeElement?.closest(".hit");

function move(step) {
  const all = items();
  const at = all.indexOf(current());
  if (at + step < 0) byId("words").focus();
  else all[Math.min(at + step, all.length - 1)]?.focus();
}

const on = (verdict) => () => { const item = current(); if (item) say(item, verdict); };

onKeys({
  ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
  r: on("relevant"), 1: on("relevant"), i: on("irrelevant"), 2: on("irrelevant"),
  m: on("maybe"), 3: on("maybe"), s: on("skip"), 4: on("skip"),
});
byId("hits").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches(".hit")) event.target.querySelector("a").click();
});
byId("words").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") { event.preventDefault(); move(1); }
  if (event.key === "Escape") event.target.blur();
});
byId("words").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => guarded(search), PAUSE); });
byId("search").addEventListener("submit", (event) => { event.preventDefault(); guarded(search); });
byId("more").addEventListener("click", () => guarded(() => search(items().length)));

async function guarded(work) {
  try {
    await work();
  } catch (error) {
    showBanner("fault", "bad", error.message);
  }
}

if (byId("words").value) guarded(search);
