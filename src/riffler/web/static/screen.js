// One document after the other: show, take the verdict, go on at once; saving happens behind the reader's back.

import { get, post } from "./api.js";
import { drawDocument, drawStanding } from "./document.js";
import { byId, hideBanner, keep, kept, several, showBanner } from "./dom.js";
import { isLost, leaveWithThePage } from "./holding.js";
import { newKey, onKeys } from "./keys.js";
import { Line } from "./line.js";
import { makeMarker } from "./marking.js";
import { Outbox } from "./outbox.js";
import { IS_TEAM, loginPlace, MAY_ANSWER, place, ROLE } from "./places.js";
import { Queue } from "./queue.js";
import { showQuicker } from "./quicker.js";
import { drawRest } from "./resting.js";
import { showShutOut, whyShutOut } from "./shut_out.js";
import { Side } from "./side.js";
import { Stopwatch } from "./stopwatch.js";

const TRY_AGAIN = 1500; // milliseconds after something went wrong
const SETTLED = 5000; // milliseconds after which nothing that was fetched before an answer is still on its way
const RENEW_TERMS = 15000;
const LOOK_FOR_THAW = 4500;

const page = {
  item: null, // {suggestion, why, document}; suggestion is null where the reader came to it by hand
  restingSince: null,
  busy: false,
  shutOut: "", // why nothing is taken from here any more
  answered: new Set(), // here, and perhaps not known to the server yet
  terms: [],
  marker: makeMarker([], []),
};
const line = new Line();
const watch = new Stopwatch();
const outbox = new Outbox({ done, refused, state, isShutOut });
const side = new Side(outbox);
const queue = new Queue((id) => id === page.item?.document.id || page.answered.has(id) || outbox.concerns(id), { renewed, failed });

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
  if (MAY_ANSWER) queue.keepFresh();
}

// Nothing is there to be read now.
async function rest() {
  page.item = null;
  page.restingSince ??= performance.now();
  const review = await get("/review");
  line.counts(review.counts);
  line.open(review.open);
  line.advice().catch(() => {}); // it may come after the last answer
  lockVerdicts(true);
  const pause = drawRest(review, performance.now() - page.restingSince, showOnly);
  setTimeout(() => { if (!page.item && !page.busy && !page.shutOut) guarded(next); }, pause);
}

// Something was heard of the server: in a team the document on the screen may have been given to somebody else.
async function renewed(found) {
  const { item } = page;
  if (!item || page.busy || !(await isLost(item, found)) || page.item !== item || page.busy) return;
  side.saveNote();
  const words = `“${item.document.title || item.document.id}” was given to somebody else: nothing was heard from here for too long.`;
  showBanner("given", "", words, [["Close", () => hideBanner("given")]]);
  guarded(next);
}

function showOnly(part) {
  for (const one of document.querySelectorAll("[data-part]")) one.hidden = one.dataset.part !== part;
}

function lockVerdicts(locked) {
  for (const button of document.querySelectorAll(".verdict[data-verdict]")) button.disabled = locked;
}

// Saying

function answer(verdict) {
  if (!page.item || page.busy || page.shutOut || !MAY_ANSWER) return;
  const { suggestion, document: record } = page.item;
  side.saveNote();
  page.answered.add(record.id);
  outbox.put("/answers", record, {
    document: record.id, verdict, suggestion, seconds: watch.seconds(), expect: record.answer ?? null,
  });
  line.said(verdict);
  if (page.item.pinned) history.replaceState(null, "", place());
  guarded(next);
}

// Leaves a document that has its verdict as it is; one without stays until it gets one.
function goOn() {
  if (!page.item?.document.verdict || page.busy) return;
  side.saveNote();
  const { id } = page.item.document;
  page.answered.add(id);
  setTimeout(() => page.answered.delete(id), SETTLED);
  if (page.item.pinned) history.replaceState(null, "", place());
  guarded(next);
}

async function undo() {
  if (page.busy || page.shutOut || !MAY_ANSWER) return;
  await guarded(async () => {
    side.saveNote();
    if (!(await outbox.flush())) throw new Error("This can be undone when all answers are with the server.");
    const told = await post("/undo", { key: newKey() });
    const record = told.document;
    page.answered.delete(record.id);
    line.undone();
    line.counts(told.counts);
    show({ suggestion: null, why: "", ...told.suggestion, document: record });
    line.saved("Undone");
  });
}

