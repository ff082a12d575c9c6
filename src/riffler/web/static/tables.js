// Tables out of rows: the first cell of a row is its head, numbers stand to the right.

import { element } from "./dom.js";

const isNumber = (cell) => typeof cell === "number" || /^[–\d.,%]+( \(.*\))?$/.test(cell);

export function table(caption, heads, rows) {
  const [first] = rows;
  const side = (at) => (first && at && isNumber(first[at]) ? "number" : null);
  const cellOf = (cell, at) => (at
    ? element("td", { class: side(at) }, cell instanceof Node ? cell : String(cell))
    : element("th", { scope: "row" }, String(cell)));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || heads.join(", ") },
    element("table", { class: "plain-heads" },
      caption ? element("caption", {}, caption) : null,
      element("thead", {}, element("tr", {}, ...heads.map((head, at) => (
        head ? element("th", { scope: "col", class: side(at) }, head) : element("td", {}))))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cellOf))))));
}
