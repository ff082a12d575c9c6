// The thin line above the document: how much is read, how much was found, whether it is saved, and what is advised.

import { get } from "./api.js";
import { byId, count, several } from "./dom.js";
import { IS_TEAM } from "./places.js";

const LAST = 20;
const ADVICE_EVERY = 5000; // milliseconds, at most so often

export class Line {
  constructor() {
    this.recent = []; // the last verdicts, the latest last
    this.asked = 0;
  }

  async start() {
    const lines = await get("/history", { kind: "answer", holding: true, n: LAST });
    this.recent = lines.filter((line) => line.origin !== "prior").map((line) => line.verdict).reverse();
  }

  said(verdict) {
    this.recent = [...this.recent, verdict].slice(-LAST);
  }

  undone() {
    this.recent.pop();
  }

  counts(counts) {
    const read = counts.relevant + counts.irrelevant + counts.maybe + counts.skip;
    const all = read + counts.unread;
    byId("n-read").textContent = count(read);
    byId("n-all").textContent = count(all);
    byId("n-found").textContent = count(counts.relevant);
    const recent = this.recent.filter((verdict) => verdict === "relevant").length;
    byId("n-recent").textContent = this.recent.length ? `${recent} of the last ${this.recent.length}` : "";
    byId("share").max = Math.max(1, all);
    byId("share").value = read;
  }

  // In a team: what some have read and has no answer yet.
  open({ waiting = 0, conflicts = 0 } = {}) {
    byId("n-open").textContent = [
      waiting ? `${count(waiting)} for another reader` : "",
      conflicts ? several(conflicts, "conflict") : "",
    ].filter(Boolean).join(", ");
  }

  saved(words) {
    if (byId("saved").textContent !== words) byId("saved").textContent = words;
  }

  // The sentence of the certificate, word for word; withdrawn while it is being computed anew.
  async advice() {
    if (Date.now() - this.asked < ADVICE_EVERY) return;
    this.asked = Date.now();
    if (IS_TEAM) this.open((await get("/review")).open);
    const progress = await get("/progress");
    const sentence = adviceOf(progress);
    byId("advice").hidden = !sentence;
    byId("advice-words").textContent = sentence;
    byId("advice").classList.toggle("good", sentence !== "" && progress.advice === "may stop");
  }
}

function adviceOf(progress) {
  return progress.stale || !progress.decision?.stop ? "" : progress.sentence;
}
