// The inspector: reads graphs, asks the API, and draws the answers.
import { TokenNeeded, ask } from "/web/api.js";
import { drawBars, drawHistogram, drawMap, drawTime, showGraph } from "/web/drawing.js";
import { asCsv, asJson, save } from "/web/export.js";
import { filtered, showRanking, sortedRows } from "/web/ranking.js";
import { Review } from "/web/review.js";

const at = (id) => document.getElementById(id);
const LONGEST_LINK = 4000;
const MOST_REASONS = 6;
const AHEAD = 20; // flagged graphs that are explained before anybody opens them
const FEWEST_IN_TIME = 8; // graphs below which the order of arrival says nothing
const state = { items: new Map(), rows: [], left: [], before: new Map(), marked: new Map(), open: null, map: null, model: null, alarms: [],
  references: [], threshold: Infinity, text: "", reasons: new Map(), explained: new Map(), review: null, loading: null, work: new AbortController() };

// Frame: messages, the token, the model

function say(text) { at("message").textContent = text; }

// A sign of work at once, and how far it is: done of all where that is known.
function progress(words, done, all) {
  at("progress").hidden = !words;
  at("progress").lastElementChild.textContent = words ?? "";
  const bar = at("progress").firstElementChild;
  if (all) Object.assign(bar, { value: done, max: all });
  else bar.removeAttribute("value");
}

async function guarded(work, part) {
  say("");
  part?.setAttribute("aria-busy", "true");
  try { await work(); } catch (error) {
    if (error.name === "AbortError") return; // newer graphs took the place of these
    if (error instanceof TokenNeeded) { at("token-form").hidden = false; at("token").focus(); }
    say(error.message);
    at("message").scrollIntoView({ block: "nearest" });
  }
  part?.removeAttribute("aria-busy");
}

// A click can come before the page's first request is answered.
async function firstModel() {
  if (!state.model) await (state.loading ??= loadModel().finally(() => { state.loading = null; }));
}

// Open what the address names, unless somebody was faster than the model.
async function start() {
  const { work } = state;
  await firstModel();
  if (state.work === work) await follow();
}

async function loadModel() {
  const model = await ask("/v1/model");
  if (!model.private) {
    const listed = await ask("/v1/references?limit=20000");
    state.references = listed.references.map((row) => row.score).sort((a, b) => b - a);
    const known = model.anomalies ? (await ask("/v1/anomalies")).anomalies : [];
    state.held = { "trusted normal": new Set(listed.references.map((row) => row.id)), anomaly: new Set(known) };
  }
  Object.assign(state, { model, map: null, explained: new Map() });
  const known = model.anomalies ? ` and ${model.anomalies} known ${model.anomalies === 1 ? "anomaly" : "anomalies"}` : "";
  at("model").textContent = model.private ? `a private summary of ${model.references} graphs`
    : `${model.references} normal references${known} · graphs with ${model.carries.join(", ") || "no labels or attributes"}`;
  for (const part of ["trust", "suspect", "fields-part", "map-part", "legend", "threshold-part", "example"]) at(part).hidden = model.private;
  at("suspect").hidden ||= model.anomalies === null;
  at("review-start").hidden = model.anomalies === null;
  at("bars-title").textContent = model.private ? "Contributions to the score" : "Share of the score";
}

// Reading and scoring

async function rank(content, name, text, columns = {}) {
  await shown(async () => {
    progress(`Reading ${name.includes(".") && content.size ? name : "the graphs"} …`);
    const file = await asked(`/v1/read?${new URLSearchParams({ name, ...columns })}`, { content })
      .catch((error) => { if (error.columns) chooseColumns(error.columns, content, name, text); throw error; });
    Object.assign(state, { items: new Map(file.graphs.map((graph) => [graph.id, graph])), left: file.rejected, text });
  });
}

// Read some graphs and rank them; an old ranking is never shown with them, and the last click wins.
async function shown(read) {
  clear();
  const { work } = state;
  at("columns-form").hidden = true;
  try {
    progress("Loading the model …");
    await firstModel();
    work.signal.throwIfAborted();
    await read();
    recallMarks();
    await score();
  } catch (error) {
    if (state.work === work) clear();
    throw error;
  }
  link();
  at("ranking").scrollIntoView({ block: "nearest" });
  explainAhead();
}

