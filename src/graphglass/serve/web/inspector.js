// The inspector: reads graphs, asks the API of this same server, and draws what it answers. No other host is contacted.
import { drawGraph, drawMap, drawBars } from "/drawing.js";
import { parseInput } from "/input.js";
import { showRanking } from "/ranking.js";

const at = (id) => document.getElementById(id);
const state = { items: [], rows: [], before: new Map(), trusted: new Map(), open: null, map: null, model: null };

async function ask(path, body, method) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method: method ?? (body === undefined ? "GET" : "POST"), headers,
    body: body === undefined ? undefined : JSON.stringify(body) })
    .catch(() => { throw new Error("The server cannot be reached. Is it still running?"); });
  const content = await answer.json().catch(() => ({}));
  if (answer.status === 401) { at("token-form").hidden = false; at("token").focus(); }
  if (!answer.ok) throw new Error(content.detail ?? `The server answered ${answer.status}.`);
  return content;
}

function say(text) { at("message").textContent = text; }

async function guarded(work, part) {
  say("");
  part?.setAttribute("aria-busy", "true");
  try { await work(); } catch (error) { say(error.message); at("message").scrollIntoView({ block: "nearest" }); }
  part?.removeAttribute("aria-busy");
}

async function loadModel() {
  state.model = await ask("/v1/model");
  const { model } = state;
  const against = model.private ? `a private summary of ${model.references} graphs` : `${model.references} normal references`;
  at("model").textContent = `${against} · domain ${model.domain} · ${model.text_encoder} anchors`;
  for (const part of ["trust", "fields-part", "map-part", "legend"]) at(part).hidden = model.private;
}

async function score() {
  if (!state.model) await loadModel();
  const rows = [];
  const left = [];
  const alpha = Number(at("alpha").value);
  for (let start = 0; start < state.items.length; start += state.model.graphs_per_request) {
    const part = state.items.slice(start, start + state.model.graphs_per_request).map((item) => item.body);
    const answer = await ask("/v1/score", { graphs: part.flatMap((body) => body.graphs ?? []),
      smiles: part.flatMap((body) => body.smiles ?? []), alpha });
    rows.push(...answer.results);
    left.push(...answer.rejected);
    at("summary").textContent = `${rows.length} of ${state.items.length} graphs so far`;
  }
  rows.sort((a, b) => b.score - a.score);
  state.rows = rows.map((row, i) => ({ ...row, rank: i + 1, trusted: state.trusted.has(row.id),
    change: state.before.has(row.id) ? row.score - state.before.get(row.id) : null }));
  const flagged = rows.filter((row) => row.flagged).length;
  at("summary").textContent = `${rows.length} ${rows.length === 1 ? "graph" : "graphs"}`
    + (state.model.private ? "." : `, ${flagged} flagged at p ≤ ${alpha}.`);
  at("ranking").hidden = false;
  show();
  showLeftOut(left);
}

function showLeftOut(left) {
  const box = at("left-out");
  box.hidden = left.length === 0;
  box.firstElementChild.textContent = `${left.length} left out, because unreadable`;
  box.lastElementChild.replaceChildren(...left.map((item) => {
    const line = document.createElement("li");
    line.textContent = `${item.id}: ${item.reason}`;
    return line;
  }));
  if (left.length && !state.rows.length) box.open = true;
}

function show() { showRanking(at("heads"), at("rows"), state.rows, state.open, (id) => guarded(() => open(id), at("detail"))); }

async function submit() {
  state.items = parseInput(at("text").value, at("format").value);
  Object.assign(state, { rows: [], before: new Map(), open: null });
  at("detail").hidden = true;
  at("score").disabled = true;
  try { await score(); } finally { at("score").disabled = false; }
  at("ranking").scrollIntoView({ block: "nearest" });
}

async function open(id) {
  state.open = id;
  show();
  at("detail").hidden = false;
  at("detail-title").textContent = id;
  at("verdict").textContent = "Explaining …";
  showTrust();
  const told = await ask("/v1/explain", state.items.find((item) => item.id === id).body);
  const map = told.place === null ? null : (state.map ??= await ask("/v1/map"));
  if (state.open !== id) return; // another graph was opened meanwhile
  at("verdict").textContent = verdict(id, told);
  at("pictures").replaceChildren(figure(drawGraph(told.drawing), caption(told.drawing, id)),
    ...told.neighbours.map((item) => figure(drawGraph(item.drawing), `normal ${item.id}, similarity ${item.similarity.toFixed(3)}`)));
  showFields(told.fields.filter((field) => field.value < field.reference_low || field.value > field.reference_high));
  at("bars").replaceChildren(...drawBars(told.contributions));
  at("map").replaceChildren(...(map ? [drawMap(map, told.place, id)] : []));
  at("detail").focus({ preventScroll: true });
  at("detail").scrollIntoView({ block: "start" });
}

function verdict(id, told) {
  const before = state.before.get(id);
  const moved = before === undefined || Math.abs(before - told.score) < 5e-5 ? "" : ` (was ${before.toFixed(4)})`;
  return `Score ${told.score.toFixed(4)}${moved}`.replaceAll("-", "−") + (told.p_value === null ? "." : `, p-value ${told.p_value.toFixed(4)}.`);
}

function showFields(fields) {
  at("fields").replaceChildren(...(fields.length ? fields.slice(0, 6).map((field) => field.words)
    : ["Every measured property is within what normal graphs show."]).map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

function caption(drawing, id) {
  return drawing.shown < drawing.total ? `${id}: ${drawing.shown} of ${drawing.total} nodes` : id;
}

function figure(svg, text) {
  const frame = document.createElement("figure");
  const words = document.createElement("figcaption");
  words.textContent = text;
  frame.append(svg, words);
  return frame;
}

function showTrust() {
  at("trust").textContent = state.trusted.has(state.open) ? "Take back: not a normal" : "Mark as trusted normal";
}

async function trust() {
  const id = state.open;
  at("trust").disabled = true;
  try {
    if (state.trusted.has(id)) {
      await ask(`/v1/references?id=${encodeURIComponent(state.trusted.get(id))}`, undefined, "DELETE");
      state.trusted.delete(id);
    } else {
      const answer = await ask("/v1/references", state.items.find((item) => item.id === id).body);
      state.trusted.set(id, answer.changed[0]); // a reference may have got another id where this one was taken
    }
    state.map = null;
    state.before = new Map(state.rows.map((row) => [row.id, row.score]));
    await loadModel();
    await score();
    await open(id);
  } finally { at("trust").disabled = false; }
}

async function readFile(file) {
  at("text").value = await file.text();
  const ending = file.name.split(".").pop().toLowerCase();
  at("format").value = { smi: "smiles", jsonl: "json", json: "json" }[ending] ?? "auto";
  await submit();
}

at("form").addEventListener("submit", (event) => { event.preventDefault(); guarded(submit, at("ranking")); });
at("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) guarded(() => readFile(file), at("ranking")).then(() => { event.target.value = ""; });
});
at("trust").addEventListener("click", () => guarded(trust, at("detail")));
at("detail").addEventListener("keydown", (event) => {
  if (event.key === "Escape") at("rows").querySelector('[aria-selected="true"]')?.focus();
});
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  at("token-form").hidden = true;
  guarded(loadModel);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    at("input").classList.toggle("drop", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) guarded(() => readFile(event.dataTransfer.files[0]), at("ranking"));
  });
}
guarded(loadModel);
