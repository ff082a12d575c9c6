// One document after the other: show, take the verdict, go on at once; saving happens behind the reader's back.

import { get, post } from "./api.js";
import { drawDocument, drawStanding } from "./document.js";
import { byId, chip, count, element, hideBanner, keep, kept, several, showBanner } from "./dom.js";
import { newKey, onKeys } from "./keys.js";
import { Line } from "./line.js";
import { makeMarker } from "./marking.js";
import { Outbox } from "./outbox.js";
import { Queue } from "./queue.js";
import { Side } from "./side.js";
import { Stopwatch } from "./stopwatch.js";

const POLL = 150; // milliseconds between looks at an empty queue
const PATIENCE = 600; // milliseconds after which the page says that it waits
const RENEW_TERMS = 15000;

const page = {
  item: null, // {suggestion, why, document}; suggestion is null where the reader came to it by hand
  restingSince: null,
  busy: false,
  answered: new Set(), // here, and perhaps not known to the server yet
  terms: [],
  marker: makeMarker([], []),
};
const line = new Line();
const watch = new Stopwatch();
const outbox = new Outbox(document.body.dataset.review, { done, refused, state });
const side = new Side(outbox);
const queue = new Queue((id) => id === page.item?.document.id || page.answered.has(id) || outbox.concerns(id));

// Showing

async function next() {
  const item = await queue.take();
  if (item) show(item);
  else await rest();
}

function show(item) {
  page.item = item;
  page.restingSince = null;
  drawDocument(item.document, page.marker);
  byId("why").open = false; // reading stays blind to how a document was chosen
  byId("why-words").textContent = item.why || "You came to it yourself.";
  side.show(item.document);
  showOnly("reading");
  lockVerdicts(false);
  watch.restart();
  scrollTo(0, 0);
  byId("title").focus({ preventScroll: true });
  queue.keepFresh();
}

// Nothing is there to be read: either all is, or the search has not proposed anything yet.
async function rest() {
  page.item = null;
  page.restingSince ??= performance.now();
  const { counts, learner } = await get("/review");
  line.counts(counts);
  lockVerdicts(true);
  if (counts.unread === 0) {
    byId("n-maybe").textContent = count(counts.maybe);
    byId("n-skip").textContent = count(counts.skip);
    byId("unsure").hidden = counts.maybe + counts.skip === 0;
    showOnly("finished");
  } else if (performance.now() - page.restingSince > PATIENCE || byId("reading").hidden) {
    byId("preparing-words").textContent = !learner.alive
      ? learner.error ?? "The search is starting again."
      : "The search is reading the collection. The first document comes by itself.";
    showOnly("preparing");
  }
  setTimeout(() => { if (!page.item && !page.busy) guarded(next); }, counts.unread ? POLL : 30 * POLL);
}

function showOnly(part) {
  for (const id of ["reading", "preparing", "finished"]) byId(id).hidden = id !== part;
}

function lockVerdicts(locked) {
  for (const button of document.querySelectorAll(".verdict[data-verdict]")) button.disabled = locked;
}

// Saying

function answer(verdict) {
  if (!page.item || page.busy) return;
  const { suggestion, document: record } = page.item;
  side.saveNote();
  page.answered.add(record.id);
  outbox.put("/answers", record.id, {
    document: record.id, verdict, suggestion, seconds: watch.seconds(), expect: record.answer ?? null,
  });
  line.said(verdict);
  if (page.item.pinned) history.replaceState(null, "", "/");
  guarded(next);
}

// Leaves a document that has its verdict as it is; one without stays until it gets one.
function goOn() {
  if (!page.item?.document.verdict || page.busy) return;
  side.saveNote();
  page.answered.add(page.item.document.id);
  if (page.item.pinned) history.replaceState(null, "", "/");
  guarded(next);
}

async function undo() {
  if (page.busy) return;
  await guarded(async () => {
    side.saveNote();
    if (!(await outbox.flush())) throw new Error("This can be undone when all answers are with the server.");
    const told = await post("/undo", { key: newKey() });
    const record = told.document;
    page.answered.delete(record.id);
    line.undone();
    line.counts(told.counts);
    const waiting = await get("/next", { n: 20 }); // its suggestion says how it came to be asked
    show(waiting.find((item) => item.document.id === record.id) ?? { suggestion: null, why: "", document: record });
    line.saved("Undone");
  });
}

// One thing at a time; what goes wrong is said.
async function guarded(work) {
  page.busy = true;
  try {
    await work();
    hideBanner("fault");
  } catch (error) {
    if (error.status === 401 || error.status === 0) state({ waiting: outbox.waiting.size, error });
    else showBanner("fault", "bad", error.message);
    if (!page.item) setTimeout(() => guarded(next), 10 * POLL);
  } finally {
    page.busy = false;
  }
}

