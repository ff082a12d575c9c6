// Documents whose readers disagree, and the decision of those who may take it.

import { get, post } from "./api.js";
import { byId, chip, element, several } from "./dom.js";
import { guarded, tellFault } from "./faults.js";
import { newKey, onKeys } from "./keys.js";
import { saysOf, walk } from "./lists.js";
import { localTime } from "./moments.js";
import { MAY_ANSWER, place } from "./places.js";

const AT_ONCE = 20;
const WHY_NOT = {
  third: "You have read it yourself: somebody else decides.",
  consensus: "Those who have read it, or an owner, write down what they agreed on.",
};
const list = byId("conflicts");

async function load() {
  const found = await get("/conflicts", { n: AT_ONCE, offset: list.children.length });
  list.append(...found.map(drawn));
  byId("more").hidden = found.length < AT_ONCE;
  byId("told").textContent = list.children.length ? "" : "There is no conflict now.";
}

function drawn(conflict) {
  const { document: record } = conflict;
  const item = element("li", { class: "hit conflict", tabindex: "-1" },
    element("div", { class: "hit-head" },
      element("a", { class: "hit-title", href: place("", { document: record.id }) }, record.title || record.id)),
    element("details", {}, element("summary", {}, "Abstract"),
      element("p", { class: "whole-abstract" }, record.abstract || "This record has no abstract.")),
    element("ul", { class: "opinions" }, ...conflict.opinions.map(drawnOpinion)),
    conflict.may_resolve && MAY_ANSWER ? drawnDecision(record, (verdict) => decide(item, verdict)) : element("p", { class: "soft why-not" }, whyNot()));
  item.conflict = conflict;
  return item;
}

function drawnOpinion({ reviewer, verdict, note, answered_at: moment }) {
  return element("li", {}, element("b", {}, reviewer), chip(verdict), element("small", {}, localTime(moment)),
    note ? element("p", { class: "said" }, note) : null);
}

function drawnDecision(record, say) {
  const id = `note-${newKey()}`;
  return element("div", { class: "hit-foot decision" },
    element("div", { class: "why-field" },
      element("label", { class: "hush", for: id }, `Note about the decision on ${record.title || record.id}`),
      element("input", {
        type: "text", id, maxlength: "20000", placeholder: "Why? (a note, if you like)",
        onkeydown: (event) => event.key === "Escape" && event.target.closest(".hit").focus(),
      })),
    saysOf(say));
}

const whyNot = () => (MAY_ANSWER ? WHY_NOT[document.body.dataset.resolution] : "Nothing can be decided while the review is frozen.");

async function decide(item, verdict) {
  const { conflict } = item;
  if (!conflict.may_resolve || !MAY_ANSWER || item.isSent) return;
  item.isSent = true;
  const note = item.querySelector("input").value.trim();
  try {
    await post("/conflicts", { document: conflict.document.id, verdict, key: newKey(), note });
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    byId("told").textContent = leftWords(conflict.document, verdict);
    next?.focus();
  } catch (error) {
    item.isSent = false;
    if (error.status === 409) error.message += " Load the page again to see what holds now.";
    tellFault(error);
  }
}

function leftWords({ title, id }, verdict) {
  const left = list.children.length;
  return `Decided: “${title || id}” is ${verdict === "skip" ? "skipped" : verdict}. ${left ? `${several(left, "conflict")} left on this page.` : "No conflict is left."}`;
}

const unfold = (item) => { const part = item.querySelector("details"); part.open = !part.open; };

walk(list, { say: decide, open: unfold });
onKeys({ n: () => document.activeElement?.closest(".hit")?.querySelector("input")?.focus() });
byId("more").addEventListener("click", () => guarded(load));
guarded(load);
