// The members of a review, how far they agree, what was done, and freezing.

import { drawAgreement, drawPaces } from "./agreement.js";
import { drop, get, patch, post } from "./api.js";
import { showAudit } from "./audit.js";
import { byId } from "./dom.js";
import { guarded, pressed } from "./faults.js";
import { showAddress } from "./inviting.js";
import { PERSON } from "./places.js";
import { save } from "./saving.js";
import { isSure } from "./sure.js";

const changed = async (change) => { await change; location.reload(); };

// Members

byId("members").addEventListener("change", async (event) => {
  const { id } = event.target.closest("tr").dataset;
  const isDone = await guarded(() => changed(patch(`/members/${id}`, { role: event.target.value })));
  if (!isDone) event.target.value = [...event.target.options].find((one) => one.defaultSelected).value;
});

byId("members").addEventListener("click", (event) => {
  const button = event.target.closest("[data-remove]");
  if (!button) return;
  const { id, name } = button.closest("tr").dataset;
  pressed(button, async () => {
    const words = name === PERSON
      ? "Leave this review? You do not get in again without an invitation."
      : `Remove ${name} from this review? What they read goes back to the others. What they said stays.`;
    if (!(await isSure(words, name === PERSON ? "Leave" : "Remove"))) return;
    await drop(`/members/${id}`);
    if (name === PERSON) location.assign("/");
    else location.reload();
  });
});

byId("invite")?.addEventListener("submit", (event) => {
  event.preventDefault();
  pressed(event.submitter, async () => {
    const name = byId("invite-name").value.trim() || null;
    const { address, joined } = await post("/members/invite", { name, role: byId("invite-role").value });
    byId("invite").reset();
    showAddress(joined
      ? `${name} has an account here, and is a member now. This is the address of the review.`
      : `Send this address to ${name ?? "whom you invite"}. It works once, for seven days, and is not shown again.`, address);
  });
});

byId("invitations")?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-revoke]");
  if (button) pressed(button, () => changed(drop(`/invitations/${button.dataset.revoke}`)));
});

// Freezing

byId("freeze")?.addEventListener("click", (event) => pressed(event.target, async () => {
  const words = "Freeze this review? Nobody can answer or change anything until an owner thaws it.";
  if (await isSure(words, "Freeze it")) await changed(post("/freeze"));
}));

byId("thaw")?.addEventListener("click", (event) => pressed(event.target, async () => {
  if (await isSure("Thaw this review? Everybody goes on where they were.", "Thaw it")) await changed(post("/thaw"));
}));

// Agreement and audit

for (const button of document.querySelectorAll("[data-audit]")) {
  button.addEventListener("click", () => pressed(button, () => save("/audit/export", { format: button.dataset.audit })));
}

guarded(async () => {
  const { agreement, disagreements, paces } = await get("/agreement");
  byId("agreement").replaceChildren(...drawAgreement(agreement, disagreements));
  byId("paces").replaceChildren(drawPaces(paces));
});
if (byId("audit")) guarded(showAudit);