// First reasons come without a click, from the top of the ranking; opening these graphs does not wait either.
async function explainAhead() {
  const { items } = state;
  for (const row of state.rows.filter((one) => one.flagged).slice(0, AHEAD)) {
    const answer = await explained(row.id).catch(() => null);
    if (state.items !== items) return;
    if (answer) keepReason(row.id, answer);
  }
}

function keepReason(id, answer) {
  state.reasons.set(id, answer.reasons[0] ?? null);
  const row = state.rows.find((one) => one.id === id);
  if (row) row.reason = state.reasons.get(id);
  const cell = at("rows").querySelector(`[data-id="${CSS.escape(id)}"] .reason`); // the row stays: somebody may be clicking it
  if (cell) cell.title = cell.textContent = row?.reason ?? "";
}

function chooseColumns(columns, content, name, text) {
  const form = at("columns-form");
  const choices = () => ["", ...columns].map((column) => new Option(column || "none", column));
  for (const select of form.querySelectorAll("select")) select.replaceChildren(...choices());
  form.onsubmit = (event) => {
    event.preventDefault();
    const chosen = [...new FormData(form)].filter(([, column]) => column);
    guarded(() => rank(content, name, text, Object.fromEntries(chosen)), at("ranking"));
  };
  form.hidden = false;
}

function asBody(graphs) {
  const items = graphs.map(({ columns, ...rest }) => rest); // the user's own columns stay on the page
  return { graphs: items.filter((item) => item.smiles === undefined), smiles: items.filter((item) => item.smiles !== undefined) };
}

// A request about the graphs of now; it ends when others take their place.
const asked = (path, options) => ask(path, { ...options, signal: state.work.signal });

function clear() {
  state.work.abort();
  state.work = new AbortController();
  progress(null);
  Object.assign(state, { items: new Map(), rows: [], left: [], before: new Map(), marked: new Map(), open: null, text: "", reasons: new Map(), explained: new Map() });
  leaveReview();
  for (const part of ["ranking", "detail"]) at(part).hidden = true;
  at("empty").hidden = false;
}

async function score() {
  const rows = [];
  const left = [...state.left];
  const graphs = [...state.items.values()];
  progress(`Ranked 0 of ${graphs.length} graphs …`, 0, graphs.length);
  for (let start = 0; start < graphs.length; start += state.model.graphs_per_request) {
    const part = graphs.slice(start, start + state.model.graphs_per_request);
    const answer = await asked("/v1/score", { body: asBody(part) });
    rows.push(...answer.results);
    left.push(...answer.rejected);
    progress(`Ranked ${rows.length} of ${graphs.length} graphs …`, rows.length + left.length, graphs.length + state.left.length);
  }
  progress(null);
  rows.sort((a, b) => b.score - a.score);
  state.rows = rows.map((row, i) => ({ ...row, rank: i + 1, columns: state.items.get(row.id)?.columns ?? {}, reason: state.reasons.get(row.id) ?? null,
    change: state.before.has(row.id) ? row.score - state.before.get(row.id) : null }));
  const arrived = inOrder();
  state.alarms = arrived.length < FEWEST_IN_TIME ? [] : (await asked("/v1/drift", { body: { scores: arrived.slice(0, 20000).map((row) => row.score) } })).alarms;
  setAlpha(Number(at("alpha").value));
  at("empty").hidden = true;
  at("ranking").hidden = false;
  showLeftOut(left);
}

function showLeftOut(left) {
  const box = at("left-out");
  box.hidden = left.length === 0;
  box.firstElementChild.textContent = `${left.length} could not be read`;
  box.lastElementChild.replaceChildren(...left.map((item) => textElement("li", `${item.id}: ${item.reason}`)));
  box.open = left.length > 0 && !state.rows.length;
}

