// Settings are saved together; keys for programs are shown once.

import { drop, patch, post } from "./api.js";
import { byId, showBanner } from "./dom.js";

const GOALS = ["target", "confidence"];
const percent = (id) => Number((Number(byId(id).value) / 100).toPrecision(12)); // 56.3 is 0.563, not 0.5629999999999999

function sayGoal() {
  const target = percent("target");
  const confidence = percent("confidence");
  const isGoal = target > 0 && target < 1 && confidence > 0 && confidence < 1;
  const [share, sure] = [byId("target").value, byId("confidence").value];
  byId("goal").textContent = isGoal
    ? `You may stop when at least ${share}% of all relevant documents are found, with ${sure}% confidence. `
      + "What that takes depends on how much is found: the progress page says it at any time. "
      + "A higher goal takes more; a lower one claims less."
    : "Both must lie between 0 and 100 per cent.";
}

async function guarded(work) {
  try {
    await work();
  } catch (error) {
    byId("saved").textContent = "";
    showBanner("fault", "bad", error.message);
  }
}

byId("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(async () => {
    // what nobody touched is not sent: it may have more digits than the field shows
    const touched = GOALS.filter((id) => byId(id).value !== byId(id).defaultValue);
    await patch("/settings", {
      description: byId("description").value.trim() || null,
      criteria: byId("criteria").value,
      highlight: [...new Set(byId("highlight").value.split("\n").map((line) => line.trim()).filter(Boolean))],
      ...Object.fromEntries(touched.map((id) => [id, percent(id)])),
    });
    for (const id of GOALS) byId(id).defaultValue = byId(id).value;
    byId("saved").textContent = "Saved";
  });
});
byId("settings").addEventListener("input", () => { byId("saved").textContent = ""; sayGoal(); });

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(async () => {
    const made = await post("/tokens", { name: byId("token-name").value });
    byId("token-secret").textContent = made.token;
    byId("token-made").hidden = false;
    byId("token-name").value = "";
  });
});

byId("tokens").addEventListener("click", (event) => {
  const id = event.target.closest("[data-revoke]")?.dataset.revoke;
  if (id) guarded(async () => { await drop(`/tokens/${id}`); location.reload(); });
});

sayGoal();
