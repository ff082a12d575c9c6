// Draws Vega-Lite specifications in the colours of the page, without evaluating any code from them.

import { get } from "./api.js";

// Returns whether there was something to draw.
export async function drawChart(name, place) {
  const spec = await get(`/charts/${name}`);
  if (!Object.values(spec.datasets).some((rows) => rows.length)) return false;
  place.drawn?.finalize();
  place.drawn = await window.vegaEmbed(place, spec, {
    ast: true, // with the interpreter: the page forbids eval
    actions: false,
    defaultStyle: false, // no style sheets from scripts either
    tooltip: { disableDefaultStyle: true },
    renderer: "svg",
    logLevel: 1, // errors
    config: inColours(),
  });
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", "A chart; its numbers are among the tables on this page.");
  return true;
}

function inColours() {
  const names = ["ink", "soft", "line", "paper", "accent", "accent-tint", "yes", "maybe"];
  const [ink, soft, line, paper, accent, tint, yes, maybe] = names.map(colour);
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: null,
    font,
    axis: {
      domainColor: line, gridColor: line, tickColor: line, labelColor: soft, titleColor: soft,
      labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridDash: [2, 3],
    },
    view: { stroke: null },
    style: {
      found: { color: accent, strokeWidth: 2.5 },
      "found-bar": { color: accent, stroke: paper, strokeWidth: 2 },
      guess: { color: maybe, opacity: 0.14 },
      total: { color: maybe, strokeWidth: 1.5, strokeDash: [5, 4] },
      whole: { color: tint, stroke: accent, strokeWidth: 1, opacity: 1 },
      explored: { color: accent, opacity: 0.8 },
      words: { color: ink, fontSize: 12 },
      "found-words": { color: yes, fontSize: 12, fontWeight: 700 },
    },
  };
}

// The colour that a variable has now: variables that differ in light and dark are told by an element that uses them.
function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