function textElement(name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

// The threshold: a score is flagged if it is above it

function setAlpha(alpha) {
  // At most so many references may score as high as a flagged graph.
  const allowed = Math.floor(alpha * (state.references.length + 1) + 1e-9) - 1;
  state.threshold = allowed < 0 ? Infinity : state.references[allowed] ?? -Infinity;
  show();
}

function setThreshold(value) {
  state.threshold = value;
  at("alpha").value = Number(pAbove(value).toPrecision(3));
  show();
}

function pAbove(value) {
  return (1 + state.references.filter((score) => score > value).length) / (state.references.length + 1);
}

function show() {
  const { rows, model, threshold } = state;
  for (const row of rows) {
    row.marked = state.marked.get(row.id)?.kind ?? state.verdicts?.get(row.id)?.verdict ?? null;
    row.flagged = model.private ? null : row.score > threshold;
  }
  const flagged = rows.filter((row) => row.flagged).length;
  at("summary").textContent = `${rows.length} ${rows.length === 1 ? "graph" : "graphs"}${model.private ? "" : `, ${flagged} flagged`}.`;
  if (!model.private && rows.length) showThreshold();
  showTime();
  showRows();
}

function inOrder() {
  const places = new Map([...state.items.keys()].map((id, place) => [id, place]));
  return [...state.rows].sort((a, b) => places.get(a.id) - places.get(b.id));
}

function showTime() {
  const rows = inOrder();
  at("time-part").hidden = rows.length < FEWEST_IN_TIME;
  if (at("time-part").hidden) return;
  at("time").replaceChildren(drawTime(rows, state.threshold, state.alarms));
  const words = state.alarms.map(([place, began]) => `Scores changed: drift was found at graph ${place + 1}, ${rows[place].id}; the change began near graph ${began + 1}.`);
  at("drift").textContent = words.join(" ") || "No drift: the scores do not depend on the order of arrival.";
}

function showThreshold() {
  const { svg, low, high } = drawHistogram(state.references, state.rows.map((row) => row.score), state.threshold, setThreshold);
  at("histogram").replaceChildren(svg);
  const top = high + 0.01 * (high - low); // at the right end nothing is flagged
  Object.assign(at("threshold"), { min: low, max: top });
  at("threshold").value = Math.min(top, Math.max(low, state.threshold));
  at("cut").textContent = Number.isFinite(state.threshold) ? `${state.threshold.toFixed(3).replace("-", "−")}: at most ${(100 * pAbove(state.threshold)).toPrecision(2)}% of normal graphs score higher`
    : "With so few references no p-value is this small.";
}

function showRows() {
  const rows = filtered(state.rows, at("find").value, at("show").value);
  at("none").hidden = rows.length > 0 || !state.rows.length;
  showRanking(at("heads"), at("rows"), rows, state.open, (id) => guarded(() => open(id), at("detail")));
}

// One graph

// Asked for once; a review asks before the graph is opened.
function explained(id) {
  if (!state.explained.has(id)) {
    const { explained: kept } = state;
    kept.set(id, asked("/v1/explain", { body: asBody([state.items.get(id)]) }));
    kept.get(id).catch(() => kept.delete(id));
  }
  return state.explained.get(id);
}

function showOwn(id) {
  const known = Object.entries(state.items.get(id)?.columns ?? {}).filter(([, value]) => value !== null && value !== "" && value !== id);
  at("own").replaceChildren(...known.map(([name, value]) => {
    const pair = document.createElement("div");
    pair.append(textElement("dt", name), textElement("dd", String(value)));
    return pair;
  }));
}

async function open(id, by_key = false) {
  if (!state.items.has(id)) return; // other graphs took its place
  state.open = id;
  showRows();
  at("detail").hidden = false;
  at("detail-title").textContent = id;
  at("verdict").textContent = "Explaining …";
  for (const part of ["pictures", "fields", "bars", "map"]) at(part).replaceChildren();
  showMarks();
  link();
  showOwn(id);
  const body = asBody([state.items.get(id)]);
  const { model } = state;
  const answer = await explained(id);
  if (state.open !== id || state.model !== model) return; // another graph was opened meanwhile, or a mark made
  keepReason(id, answer);
  at("verdict").textContent = verdict(id, answer);
  const near = (kind) => (item) => figure(item.drawing, `${kind} ${item.id}`, `similarity: ${Object.entries(item.families).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(", ")}`);
  at("pictures").replaceChildren(figure(answer.drawing, caption(answer.drawing, id)),
    ...answer.resembles.slice(0, 1).map(near("known anomaly")), ...answer.neighbours.map(near("normal")));
  const reasons = answer.reasons.length ? answer.reasons : ["No measured property is outside its usual range."];
  const rest = reasons.length > MOST_REASONS ? [`and ${reasons.length - MOST_REASONS} more`] : [];
  at("fields").replaceChildren(...[...reasons.slice(0, MOST_REASONS), ...rest].map((text) => textElement("li", text)));
  at("bars").replaceChildren(...(state.model.private ? drawBars(answer.contributions, "") : drawBars(answer.shares, "%")));
  if (!state.model.private) showPlace(id, body); // comes later where the map is still being made
  if (!by_key) at("detail").focus({ preventScroll: true });
  if (state.review) scrollTo(0, 0);
  else at("detail").scrollIntoView({ block: by_key ? "nearest" : "start" });
}

async function showPlace(id, body) {
  const { model } = state;
  at("map").replaceChildren(textElement("p", "Placing …"));
  try {
    const [map, found] = await Promise.all([state.map ?? ask("/v1/map"), asked("/v1/place", { body })]);
    if (state.model !== model) return; // the map is of the references before a mark
    state.map = map;
    if (state.open !== id) return;
    at("map").replaceChildren(drawMap(map, found.places[0], id));
    at("known-key").hidden = !map.anomaly_places.length;
  } catch (error) {
    if (state.open === id) at("map").replaceChildren(textElement("p", error.message));
  }
}

function verdict(id, answer) {
  const before = state.before.get(id);
  const moved = before === undefined || Math.abs(before - answer.score) < 5e-5 ? "" : ` (was ${before.toFixed(4)})`;
  const without = document.body.classList.contains("reviewing") ? ", without your marks" : "";
  return `Score ${answer.score.toFixed(4)}${moved}`.replaceAll("-", "−") + (answer.p_value === null ? "" : `, p-value ${answer.p_value.toFixed(4)}`) + `${without}.`;
}

function caption(drawing, id) {
  return drawing.shown < drawing.total ? `${id}: ${drawing.shown} of ${drawing.total} nodes` : id;
}

function figure(drawing, ...lines) {
  const frame = document.createElement("figure");
  const words = document.createElement("figcaption");
  words.append(...lines.map((text) => textElement("div", text)));
  frame.append(showGraph(drawing), words);
  return frame;
}

// Marks: a graph becomes a trusted normal or a known anomaly

const SIDES = { trust: { path: "/v1/references", kind: "trusted normal", title: "Mark as trusted normal" },
  suspect: { path: "/v1/anomalies", kind: "anomaly", title: "Mark as anomaly" } };

function showMarks() {
  const mark = state.marked.get(state.open);
  for (const [button, side] of Object.entries(SIDES)) {
    at(button).textContent = mark?.kind === side.kind ? `Undo: ${side.kind}` : side.title;
    at(button).disabled = Boolean(mark) && mark.kind !== side.kind;
  }
}

// Marks survive a reload: the page keeps them for this service and these ids.
function recallMarks() {
  const kept = JSON.parse(localStorage.getItem("marks") ?? "{}");
  const stands = (mark) => mark && state.held?.[mark.kind]?.has(mark.id); // somebody else may have undone it
  state.marked = new Map([...state.items.keys()].filter((id) => stands(kept[id])).map((id) => [id, kept[id]]));
}

function keepMark(id, mark) {
  const kept = JSON.parse(localStorage.getItem("marks") ?? "{}");
  if (mark) kept[id] = mark;
  else delete kept[id];
  localStorage.setItem("marks", JSON.stringify(kept));
}

async function toggleMark(side) {
  const { open: id, work, marked } = state;
  for (const button of Object.keys(SIDES)) at(button).disabled = true;
  try {
    const mark = marked.get(id);
    if (mark) {
      await ask(`${side.path}?id=${encodeURIComponent(mark.id)}`, { method: "DELETE" });
      marked.delete(id);
    } else {
      const answer = await ask(side.path, { body: asBody([state.items.get(id)]) });
      marked.set(id, { kind: side.kind, id: answer.changed[0] }); // the model may have chosen another id
    }
    keepMark(id, marked.get(id));
    await loadModel();
    work.signal.throwIfAborted();
    state.before = new Map(state.rows.map((row) => [row.id, row.score]));
    await score();
    await open(id);
  } finally { showMarks(); }
}

// The review: the same graphs one by one, on the same page

async function startReview() {
  const graphs = [...state.items.values()].filter((graph) => state.rows.some((row) => row.id === graph.id));
  const step = state.model.graphs_per_request;
  const bodies = [];
  for (let start = 0; start < graphs.length; start += step) bodies.push(asBody(graphs.slice(start, start + step)));
  const rows = [...state.rows].sort((a, b) => a.rank - b.rank);
  state.review = new Review(rows, bodies, { say, open: (id) => open(id, true), ahead: (id) => { if (id) explained(id).catch(() => {}); } });
  document.body.classList.add("reviewing");
  for (const part of ["review", "verdicts"]) at(part).hidden = false;
  scrollTo(0, 0);
  await state.review.start();
}

function leaveReview() {
  if (!state.review) return;
  state.verdicts = state.review.marks;
  state.review = null;
  document.body.classList.remove("reviewing");
  for (const part of ["review", "verdicts"]) at(part).hidden = true;
}

const inReview = (work) => guarded(async () => { if (state.review) await work(state.review); }, null);

// Links: the graphs, if they are few, and the open graph are in the address

function link() {
  const parts = new URLSearchParams();
  if (state.text && state.text.length <= LONGEST_LINK) parts.set("text", state.text);
  if (state.open) parts.set("graph", state.open);
  history.replaceState(null, "", `#${parts}`);
}

async function follow() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const [text, id] = [parts.get("text"), parts.get("graph")];
  if (text && text !== state.text) {
    at("text").value = text;
    await rank(text, "", text);
  }
  if (id && id !== state.open && state.items.has(id)) await open(id);
  else if (id && !state.items.has(id)) throw new Error(`The link opens ${id}, which is not among these graphs. Open its file first.`);
}

