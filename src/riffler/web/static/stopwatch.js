// Seconds that a document was in view: a hidden tab does not read.

export class Stopwatch {
  constructor() {
    this.restart();
    document.addEventListener("visibilitychange", () => this.#turn());
  }

  restart() {
    this.spent = 0;
    this.since = document.hidden ? null : performance.now();
  }

  seconds() {
    const running = this.since === null ? 0 : performance.now() - this.since;
    return Math.round((this.spent + running) / 100) / 10;
  }

  #turn() {
    if (document.hidden && this.since !== null) {
      this.spent += performance.now() - this.since;
      this.since = null;
    } else if (!document.hidden && this.since === null) {
      this.since = performance.now();
    }
  }
}
