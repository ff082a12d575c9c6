// The note and the tags of the document on the screen.

import { get } from "./api.js";
import { byId, element } from "./dom.js";
import { MAY_ANSWER } from "./places.js";

export class Side {
  constructor(outbox) {
    this.outbox = outbox;
    this.document = null;
    byId("note").addEventListener("blur", () => this.saveNote());
    byId("note").addEventListener("keydown", (event) => {
      if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) event.target.blur();
    });
    byId("tag-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#add(byId("tag").value.trim());
    });
    byId("tag").addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
    this.#complete();
  }

  show(document) {
    this.document = document;
    this.tags = [...(document.tags ?? [])];
    this.note = document.note ?? "";
    byId("note").value = this.note;
    byId("note-card").open = Boolean(this.note) || byId("note-card").open;
    byId("tag").value = "";
    this.#drawTags();
  }

  // Called before a verdict as well, so that a note is never left behind.
  saveNote() {
    const text = byId("note").value.trim();
    if (!this.document || text === this.note.trim()) return;
    this.note = text;
    this.outbox.put("/notes", this.document, { document: this.document.id, text });
  }

  #add(tag) {
    byId("tag").value = "";
    if (!tag || !this.document || this.tags.includes(tag)) return;
    this.tags = [...this.tags, tag].sort();
    this.outbox.put("/tags", this.document, { document: this.document.id, tag });
    if (![...byId("tags-known").options].some((option) => option.value === tag)) {
      byId("tags-known").append(element("option", { value: tag }));
    }
    this.#drawTags();
  }

  #remove(tag) {
    this.tags = this.tags.filter((one) => one !== tag);
    this.outbox.put("/untag", this.document, { document: this.document.id, tag });
    this.#drawTags();
    byId("tag").focus();
  }

  #drawTags() {
    byId("tags").replaceChildren(...this.tags.map((tag) => element("li", { class: "tag" }, tag, MAY_ANSWER
      ? element("button", { type: "button", "aria-label": `Remove the tag ${tag}`, onclick: () => this.#remove(tag) }, "×")
      : null)));
  }

  async #complete() {
    const tags = await get("/tags").catch(() => []);
    byId("tags-known").replaceChildren(...tags.map((tag) => element("option", { value: tag })));
  }
}