async function openFile(file) {
  at("text").value = "";
  await rank(file, file.name, "");
}

// Events

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const format = at("format").value;
  guarded(() => rank(at("text").value, format && `pasted${format}`, format ? "" : at("text").value), at("ranking"));
});
at("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) guarded(() => openFile(file), at("ranking")).then(() => { event.target.value = ""; });
});
at("example").addEventListener("click", () => guarded(() => shown(async () => {
  progress("Asking for an example …");
  const { graphs, smiles } = await asked("/v1/example");
  state.items = new Map([...graphs, ...smiles].map((item) => [item.id, item]));
  at("text").value = "";
}), at("ranking")));
at("alpha").addEventListener("change", () => setAlpha(Number(at("alpha").value)));
at("threshold").addEventListener("input", () => setThreshold(Number(at("threshold").value)));
at("find").addEventListener("input", showRows);
at("show").addEventListener("change", showRows);
at("save-csv").addEventListener("click", () => save(asCsv(sortedRows(state.rows)), "scores.csv", "text/csv"));
at("save-json").addEventListener("click", () => save(asJson(sortedRows(state.rows)), "scores.json", "application/json"));
at("copy-link").addEventListener("click", () => guarded(async () => {
  await navigator.clipboard.writeText(location.href);
  at("copy-link").textContent = "Copied";
  setTimeout(() => { at("copy-link").textContent = "Copy link"; }, 1500);
}));
for (const [button, side] of Object.entries(SIDES)) at(button).addEventListener("click", () => guarded(() => toggleMark(side), at("detail")));
at("reviewer").value = localStorage.getItem("reviewer") ?? "";
at("reviewer").addEventListener("change", () => localStorage.setItem("reviewer", at("reviewer").value));
at("review-start").addEventListener("click", () => guarded(startReview));
at("review-leave").addEventListener("click", () => { leaveReview(); show(); });
at("review-save").addEventListener("click", () => inReview((review) => review.save()));
at("review-file").addEventListener("change", (event) => inReview(async (review) => {
  const text = await event.target.files[0]?.text();
  event.target.value = "";
  if (text !== undefined) await review.resume(text);
}));
at("review-back").addEventListener("click", () => inReview((review) => review.back()));
at("review-skip").addEventListener("click", () => inReview((review) => review.forward()));
for (const button of at("verdicts").querySelectorAll("[data-verdict]")) {
  button.addEventListener("click", () => inReview((review) => review.mark(button.dataset.verdict)));
}
at("detail").addEventListener("keydown", (event) => {
  if (event.key === "Escape") at("rows").querySelector('[aria-selected="true"]')?.focus();
});
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  at("token-form").hidden = true;
  guarded(start);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    at("input").classList.toggle("drop", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) guarded(() => openFile(event.dataTransfer.files[0]), at("ranking"));
  });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  if (state.review) return void inReview((review) => review.pressed(event.key));
  const rows = [...at("rows").children];
  if (at("ranking").hidden || !rows.length) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step) {
    const next = rows[Math.min(rows.length - 1, Math.max(0, rows.findIndex((row) => row.dataset.id === state.open) + step))];
    guarded(() => open(next.dataset.id, true), at("detail")).then(() => at("rows").querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }));
  }
  const button = { a: "suspect", n: "trust" }[event.key];
  if (button && state.open && !at(button).hidden && !at(button).disabled) at(button).click();
});
addEventListener("hashchange", () => guarded(follow, at("detail")));
document.querySelector("main").inert = false; // from here on every click is heard
guarded(start);
