// The last lines of the audit trail.

import { get } from "./api.js";
import { byId, element } from "./dom.js";
import { guarded } from "./faults.js";
import { localTime } from "./moments.js";
import { table } from "./tables.js";

const AT_ONCE = 10;

export async function showAudit(before = null) {
  const lines = await get("/audit", { n: AT_ONCE, before });
  byId("audit").replaceChildren(
    table("The latest first", ["When", "Who", "What", "About"], lines.map((one) => [
      localTime(one.at), one.who || "–", one.what, one.title || one.document || detailsOf(one.details)])),
    ...(lines.length === AT_ONCE ? [older(lines.at(-1).place)] : []));
}

function older(before) {
  return element("p", {}, element("button", {
    type: "button", class: "button small", onclick: () => guarded(() => showAudit(before)),
  }, "Older"));
}

function detailsOf(details) {
  return Object.entries(details ?? {}).filter(([, value]) => value !== null && String(value) !== "")
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${asWords(value)}`).join(", ");
}

function asWords(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value && "after" in Object(value)) return `${asWords(value.before)} → ${asWords(value.after)}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
