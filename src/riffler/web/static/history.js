// Changing what was said: a new verdict corrects, undo takes back; nothing is ever erased.

import { post } from "./api.js";
import { byId } from "./dom.js";
import { tellFault } from "./faults.js";
import { newKey } from "./keys.js";
import { showLocalTimes } from "./moments.js";

async function changed(line, work) {
  for (const control of line.querySelectorAll("button, select")) control.disabled = true;
  try {
    await work();
    location.reload();
  } catch (error) {
    if (error.status === 409) error.message += " Load the page again to see what holds now.";
    tellFault(error);
    for (const control of line.querySelectorAll("button, select")) control.disabled = false;
  }
}

byId("lines").addEventListener("change", (event) => {
  const line = event.target.closest(".hit");
  const verdict = event.target.value;
  if (!event.target.matches(".change") || !verdict) return;
  const answer = { document: line.dataset.document, verdict, key: newKey(), expect: Number(line.dataset.id) };
  changed(line, () => post("/answers", { answers: [answer] }));
});

byId("lines").addEventListener("click", (event) => {
  const line = event.target.closest(".hit");
  if (!event.target.closest(".take-back")) return;
  changed(line, () => post("/undo", { key: newKey(), answer: Number(line.dataset.id) }));
});

showLocalTimes();

for (const choice of byId("filters").querySelectorAll("select")) {
  choice.addEventListener("change", () => byId("filters").requestSubmit());
}
