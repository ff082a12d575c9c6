// Settings are saved together, unless somebody else was quicker; keys for programs are shown once.

import { drop, patch, post } from "./api.js";
import { byId, hideBanner, showBanner } from "./dom.js";
import { guarded, tellFault } from "./faults.js";
import { IS_TEAM } from "./places.js";

const SHARES = IS_TEAM ? ["target", "confidence", "screening_share"] : ["target", "confidence"];
const RESCORING = ["rescore_every", "candidates"]; // of a collection on disk
const percent = (id) => Number((Number(byId(id).value) / 100).toPrecision(12)); // 56.3 is 0.563, not 0.5629999999999999
const form = byId("settings");

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

// Only what matters to the chosen way of screening is shown.
function showScreening() {
  if (!IS_TEAM) return;
  const way = byId("screening").value;
  for (const field of document.querySelectorAll("[data-for]")) field.hidden = !field.dataset.for.split(" ").includes(way);
}

function written() {
  // what nobody touched is not sent: it may have more digits than the field shows
  const touched = SHARES.filter((id) => byId(id).value !== byId(id).defaultValue);
  return {
    description: byId("description").value.trim() || null,
    criteria: byId("criteria").value,
    highlight: [...new Set(byId("highlight").value.split("\n").map((line) => line.trim()).filter(Boolean))],
    ...(IS_TEAM ? screening() : {}),
    ...Object.fromEntries(RESCORING.filter(byId).map((id) => [id, Number(byId(id).value)])),
    ...Object.fromEntries(touched.map((id) => [id, percent(id)])),
  };
}

const screening = () => ({
  screening: byId("screening").value, readers: Number(byId("readers").value), resolution: byId("resolution").value,
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  hideBanner("fault");
  try {
    const told = await patch("/settings", { ...written(), expect: Number(form.dataset.version) });
    form.dataset.version = told.settings_version;
    for (const id of SHARES) byId(id).defaultValue = byId(id).value;
    byId("saved").textContent = "Saved";
  } catch (error) {
    byId("saved").textContent = "";
    if (error.status === 409 && error.code !== "frozen") sayQuicker();
    else tellFault(error);
  }
});

function sayQuicker() {
  const words = "Somebody else has changed the settings since you opened this page. Nothing of yours was saved: "
    + "copy what you want to keep, look at what holds now, and change it again.";
  showBanner("fault", "bad", words, [["Show what holds now", () => location.reload()]]).scrollIntoView({ block: "nearest" });
}

form.addEventListener("input", () => {
  byId("saved").textContent = "";
  sayGoal();
  showScreening();
});

byId("token-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(async () => {
    const made = await post("/tokens", { name: byId("token-name").value });
    byId("token-secret").textContent = made.token;
    byId("token-made").hidden = false;
    byId("token-name").value = "";
  });
});

byId("tokens")?.addEventListener("click", (event) => {
  const id = event.target.closest("[data-revoke]")?.dataset.revoke;
  if (id) guarded(async () => { await drop(`/tokens/${id}`); location.reload(); });
});

sayGoal();
showScreening();