// What the outbox tells

function done(remark, reply) {
  line.saved("Saved");
  if (remark.path !== "/answers") return;
  line.counts(reply.counts);
  line.advice().catch(() => {});
}

function refused(remark, error) {
  if (error.status === 409 && remark.path === "/answers") conflict(remark, error);
  else showBanner("refused", "bad", `Not saved: ${error.message}`, [["Close", () => hideBanner("refused")]]);
}

// Another tab was quicker. Nothing was written; the reader decides what holds.
async function conflict(remark, error) {
  const record = await get("/document", { id: remark.document }).catch(() => null);
  if (!record) return showBanner("conflict", "bad", error.message);
  const close = () => hideBanner("conflict");
  const correct = () => {
    outbox.put("/answers", record.id, { ...remark.body, suggestion: null, expect: record.answer ?? null });
    close();
  };
  const words = element("span", {}, "In another tab you said ", record.verdict ? chip(record.verdict) : "nothing",
    ` about “${record.title || record.id}”; here you said `, chip(remark.body.verdict), ". The first one holds.");
  return showBanner("conflict", "", words, [["Keep it", close], ["Correct it", correct]]);
}

function state({ waiting, error }) {
  if (!error) {
    hideBanner("unsent");
    return;
  }
  const kind = several(waiting, "remark is", "remarks are");
  const held = waiting ? ` ${kind} kept in this browser and sent as soon as it works.` : "";
  line.saved(waiting ? "Not saved yet" : "");
  showBanner("unsent", "", (SAID[error.status] ?? error.message) + held, [["Try now", () => outbox.flush()]]);
}

const SAID = {
  0: "The server does not answer.",
  401: "The server was restarted: open the address that it printed. Nothing is lost.",
  403: "This page is older than the server: load it again. Nothing is lost.",
};

// Words that speak for and against

async function renewTerms() {
  const told = await get("/terms").catch(() => null);
  if (told) page.terms = told;
  const own = JSON.parse(document.body.dataset.highlight || "[]");
  page.marker = makeMarker(page.terms, own);
  setTimeout(renewTerms, RENEW_TERMS);
}

function markWords(on) {
  byId("reading").classList.toggle("plain-text", !on);
  byId("marks").checked = on;
  keep("marks", on ? "on" : "off");
}

// A document that the reader chose in the search or the history.
async function pinned() {
  const id = new URLSearchParams(location.search).get("document");
  if (id === null) return false;
  const record = await get("/document", { id }).catch((error) => {
    showBanner("refused", "bad", error.message, [["Close", () => hideBanner("refused")]]);
    history.replaceState(null, "", "/");
  });
  if (record) show({ suggestion: null, why: "", document: record, pinned: true });
  return Boolean(record);
}

function bind() {
  const say = (verdict) => () => answer(verdict);
  onKeys({
    r: say("relevant"), 1: say("relevant"), ArrowRight: say("relevant"),
    i: say("irrelevant"), 2: say("irrelevant"), ArrowLeft: say("irrelevant"),
    m: say("maybe"), 3: say("maybe"),
    s: say("skip"), 4: say("skip"),
    Enter: goOn, " ": goOn,
    u: undo, Backspace: undo,
    n: () => { byId("note-card").open = true; byId("note").focus(); },
    t: () => byId("tag").focus(),
    c: () => { byId("criteria-card").open = !byId("criteria-card").open; },
    y: () => { byId("why").open = !byId("why").open; },
    w: () => markWords(!byId("marks").checked),
  });
  for (const button of document.querySelectorAll(".verdict[data-verdict]")) {
    button.addEventListener("click", say(button.dataset.verdict));
  }
  byId("undo").addEventListener("click", undo);
  byId("holds").addEventListener("click", (event) => event.target.matches("button") && goOn());
  byId("marks").addEventListener("change", (event) => markWords(event.target.checked));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) lookAgain(); });
}

// Somebody comes back to this tab: the document may have been answered elsewhere.
async function lookAgain() {
  if (!page.item || page.busy) return;
  const shown = page.item;
  const record = await get("/document", { id: shown.document.id }).catch(() => null);
  if (record && page.item === shown && record.answer !== shown.document.answer) {
    shown.document = record;
    drawStanding(record);
  }
}

async function start() {
  bind();
  markWords(kept("marks", "on") === "on");
  await outbox.flush();
  await Promise.all([renewTerms(), line.start().catch(() => {})]);
  const { counts } = await get("/review");
  line.counts(counts);
  if (!(await pinned())) await next();
  line.advice().catch(() => {});
}

guarded(start);
