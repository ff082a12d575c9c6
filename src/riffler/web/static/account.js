// The password of who is logged in.

import { postToServer } from "./api.js";
import { byId } from "./dom.js";
import { onSubmit, typedTwice } from "./door.js";

onSubmit(byId("change"), byId("refusal"), async () => {
  byId("saved").textContent = "";
  await postToServer("/me/password", { old: byId("old").value, new: typedTwice() });
  for (const id of ["old", "password", "again"]) byId(id).value = "";
  byId("saved").textContent = "Changed";
});
