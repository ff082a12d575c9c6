// What was said and is not acknowledged yet: kept in this browser, sent in order, sent again until the server has it.

import { ApiError, post } from "./api.js";
import { newKey } from "./keys.js";
import { PERSON, REVIEW } from "./places.js";

const PAUSES = [500, 1000, 2000, 4000, 8000]; // milliseconds between attempts
const LATER = new Set([0, 401, 408, 425, 429]); // and whatever is the server's own fault
const LATER_CODES = new Set(["forbidden", "frozen"]); // from an older page, or while nothing may be changed

const UNSENT = "riffler:unsent:";
const prefixOf = (review, person) => `${UNSENT}${review}:${person ? `${encodeURIComponent(person)}:` : ""}`;

export class Outbox {
  // tell: {done(remark, reply), refused(remark, error), state({waiting, error}), isShutOut(error) -> promise}
  constructor(tell) {
    this.prefix = prefixOf(REVIEW, PERSON); // somebody else at this browser has others
    this.tell = tell;
    this.waiting = new Map(keptBelow(this.prefix).map((remark) => [remark.key, remark]));
    this.failures = 0;
    this.sending = null;
    addEventListener("online", () => this.flush());
  }

  // One entry each, so that two tabs never overwrite what the other has put down.
  put(path, { id, title }, body) {
    const key = newKey();
    const remark = { key, path, document: id, title, body: { ...body, key }, at: Date.now() };
    this.waiting.set(key, remark);
    try {
      localStorage.setItem(this.prefix + key, JSON.stringify(remark));
    } catch { /* storage is full or forbidden: the page still holds it */ }
    this.flush();
    return key;
  }

  concerns(document) {
    return [...this.waiting.values()].some((remark) => remark.document === document);
  }

  // Resolves to whether everything is with the server.
  flush() {
    clearTimeout(this.timer);
    this.sending ??= this.#send().finally(() => { this.sending = null; });
    return this.sending;
  }

  async #send() {
    while (this.waiting.size) {
      const [remark] = this.waiting.values();
      try {
        const reply = await post(remark.path, asRequest(remark));
        this.#forget(remark);
        this.tell.done(remark, reply);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (isForLater(error)) return this.#later(error);
        if (await this.tell.isShutOut(error)) return false; // it stays in this browser
        this.#forget(remark);
        this.tell.refused(remark, error);
      }
    }
    this.failures = 0;
    this.tell.state({ waiting: 0, error: null });
    return true;
  }

  #later(error) {
    const pause = PAUSES[Math.min(this.failures, PAUSES.length - 1)];
    this.timer = setTimeout(() => this.flush(), Math.max(pause, 1000 * error.seconds));
    this.failures += 1;
    this.tell.state({ waiting: this.waiting.size, error });
    return false;
  }

  #forget(remark) {
    this.waiting.delete(remark.key);
    remove(this.prefix + remark.key);
  }
}

const isForLater = ({ status, code }) => LATER.has(status) || LATER_CODES.has(code) || status >= 500;

const asRequest = ({ path, body }) => (path === "/answers" ? { answers: [body] } : body);

// What somebody has said and not sent, by review: {identity: [remark, ...]}
export function unsentOf(person) {
  const found = {};
  for (const name of names()) {
    const [review, whose] = name.slice(UNSENT.length).split(":");
    if (name.startsWith(UNSENT) && whose === encodeURIComponent(person)) found[review] = keptBelow(prefixOf(review, person));
  }
  return found;
}

export function forgetUnsent(review, person) {
  for (const name of names()) if (name.startsWith(prefixOf(review, person))) remove(name);
}

function keptBelow(prefix) {
  try {
    const kept = names().filter((name) => name.startsWith(prefix));
    return kept.map((name) => JSON.parse(localStorage.getItem(name))).sort((one, other) => one.at - other.at);
  } catch {
    return [];
  }
}

function names() {
  try {
    return Object.keys(localStorage);
  } catch {
    return []; // a browser may forbid it
  }
}

function remove(name) {
  try {
    localStorage.removeItem(name);
  } catch { /* it was never kept */ }
}
