// My reviews: making one leads to its documents, and what was never sent is not forgotten.

import { postToServer } from "./api.js";
import { byId, element, several, showBanner } from "./dom.js";
import { guarded } from "./faults.js";
import { forgetUnsent, unsentOf } from "./outbox.js";
import { PERSON } from "./places.js";
import { drawUnsent } from "./unsent.js";

byId("new-review")?.addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(async () => {
    const { identity } = await postToServer("/reviews", { name: byId("review-name").value });
    location.assign(`/reviews/${identity}/data`);
  });
});

for (const [identity, remarks] of Object.entries(unsentOf(PERSON))) {
  const mine = document.querySelector(`[data-identity="${CSS.escape(identity)}"]`);
  if (mine) mine.append(element("p", { class: "soft" }, `${several(remarks.length, "remark")} not sent yet: open it, and they are.`));
  else showLost(identity, remarks);
}

function showLost(identity, remarks) {
  const words = "You said this in a review that you are not a member of any more. It was not saved there; it is kept in this browser.";
  const forget = () => { forgetUnsent(identity, PERSON); location.reload(); };
  showBanner(`unsent-${identity}`, "", words, [["Forget it", forget]]).append(drawUnsent(remarks));
}
