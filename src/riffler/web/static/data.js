// Documents in: a file is looked at, its columns are chosen, then it is added. Files out: saved, or a message in words.

import { drop, post, upload } from "./api.js";
import { byId, element, several, showBanner } from "./dom.js";
import { pressed } from "./faults.js";
import { save } from "./saving.js";

const PARTS = {
  title: "Title",
  abstract: "Abstract",
  text: "Text, where there is no abstract",
  id: "Id",
  label: "Known verdicts (1, yes, include …)",
};
const BY_NAME = "\u0000"; // no column is called so
const EXTRA = { id: [["content", "made from the texts"]], label: [["", "none: leave them out"]] };
const CHOOSE = "Its columns have names that are not known: say which hold the title and the abstract.";
let waiting = null; // the token of the file that was looked at

// In

byId("import")?.addEventListener("submit", (event) => {
  event.preventDefault();
  pressed(event.submitter, async () => {
    await forget();
    const preview = await upload("/imports", byId("file").files[0]);
    waiting = preview.token;
    showPreview(preview);
  });
});

byId("mapping")?.addEventListener("submit", (event) => {
  event.preventDefault();
  pressed(event.submitter, async () => {
    const chosen = [...byId("mapping-fields").querySelectorAll("select")];
    const mapping = Object.fromEntries(chosen.map(({ name, value }) => [name, value === BY_NAME ? null : value]));
    const arrival = await post(`/imports/${waiting}`, { mapping });
    waiting = null;
    byId("preview").hidden = true;
    byId("import").reset();
    const added = showBanner("added", "good", `Added: ${arrival.sentence}`, [["Show the counts", () => location.reload()]]);
    added.scrollIntoView();
  });
});

byId("forget")?.addEventListener("click", forget);

async function forget() {
  byId("preview").hidden = true;
  if (waiting) await drop(`/imports/${waiting}`).catch(() => {}); // the server forgets old ones by itself
  waiting = null;
}

function showPreview(preview) {
  const said = preview.arrival?.sentence ?? problemOf(preview);
  byId("preview-words").textContent = `${preview.name}: ${several(preview.n_rows, "record")}. ${said}`;
  byId("mapping-fields").replaceChildren(...Object.entries(PARTS).map(([part, words]) => element("div", { class: "field" },
    element("label", { for: `part-${part}` }, words),
    element("select", { id: `part-${part}`, name: part }, ...optionsOf(part, preview)))));
  const cellsOf = (row) => preview.columns.map((name) => element("td", {}, row[name] ?? ""));
  byId("sample").replaceChildren(
    element("caption", {}, "The first rows"),
    element("thead", {}, element("tr", {}, ...preview.columns.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...preview.sample.map((row) => element("tr", {}, ...cellsOf(row)))));
  byId("preview").hidden = false;
  byId("preview-title").focus();
}

const problemOf = ({ mapping, problem }) => (mapping.title || mapping.abstract || mapping.text ? problem : CHOOSE);

function optionsOf(part, preview) {
  const choices = [
    [BY_NAME, "found by its name"],
    ...(EXTRA[part] ?? []),
    ...preview.columns.map((name) => [name, name]),
  ];
  const chosen = preview.mapping[part] ?? BY_NAME;
  return choices.map(([value, words]) => element("option", { value, selected: value === chosen }, words));
}

// Out

byId("export").addEventListener("submit", (event) => {
  event.preventDefault();
  pressed(event.submitter, () => save("/export", { format: byId("format").value, which: byId("which").value }));
});

for (const link of document.querySelectorAll("[data-save]")) {
  link.addEventListener("click", () => pressed(link, () => save(link.dataset.save)));
}
