// Draws one document: title, what is known of it, abstract, copies, and all its fields.

import { byId, chip, count, element } from "./dom.js";
import { IS_TEAM, MAY_ANSWER } from "./places.js";

const FIELDS = {
  authors: ["authors", "author", "au", "a1", "fau"],
  year: ["year", "publication year", "py", "y1", "dp", "date", "da"],
  journal: ["journal", "source title", "journal title", "secondary title", "publication", "jo", "jf", "jt", "t2", "ja", "ta"],
  doi: ["doi", "do", "di", "digital object identifier", "doi link", "article doi", "lid", "aid"],
  url: ["url", "urls", "link", "ur", "l2"],
};
const DOI = /10\.\d{4,9}\/[^\s"<>]+/;
const UNSHOWN = new Set(["record tags"]); // how a file was written, not what it says
const LONG = 400; // of the authors' names, letters that are shown at first

export function drawDocument(record, marker) {
  byId("title").replaceChildren(record.title ? marker.draw(record.title) : "(no title)");
  byId("about").replaceChildren(...aboutLines(record));
  byId("abstract").replaceChildren(...paragraphs(record.abstract, marker));
  drawTwins(record.twins ?? [], marker);
  drawFields(record);
  drawStanding(record);
}

export function drawStanding(record) {
  const holds = byId("holds");
  holds.hidden = !record.verdict;
  if (!record.verdict) return;
  holds.replaceChildren(IS_TEAM ? "The answer is" : "You said", chip(record.verdict), ...(MAY_ANSWER ? [
    "Another verdict corrects it.",
    element("button", { type: "button", class: "button small" }, "Leave it and go on"),
  ] : []));
}

function paragraphs(text, marker) {
  const found = (text ?? "").split(/\n{2,}/).filter((part) => part.trim());
  if (!found.length) return [element("p", { class: "none" }, "This record has no abstract.")];
  return found.map((part) => element("p", {}, marker.draw(part.trim())));
}

function aboutLines(record) {
  const authors = shortened(asText(pick(record.columns, "authors")));
  const place = [asText(pick(record.columns, "journal")), yearOf(record.columns)].filter(Boolean).join(", ");
  const links = linksOf(record.columns).map(({ words, href }) =>
    element("a", { href, target: "_blank", rel: "noopener noreferrer" }, words));
  const last = [place, ...links].filter(Boolean).flatMap((one, at) => (at ? [" · ", one] : [one]));
  return [authors && element("p", {}, authors), last.length ? element("p", {}, ...last) : null].filter(Boolean);
}

function linksOf(columns) {
  const doi = asText(pick(columns, "doi")).match(DOI)?.[0].replace(/[.,;)]+$/, "");
  if (doi) return [{ words: `doi:${doi}`, href: `https://doi.org/${encodeURI(doi)}` }];
  const href = safeAddress(asText(pick(columns, "url")).split(/[\s;]+/)[0]);
  return href ? [{ words: new URL(href).hostname, href }] : [];
}

// Only ordinary web addresses become links: a file may say javascript: or data:.
export function safeAddress(text) {
  try {
    const address = new URL(text);
    return ["http:", "https:"].includes(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}

function drawTwins(twins, marker) {
  byId("twins").hidden = !twins.length;
  byId("twins-count").textContent = `${count(twins.length + 1)} copies of this record: one verdict is for all`;
  byId("twins-list").replaceChildren(...twins.map((twin) => element("div", { class: "twin" },
    element("p", {}, element("b", {}, twin.title ? marker.draw(twin.title) : "(no title)")),
    element("p", { class: "soft" }, twin.id),
    twin.abstract ? element("p", {}, marker.draw(twin.abstract)) : null)));
}

function drawFields(record) {
  const rows = Object.entries(record.columns ?? {})
    .map(([name, value]) => [name, asText(value)])
    .filter(([name, text]) => text && !UNSHOWN.has(folded(name)) && !isShown(name, text, record));
  byId("fields-list").replaceChildren(...[["id", record.id], ["imported from", record.source], ...rows].flatMap(
    ([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
}

const isShown = (name, text, { id, title, abstract }) => [title, abstract].includes(text) || (folded(name) === "id" && text === id);

function pick(columns, part) {
  const names = new Map(Object.keys(columns ?? {}).map((name) => [folded(name), name]));
  const found = FIELDS[part].map((name) => names.get(name)).find((name) => name !== undefined && asText(columns[name]));
  return found === undefined ? "" : columns[found];
}

const yearOf = (columns) => asText(pick(columns, "year")).match(/\b(1[5-9]|20)\d\d\b/)?.[0] ?? "";
const folded = (name) => name.toLowerCase().replace(/[\s_-]+/g, " ").trim();
const shortened = (text) => (text.length > LONG ? `${text.slice(0, LONG)}…` : text);

function asText(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(asText).filter(Boolean).join("; ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
