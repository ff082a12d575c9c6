// What every page has: keys that lead to the other pages, and the overlay that lists all keys.

import { byId } from "./dom.js";
import { onKeys } from "./keys.js";

const go = (path) => () => { location.href = path; };

onKeys({
  "/": () => (byId("words") ? byId("words").focus() : go("/search")()),
  b: go("/"),
  h: go("/history"),
  p: go("/progress"),
  d: go("/data"),
  ",": go("/settings"),
  "?": () => byId("help").showModal(),
});

byId("help-open").addEventListener("click", () => byId("help").showModal());
byId("help").addEventListener("click", (event) => event.target === byId("help") && byId("help").close());
