// What the page says where nothing is there to be read: all is, others have the rest, or the search is not so far.

import { byId, count, several } from "./dom.js";

const SOON = 150; // milliseconds until the next look at an empty queue
const PATIENCE = 600; // milliseconds after which the page says that it waits
const LONG = 10000; // milliseconds after which the page looks less often
const FIRST = "The search is reading the collection. The first document comes by itself.";
const NEXT = "The search is at work. The next document comes by itself.";
const AGAIN = "The search is starting again.";

// Shows why, by show(part); returns milliseconds until the next look. waited: milliseconds since the last document
export function drawRest(review, waited, show) {
  const { counts, learner, open = {}, frozen_at: frozen } = review;
  const { waiting = 0, conflicts = 0, held = 0 } = open;
  if (frozen) {
    show("frozen");
    return 30 * SOON;
  }
  if (Object.values(counts).every((number) => !number)) {
    show("empty");
    return 30 * SOON;
  }
  if (counts.unread === 0) {
    byId("n-maybe").textContent = count(counts.maybe);
    byId("n-skip").textContent = count(counts.skip);
    byId("unsure").hidden = counts.maybe + counts.skip === 0;
    show("finished");
    return 30 * SOON;
  }
  if (counts.unread <= waiting + conflicts + held) {
    byId("others-words").textContent = othersWords(waiting, conflicts, held);
    byId("others-conflicts").hidden = conflicts === 0;
    show("others");
    return 10 * SOON;
  }
  if (waited > PATIENCE || byId("reading").hidden) {
    const isFirst = Object.entries(counts).every(([kind, number]) => kind === "unread" || !number);
    byId("preparing-words").textContent = learner.error ?? (learner.alive ? (isFirst ? FIRST : NEXT) : AGAIN);
    show("preparing");
  }
  return waited > LONG ? 10 * SOON : SOON;
}

function othersWords(waiting, conflicts, held) {
  return [
    held && `${several(held, "document is", "documents are")} being read by others.`,
    waiting && `${several(waiting, "document waits", "documents wait")} for another reader.`,
    conflicts && `${several(conflicts, "conflict is", "conflicts are")} open.`,
    "What comes back to be read appears here by itself.",
  ].filter(Boolean).join(" ");
}
