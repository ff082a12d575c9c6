// What comes next, fetched ahead, so that no reader ever waits for the server.

import { get, post } from "./api.js";
import { IS_TEAM } from "./places.js";

const AHEAD = 3;
const RENEWALS = [400, 2000, 8000]; // milliseconds after an answer: by then the search may know better ones
const PATIENCE = 150; // milliseconds that a document may wait for the word that it is still wanted

const REPLACED = new Set([400, 404, 409]); // the search has put better ones in its place, or somebody else reads it

export class Queue {
  // unwanted(id): documents that are on the screen, or answered a moment ago; tell: {renewed(found), failed(error)}
  constructor(unwanted, tell) {
    this.unwanted = unwanted;
    this.tell = tell;
    this.items = [];
  }

  async refill() {
    const found = await get("/next", { n: AHEAD });
    this.items = found.filter((item) => !this.unwanted(item.document.id));
    return found;
  }

  // The next one that the search still wants; null where there is none now.
  async take() {
    for (let attempt = 0; attempt < AHEAD; attempt += 1) {
      this.items = this.items.filter((item) => !this.unwanted(item.document.id));
      if (!this.items.length) await this.refill();
      const item = this.items.shift();
      if (!item) return null;
      if (await isWanted(item)) return item;
      this.items = []; // it was replaced, and so were the others
    }
    return null;
  }

  keepFresh() {
    this.stop();
    const turn = (this.turn = {}); // one that is under way ends where another has begun
    const renew = (step) => {
      this.timer = setTimeout(async () => {
        if (!document.hidden) await this.refill().then(this.tell.renewed).catch(this.tell.failed);
        if (this.turn === turn) renew(Math.min(step + 1, RENEWALS.length - 1));
      }, RENEWALS[step]);
    };
    renew(0);
  }

  stop() {
    clearTimeout(this.timer);
    this.turn = null;
  }
}

// Tells the server that it is on the screen: resolves to whether it may be. In a team it must be this reader's own; else
// a slow server is not waited for, and what is shown then is shown.
export function isWanted({ suggestion }) {
  const told = post(`/suggestions/${suggestion}/shown`).then(() => true, (error) => !REPLACED.has(error.status));
  if (IS_TEAM) return told;
  return Promise.race([told, new Promise((done) => { setTimeout(() => done(true), PATIENCE); })]);
}
