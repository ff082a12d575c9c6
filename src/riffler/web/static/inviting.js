// The address of an invitation: shown once, to be copied and sent to whom it is for.

import { byId } from "./dom.js";

export function showAddress(words, address) {
  byId("address-words").textContent = words;
  byId("address").value = address;
  byId("address-copy").textContent = "Copy";
  byId("address-made").hidden = false;
  byId("address-made").scrollIntoView({ block: "nearest" });
  byId("address").focus();
  byId("address").select();
}

byId("address-copy")?.addEventListener("click", async () => {
  byId("address").select();
  const isCopied = await (navigator.clipboard?.writeText(byId("address").value).then(() => true, () => false) ?? false);
  byId("address-copy").textContent = isCopied ? "Copied" : "Press Ctrl+C"; // only safe origins may copy by themselves
});
