// Remarks that no server took, in words, so that nobody has to remember them.

import { chip, element } from "./dom.js";

export function drawUnsent(remarks) {
  return element("ul", { class: "unsent" }, ...remarks.map((remark) => (
    element("li", {}, saidIn(remark), ` about “${remark.title || remark.document}”`))));
}

function saidIn({ path, body }) {
  if (path === "/answers") return chip(body.verdict);
  if (path === "/notes") return `Note: ${body.text || "(removed)"}`;
  return path === "/tags" ? `Tag: ${body.tag}` : `Tag removed: ${body.tag}`;
}
