// Logs in, and goes on where somebody wanted to go.

import { postToServer } from "./api.js";
import { byId } from "./dom.js";
import { onSubmit } from "./door.js";

onSubmit(byId("login"), byId("refusal"), async () => {
  try {
    await postToServer("/login", { name: byId("name").value, password: byId("password").value });
  } catch (error) {
    byId("password").value = "";
    byId("password").focus();
    throw error;
  }
  location.replace(ownPlace(byId("login").dataset.to));
});

// Only a page of this server: an address may have been made by somebody else.
function ownPlace(to) {
  const wanted = new URL(to || "/", location.origin);
  return wanted.origin === location.origin ? wanted.href : "/"; // whole: a path alone may begin with //
}
