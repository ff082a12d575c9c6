// Search as you type; label what is found without leaving the list.

import { get, post } from "./api.js";
import { byId, chip, element, several, VERDICTS } from "./dom.js";
import { guarded, tellFault } from "./faults.js";
import { newKey } from "./keys.js";
import { saysOf, walk } from "./lists.js";
import { MAY_ANSWER, place } from "./places.js";

const PAUSE = 120; // milliseconds after the last letter
const AT_ONCE = 20;
let asked = 0; // replies to older questions are dropped
let timer;

async function search(offset = 0) {
  const number = (asked += 1);
  const q = byId("words").value;
  history.replaceState(null, "", place("/search", { q }));
  const told = q.trim() ? await get("/search", { q, n: AT_ONCE, offset }) : { hits: [], more: false };
  if (number !== asked) return;
  const items = told.hits.map(drawn);
  if (offset) byId("hits").append(...items);
  else byId("hits").replaceChildren(...items);
  byId("more").hidden = !told.more;
  byId("told").textContent = q.trim() ? countOf(byId("hits").children.length, told.more, told.in_folder) : "";
}

// Of a large collection on disk only those that fit best are found.
function countOf(n, more, inFolder) {
  if (n && inFolder > n) return `${several(inFolder, "document")} of the collection may have these words; here are those that fit best. More words find fewer.`;
  return n ? `${several(n, "document")}${more ? ", and more" : ""}` : "Nothing has all these words.";
}

function drawn(hit) {
  const item = element("li", { class: "hit", tabindex: "-1", "data-document": hit.id },
    element("div", { class: "hit-head" },
      element("a", { class: "hit-title", href: place("", { document: hit.id }) }, hit.title || hit.id),
      element("span", { class: "verdict-place" }, hit.verdict ? chip(hit.verdict) : "")),
    element("p", { class: "excerpt" }, ...hit.snippet.map(({ text, hit: isHit }) => (isHit ? sought(text) : text))),
    MAY_ANSWER ? element("div", { class: "hit-foot" }, saysOf((verdict) => say(item, verdict), hit.verdict)) : null);
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
    tellFault(error);
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

const { move, n } = walk(byId("hits"), { say: MAY_ANSWER ? say : null, before: () => byId("words").focus() });
byId("words").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") { event.preventDefault(); move(1); }
  if (event.key === "Escape") event.target.blur();
});
byId("words").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => guarded(search), PAUSE); });
byId("search").addEventListener("submit", (event) => { event.preventDefault(); guarded(search); });
byId("more").addEventListener("click", () => guarded(() => search(n())));

if (byId("words").value) guarded(search);
