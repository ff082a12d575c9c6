// What was said and is not acknowledged yet: kept in this browser, sent in order, sent again until the server has it.

import { ApiError, post } from "./api.js";
import { newKey } from "./keys.js";

const PAUSES = [500, 1000, 2000, 4000, 8000]; // milliseconds between attempts
const LATER = new Set([0, 401, 403, 408, 425, 429]); // and whatever is the server's own fault

export class Outbox {
  // tell: {done(remark, reply), refused(remark, error), state({waiting, error})}
  constructor(review, tell) {
    this.prefix = `riffler:unsent:${review}:`;
    this.tell = tell;
    this.waiting = new Map(this.#kept().map((remark) => [remark.key, remark]));
    this.failures = 0;
    this.sending = null;
    addEventListener("online", () => this.flush());
  }

  // One entry each, so that two tabs never overwrite what the other has put down.
  put(path, document, body) {
    const key = newKey();
    const remark = { key, path, document, body: { ...body, key }, at: Date.now() };
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
        if (!LATER.has(error.status) && error.status < 500) {
          this.#forget(remark);
          this.tell.refused(remark, error);
          continue;
        }
        this.timer = setTimeout(() => this.flush(), PAUSES[Math.min(this.failures, PAUSES.length - 1)]);
        this.failures += 1;
        this.tell.state({ waiting: this.waiting.size, error });
        return false;
      }
    }
    this.failures = 0;
    this.tell.state({ waiting: 0, error: null });
    return true;
  }

  #forget(remark) {
    this.waiting.delete(remark.key);
    try {
      localStorage.removeItem(this.prefix + remark.key);
    } catch { /* it was never kept */ }
  }

  #kept() {
    try {
      const names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix));
      return names.map((name) => JSON.parse(localStorage.getItem(name))).sort((one, other) => one.at - other.at);
    } catch {
      return [];
    }
  }
}

const asRequest = ({ path, body }) => (path === "/answers" ? { answers: [body] } : body);
