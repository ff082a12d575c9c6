// An invitation: its secret comes behind the # of the address, which no server writes down, and goes from there at once.

import { postToServer } from "./api.js";
import { byId } from "./dom.js";
import { attempt, onSubmit, typedTwice } from "./door.js";
import { PERSON } from "./places.js";

const KEPT = "riffler:invitation"; // for this tab alone: who logs in first comes back without the #
const GONE = "This invitation does not work: it was used, revoked, or is too old. Ask for a new one.";
const ROLES = { owner: "an owner", reviewer: "a reviewer", reader: "a reader" };

function takeSecret() {
  const given = decodeURIComponent(location.hash.slice(1));
  if (given) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT);
}

async function look(secret) {
  if (!secret) return sayGone("The address has no invitation in it. Open it as it was sent to you, to its last letter.");
  try {
    return show(secret, await postToServer("/invitations/look", { secret }));
  } catch (error) {
    if (error.status === 0 || error.status >= 500 || error.status === 429) return sayGone(error.message);
    sessionStorage.removeItem(KEPT);
    return sayGone(GONE);
  }
}

function show(secret, offer) {
  byId("invitation-title").textContent = offer.is_reset && !offer.review ? "A new password" : "Welcome";
  byId("invitation-words").textContent = wordsOf(offer);
  const isForOther = offer.name !== null && !isSame(offer.name, PERSON);
  if (PERSON && !isForOther && (offer.review || offer.is_admin)) showJoin(secret);
  else if (PERSON) showOther(offer);
  else showAccept(secret, offer);
}

function wordsOf({ name, review, role, is_admin: isAdmin, is_reset: isReset, by }) {
  if (isReset && !review && !isAdmin) return `Set a new password for ${name}.`;
  const who = by ? `${by} invites you` : "You are invited";
  if (review) return `${who} to take part in “${review}” as ${ROLES[role]}.`;
  return `${who} to this server${isAdmin ? ", as an admin" : ""}.`;
}

// The account is made, or its password set.
function showAccept(secret, offer) {
  byId("accept").hidden = false;
  byId("have-account").hidden = offer.name !== null;
  if (offer.name !== null) {
    byId("name").value = offer.name;
    byId("name").readOnly = true;
  }
  if (offer.is_reset) byId("accept-button").textContent = "Set the password";
  (offer.name === null ? byId("name") : byId("password")).focus();
  onSubmit(byId("accept"), byId("refusal"), async () => {
    const body = { secret, name: byId("name").value, password: typedTwice() };
    goOn(await postToServer("/invitations/accept", body));
  });
}

function showJoin(secret) {
  byId("join").hidden = false;
  byId("join-words").textContent = `You are logged in as ${PERSON}.`;
  byId("join-button").focus();
  byId("join-button").addEventListener("click", () => attempt(byId("join-button"), byId("join-refusal"), async () => {
    goOn(await postToServer("/invitations/join", { secret }));
  }));
}

function showOther(offer) {
  byId("join").hidden = false;
  byId("join-button").hidden = true;
  byId("join-words").textContent = offer.name === null || isSame(offer.name, PERSON)
    ? `You are logged in as ${PERSON}, and this is for a new account or password. Log out to use it.`
    : `This invitation is for ${offer.name}, and you are logged in as ${PERSON}. Log out to use it.`;
}

function goOn({ base }) {
  sessionStorage.removeItem(KEPT);
  location.replace(base ?? "/");
}

function sayGone(words) {
  byId("invitation-words").textContent = words;
}

const isSame = (one, other) => one.trim().normalize().toLowerCase() === other.trim().normalize().toLowerCase();

document.querySelector("[data-log-out-here]").addEventListener("click", () => {
  postToServer("/logout").finally(() => location.reload());
});

addEventListener("hashchange", () => location.reload()); // another invitation, opened in this tab
look(takeSecret());