// One thing at a time; what goes wrong is said, and where nothing is on the screen, more is tried.
async function guarded(work, again = next) {
  page.busy = true;
  try {
    await work();
    hideBanner("fault");
  } catch (error) {
    if (await isShutOut(error)) return;
    if (error.status === 401 || error.status === 0) state({ waiting: outbox.waiting.size, error });
    else showBanner("fault", "bad", error.message);
    if (!page.item) setTimeout(() => guarded(again, again), TRY_AGAIN);
  } finally {
    page.busy = false;
  }
}

// Somebody was removed from the review: nothing more is sent or asked, and what was not sent is shown.
async function isShutOut(error) {
  page.shutOut ||= await whyShutOut(error);
  if (!page.shutOut) return false;
  queue.stop();
  lockVerdicts(true);
  byId("undo").disabled = true;
  side.saveNote();
  showShutOut(page.shutOut, [...outbox.waiting.values()]);
  return true;
}

async function failed(error) {
  if (!(await isShutOut(error)) && error.status === 401) state({ waiting: outbox.waiting.size, error });
}

// What the outbox tells

function done(remark, reply) {
  line.saved("Saved");
  if (remark.path !== "/answers") return;
  setTimeout(() => page.answered.delete(remark.document), SETTLED);
  line.counts(reply.counts);
  line.advice().catch(() => {});
}

async function refused(remark, error) {
  page.answered.delete(remark.document);
  line.saved("Not saved");
  const correct = (record) => outbox.put("/answers", record, {
    ...remark.body, suggestion: null, expect: record.answer ?? null,
  });
  if (error.status === 409 && remark.path === "/answers" && (await showQuicker(remark, correct))) return;
  const words = `Not saved, about “${remark.title || remark.document}”: ${error.message}`;
  showBanner("refused", "bad", words, [["Close", () => hideBanner("refused")]]);
}

function state({ waiting, error }) {
  if (!error) {
    hideBanner("unsent");
    return;
  }
  if (IS_TEAM && error.status === 401) {
    side.saveNote(); // it waits in this browser with the others
    location.assign(loginPlace());
    return;
  }
  const kind = several(waiting, "remark is", "remarks are");
  const held = waiting ? ` ${kind} kept in this browser and sent as soon as it works.` : "";
  line.saved(waiting ? "Not saved yet" : "");
  showBanner("unsent", "", (SAID[error.code] ?? error.message) + held, [TRY[error.code] ?? TRY.now]);
}

const SAID = {
  not_let_in: "The server was restarted: open the address that it printed. Nothing is lost.",
  forbidden: IS_TEAM
    ? "You have logged in anew since this page was loaded: load it again. Nothing is lost."
    : "This page is older than the server: load it again. Nothing is lost.",
};
const TRY = {
  now: ["Try now", () => outbox.flush()],
  forbidden: ["Load again", () => location.reload()],
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
    history.replaceState(null, "", place());
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
  byId("undo")?.addEventListener("click", undo);
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
  if (MAY_ANSWER) await queue.refill().then(renewed).catch(failed);
}

// A page that was loaded while the review was frozen has no verdicts: it is loaded again when it thaws.
async function waitForThaw() {
  const review = await get("/review").catch(() => ({ frozen_at: "unknown" }));
  if (review.frozen_at) setTimeout(waitForThaw, LOOK_FOR_THAW);
  else location.reload();
}

async function start() {
  if (MAY_ANSWER) await outbox.flush();
  await Promise.all([terms, line.start().catch(() => {})]);
  const { counts, open } = await get("/review");
  line.counts(counts);
  line.open(open);
  const isChosen = await pinned();
  if (!isChosen && MAY_ANSWER) await next();
  else if (!isChosen) showOnly("frozen");
  line.advice().catch(() => {});
}

bind();
markWords(kept("marks", "on") === "on");
if (MAY_ANSWER) leaveWithThePage();
else if (ROLE !== "reader") waitForThaw();
const terms = renewTerms();
guarded(start, start);
