// Draws Vega-Lite specifications in the colours of the page, without evaluating any code from them.

import { get } from "./api.js";

// Resolves after Vega's script has run; it is loaded on the pages that have charts.
const vega = () => window.vegaEmbed;

export async function drawChart(name, place) {
  const spec = await get(`/charts/${name}`);
  place.drawn?.finalize();
  place.drawn = await vega()(place, spec, {
    ast: true, // with the interpreter: the page forbids eval
    actions: false,
    defaultStyle: false, // no style sheets from scripts either
    tooltip: { disableDefaultStyle: true },
    renderer: "svg",
    config: inColours(),
  });
}

function inColours() {
  const [ink, soft, line, paper, accent, tint, yes, maybe] = ["ink", "soft", "line", "paper", "accent", "accent-tint", "yes", "maybe"].map(colour);
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
