// The accounts of a server, for its admins.

import { drop, postToServer, putToServer } from "./api.js";
import { byId } from "./dom.js";
import { pressed } from "./faults.js";
import { showAddress } from "./inviting.js";
import { showLocalTimes } from "./moments.js";
import { isSure } from "./sure.js";

const ONCE = "It works once, for seven days, and is not shown again.";

const DO = {
  close: async (id, name) => {
    const words = `Close the account of ${name}? They are logged out, what they read goes back to the others, and their keys for programs stop working. What they said stays.`;
    if (await isSure(words, "Close it")) await changed(postToServer(`/accounts/${id}/close`));
  },
  reopen: (id) => changed(postToServer(`/accounts/${id}/reopen`)),
  admin: async (id, name) => {
    if (await isSure(`Let ${name} look after this server: invite, close accounts, set passwords anew?`, "Make admin")) {
      await changed(putToServer(`/accounts/${id}/admin`, { is_admin: true }));
    }
  },
  "no-admin": (id) => changed(putToServer(`/accounts/${id}/admin`, { is_admin: false })),
  reset: async (id, name) => {
    const { address } = await postToServer(`/accounts/${id}/reset`);
    showAddress(`Send this address to ${name}, who sets a new password there. ${ONCE}`, address);
  },
};

const changed = async (change) => { await change; location.reload(); };

byId("accounts").addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (!button) return;
  const { id, name } = button.closest("tr").dataset;
  pressed(button, () => DO[button.dataset.do](id, name));
});

byId("invitations")?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-revoke]");
  if (button) pressed(button, () => changed(drop(`/invitations/${button.dataset.revoke}`)));
});

byId("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  pressed(event.submitter, async () => {
    const name = byId("invite-name").value.trim() || null;
    const { address } = await postToServer("/accounts/invite", { name, is_admin: byId("invite-admin").checked });
    showAddress(`Send this address to ${name ?? "whom you invite"}. ${ONCE}`, address);
    byId("invite").reset();
  });
});

showLocalTimes();
