// Asks before something that others notice.

import { byId } from "./dom.js";

// Resolves to whether the reader is sure; `yes` is what its button says.
export function isSure(words, yes) {
  const dialog = byId("sure");
  byId("sure-words").textContent = words;
  byId("sure-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
