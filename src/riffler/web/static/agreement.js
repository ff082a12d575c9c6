// How far the readers agree, in words, numbers and tables; and who has read how much.

import { chip, count, element, VERDICTS } from "./dom.js";
import { place } from "./places.js";
import { table } from "./tables.js";

const DECIDED = {
  third: "decided by a third person", consensus: "decided by consensus", owner: "decided by an owner",
  correction: "corrected by an owner", agreement: "all agreed",
};
const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)}%`);
const decimal = (number) => (number === null ? "–" : number.toFixed(2));

export function drawAgreement(told, disagreements) {
  if (!told.n_documents) {
    return [element("p", { class: "soft" }, told.sentence || "No document has been read by several people yet.")];
  }
  return [
    element("p", { class: "lead" }, told.sentence),
    drawNumbers(told),
    drawPairs(told),
    element("details", {}, element("summary", {}, "Who said what together"), drawTable(told)),
    drawDisagreements(disagreements, told.n_disagreements),
  ].filter(Boolean);
}

function drawNumbers({ share, kappa, kappa_relevant: narrow, n_documents: n, n_disagreements: different }) {
  const tile = (words, number, more) => element("div", { class: "tile" },
    element("dt", {}, words), element("dd", {}, number, more ? element("small", {}, more) : null));
  return element("dl", { class: "tiles" },
    tile("Same verdict", percent(share?.value ?? null), intervalOf(share, percent)),
    tile(`${kappa.name}’s kappa`, decimal(kappa.value), intervalOf(kappa, decimal) || kappa.note),
    tile("Relevant or not", decimal(narrow.value), intervalOf(narrow, decimal) || narrow.note),
    tile("Read by several", String(n), `${different} of them differently`));
}

const intervalOf = (one, write) => (one && one.low !== null ? `between ${write(one.low)} and ${write(one.high)}` : "");

function drawPairs({ pairs }) {
  if (pairs.length < 2) return null;
  return table("Two by two", ["First", "Second", "Documents", "Same verdict", "Kappa", "Relevant or not"],
    pairs.map((one) => [one.first, one.second, one.n_documents, percent(one.share.value),
      withInterval(one.kappa), withInterval(one.kappa_relevant)]));
}

const withInterval = (kappa) => (kappa.low === null ? decimal(kappa.value)
  : `${decimal(kappa.value)} (${decimal(kappa.low)} to ${decimal(kappa.high)})`);

function drawTable({ pairs, table: all, verdicts }) {
  const [only] = pairs;
  const isTwo = pairs.length === 1;
  const words = verdicts.map((verdict) => VERDICTS[verdict]);
  const caption = isTwo ? `Rows: ${only.first}; columns: ${only.second}` : "Pairs of opinions, in any order";
  const rows = (isTwo ? only.table : all).map((row, at) => [words[at], ...row]);
  return table(caption, ["", ...words], rows);
}

function drawDisagreements(disagreements, n) {
  if (!disagreements.length) return null;
  const more = n > disagreements.length ? `, the latest ${disagreements.length} of ${n}` : "";
  return element("div", {}, element("h3", {}, `Where they differ${more}`),
    element("ul", { class: "hits" }, ...disagreements.map(drawDisagreement)));
}

function drawDisagreement({ document: id, title, opinions, verdict, decided, by }) {
  return element("li", { class: "hit" },
    element("div", { class: "hit-head" },
      element("a", { class: "hit-title", href: place("", { document: id }) }, title || id),
      verdict ? chip(verdict) : element("small", {}, "still open")),
    element("ul", { class: "opinions short" }, ...opinions.map((one) => element("li", {}, `${one.reviewer} `, chip(one.verdict)))),
    verdict ? element("small", {}, [DECIDED[decided] ?? decided, by].filter(Boolean).join(": ")) : null);
}

export function drawPaces(paces) {
  if (!paces.length) return element("p", { class: "soft" }, "Nobody has read anything yet.");
  return table("", ["Who", "Answers", "Opinions", "Seconds a document", "An hour", "Relevant", "Opinions settled", "Of these upheld"],
    paces.map((one) => [one.reviewer, one.n_answers, one.n_opinions, one.seconds === null ? "–" : one.seconds.toFixed(1),
      one.per_hour === null ? "–" : count(Math.round(one.per_hour)), percent(one.share_relevant), one.n_decided, percent(one.share_upheld)]));
}
