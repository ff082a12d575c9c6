// What every page has: keys that lead to the other pages, the overlay that lists all keys, and the way out.

import { postToServer } from "./api.js";
import { byId } from "./dom.js";
import { tellFault } from "./faults.js";
import { onKeys } from "./keys.js";
import { place, REVIEW } from "./places.js";

// Only to pages that are shown: not everybody has all.
const go = (path) => () => document.querySelector(`nav a[href="${CSS.escape(place(path))}"]`)?.click();

if (REVIEW) {
  onKeys({
    "/": () => (byId("words") ? byId("words").focus() : go("/search")()),
    b: go(""),
    h: go("/history"),
    p: go("/progress"),
    d: go("/data"),
    ",": go("/settings"),
    "?": () => byId("help").showModal(),
    x: go("/conflicts"),
    g: go("/team"),
  });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help").addEventListener("click", (event) => event.target === byId("help") && byId("help").close());
}

// On a narrow screen the pages are a row that is pushed sideways.
const nav = document.querySelector("nav");
const here = nav?.querySelector("[aria-current]");
if (here) nav.scrollLeft = here.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2;

const who = byId("who"); // the menu of who is logged in
if (who) {
  document.addEventListener("click", (event) => { if (!who.contains(event.target)) who.open = false; });
  who.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !who.open) return;
    who.open = false;
    who.querySelector("summary").focus();
  });
}

for (const button of document.querySelectorAll("[data-log-out]")) {
  button.addEventListener("click", () => {
    postToServer("/logout").then(() => location.assign("/login"), (error) => (
      error.status === 401 ? location.assign("/login") : tellFault(error)));
  });
}
