// The review: one graph at a time, the most abnormal first. Marks are kept by this page, as lines of a marks file;
// the service ranks by them and may forget them.
import { NotHeld, ask } from "/web/api.js";
import { save } from "/web/export.js";

const at = (id) => document.getElementById(id);
const PATIENCE = 1000; // milliseconds to wait for the new ranking before the next graph is shown
const VERDICTS = { anomaly: "an anomaly", normal: "normal", unsure: "unsure" };
const KEYS = { a: "anomaly", n: "normal", u: "unsure" };

// Lines of a marks file; a last line that was cut off while it was written is left out.
export function readMarks(text) {
  return text.split("\n").slice(0, -1).map((line, i) => {
    let mark = null;
    try { mark = JSON.parse(line); } catch { /* said below */ }
    if (typeof mark?.id !== "string" || !Object.hasOwn(VERDICTS, mark.verdict)) throw new Error(`Line ${i + 1} is not a mark such as {"id": "g", "verdict": "anomaly"}. Open a file that a review saved.`);
    const { id, verdict, reviewer = "", time = "", comment = "" } = mark;
    return { id, verdict, reviewer, time, comment };
  });
}

// Graphs are known by their ids: the same file, opened again, continues.
function storageKey(ids) {
  let hash = 5381;
  for (const letter of ids.join("\n")) hash = (hash * 33 + letter.codePointAt(0)) % 2 ** 48;
  return `review:${ids.length}:${hash.toString(36)}`;
}

export class Review {
  // rows: the ranking so far; bodies: the graphs as requests; open: shows one graph; say: shows a message.
  constructor(rows, bodies, { open, say, ahead }) {
    Object.assign(this, { bodies, open, say, ahead, order: rows.map((row) => row.id), held: null, sent: 0, busy: null,
      visited: [], place: -1, conflicts: [], note: "" });
    this.key = storageKey([...this.order].sort());
    this.ids = new Set(this.order);
    this.log = readMarks(localStorage.getItem(this.key) ?? "").filter((mark) => this.ids.has(mark.id));
  }

  get marks() { return new Map(this.log.map((mark) => [mark.id, mark])); }
  get current() { return this.visited[this.place]; }

  async start() {
    this.say("");
    this.update(); // not awaited: the first graph is known already
    await this.forward();
  }

  // The ranking that follows from all marks. One request at a time; marks that come meanwhile go with the next one.
  update() {
    this.busy ??= this.#send().finally(() => { this.busy = null; });
    return this.busy;
  }

  async #send() {
    try {
      do {
        if (!this.held) await this.#begin();
        const { length } = this.log;
        const answer = await ask(`/v1/reviews/${this.held}/marks`, { body: { marks: this.#unsent() } });
        this.sent = length;
        Object.assign(this, { order: answer.ranking, conflicts: answer.conflicts, note: "" });
      } while (this.sent < this.log.length);
    } catch (error) {
      if (error instanceof NotHeld) { this.held = null; return this.#send(); }
      this.note = `The ranking does not follow your marks yet: ${error.message}`;
    }
    this.show();
  }

  // The last mark of every graph, without what the ranking does not depend on.
  #unsent() {
    const last = new Map();
    for (const { id, verdict } of this.log.slice(this.sent)) {
      last.delete(id);
      last.set(id, { id, verdict });
    }
    return [...last.values()];
  }

  async #begin() {
    this.note = "Comparing all graphs with the references. Until then the order stays as it is.";
    this.show();
    let name = null;
    for (const body of this.bodies) {
      const answer = await ask(name ? `/v1/reviews/${name}/graphs` : "/v1/reviews", { body });
      name = answer.review;
    }
    Object.assign(this, { held: name, sent: 0 });
  }

  async mark(verdict) {
    const id = this.current;
    if (!id) return;
    this.log.push({ id, verdict, reviewer: at("reviewer").value.trim(), time: `${new Date().toISOString().slice(0, 19)}+00:00`, comment: at("comment").value.trim() });
    this.#keep();
    this.show();
    const before = this.marks.size;
    await Promise.race([this.update(), new Promise((done) => { setTimeout(done, PATIENCE); })]);
    if (this.current === id && this.marks.size === before) await this.forward(true);
  }

  // The next graph: one that was looked at before, or the most abnormal one without a mark.
  async forward(fresh = false) {
    if (!fresh && this.place + 1 < this.visited.length) return this.#go(this.place + 1);
    const { marks } = this;
    const seen = new Set(fresh ? [] : this.visited);
    const next = this.order.find((id) => !marks.has(id) && !seen.has(id)) ?? this.order.find((id) => !marks.has(id) && id !== this.current);
    if (next === undefined) {
      if (this.current === undefined) return this.jump(this.order[0]);
      this.note = "Every graph has a mark.";
      return this.show();
    }
    return this.jump(next);
  }

  async back() { if (this.place > 0) await this.#go(this.place - 1); }

  async jump(id) {
    this.visited.push(id);
    await this.#go(this.visited.length - 1);
  }

  async #go(place) {
    this.place = place;
    at("comment").value = this.marks.get(this.current)?.comment ?? "";
    this.show();
    await this.open(this.current);
    const { marks } = this;
    this.ahead(this.order.find((id) => !marks.has(id) && id !== this.current)); // explained before it is asked for
  }

  #keep() {
    try { localStorage.setItem(this.key, this.lines()); } catch { this.say("This browser keeps no more marks. Save them to a file now."); }
  }

  lines() { return this.log.map((mark) => `${JSON.stringify(mark)}\n`).join(""); }

  save() { save(this.lines(), "marks.jsonl", "application/jsonl"); }

  async resume(text) {
    const read = readMarks(text);
    const known = read.filter((mark) => this.ids.has(mark.id));
    if (read.length && !known.length) throw new Error(`None of the ${read.length} marks is of a graph in this review. Open the file that they belong to.`);
    this.log.push(...known);
    this.#keep();
    await this.update();
    await this.forward(true);
    this.say(known.length < read.length ? `${known.length} marks taken; ${read.length - known.length} are of other graphs.` : "");
  }

  show() {
    const { marks } = this;
    const found = [...marks.values()].filter((mark) => mark.verdict === "anomaly");
    Object.assign(at("review-bar"), { max: this.order.length, value: marks.size });
    at("review-count").textContent = `${marks.size} of ${this.order.length} reviewed · ${found.length} ${found.length === 1 ? "anomaly" : "anomalies"} found`;
    at("review-note").textContent = this.note;
    this.#chips("review-found", "Found:", found.map((mark) => mark.id));
    this.#chips("review-conflicts", "Marked as an anomaly, but equal to a normal reference or to a graph marked as normal, so nothing is learned from it:", this.conflicts);
    const mine = marks.get(this.current)?.verdict;
    for (const button of at("verdicts").querySelectorAll("[data-verdict]")) button.setAttribute("aria-pressed", String(button.dataset.verdict === mine));
    at("review-back").disabled = this.place <= 0;
  }

  #chips(name, title, ids) {
    at(name).hidden = !ids.length;
    at(name).replaceChildren(`${title} `, ...ids.map((id) => {
      const chip = document.createElement("button");
      Object.assign(chip, { type: "button", textContent: id });
      chip.addEventListener("click", () => this.jump(id));
      return chip;
    }));
  }

  // Whether the key was one of the review's.
  pressed(key) {
    const work = KEYS[key] ? () => this.mark(KEYS[key]) : { j: () => this.forward(), k: () => this.back() }[key];
    return work ? work() : null;
  }
}
