// The progress page renews its numbers and charts when the search has left new ones.

import { drawChart } from "./charts.js";
import { byId, element } from "./dom.js";
import { place } from "./places.js";

const EVERY = 3000; // milliseconds

async function renew() {
  if (document.hidden) return;
  const response = await fetch(place("/progress/panel"), { credentials: "same-origin", cache: "no-store" });
  if (!response.ok) return;
  // The panel is made by our own server, every value escaped; a parsed document runs no scripts.
  const renewed = new DOMParser().parseFromString(await response.text(), "text/html");
  const isNew = renewed.getElementById("panel").dataset.made !== byId("panel").dataset.made;
  for (const id of ["panel", "details"]) replace(byId(id), renewed.getElementById(id));
  if (isNew) await drawAll();
}

// Only what changed is replaced, and what the reader unfolded stays so.
function replace(there, renewed) {
  if (there.textContent === renewed.textContent && there.dataset.made === renewed.dataset.made) return;
  const open = [...there.querySelectorAll("details")].map((one) => one.open);
  there.replaceWith(document.adoptNode(renewed));
  renewed.querySelectorAll("details").forEach((one, at) => { one.open = open[at] ?? one.open; });
}

async function drawAll() {
  byId("charts").hidden = !byId("panel").dataset.made;
  if (byId("charts").hidden) return;
  await Promise.all([...document.querySelectorAll("[data-chart]")].map(async (place) => {
    const drawn = await drawChart(place.dataset.chart, place).catch(() => false);
    if (!drawn) place.replaceChildren(element("p", { class: "chart-none" }, "There is nothing to draw yet."));
  }));
}

document.addEventListener("riffler:theme", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
addEventListener("load", drawAll);
setInterval(() => renew().catch(() => {}), EVERY);
