// The inspector: reads graphs, asks the API of this same server, and draws what it answers. No other host is contacted.
import { drawGraph, drawMap, drawBars } from "/drawing.js";
import { parseInput } from "/input.js";

const at = (id) => document.getElementById(id);
const COLUMNS = [["rank", "rank"], ["id", "id"], ["score", "score"], ["change", "change"], ["p_value", "p-value"],
  ["flagged", "flagged"], ["nodes", "nodes"], ["edges", "edges"]];
const state = { sent: null, bodies: new Map(), rows: [], sort: ["rank", 1], open: null, map: null, model: null };

async function ask(path, body, method) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method: method ?? (body === undefined ? "GET" : "POST"), headers,
    body: body === undefined ? undefined : JSON.stringify(body) });
  const content = await answer.json();
  if (answer.status === 401) at("token-form").hidden = false;
  if (!answer.ok) throw new Error(content.detail ?? `The server answered ${answer.status}.`);
  return content;
}

function say(text) { at("message").textContent = text; }

async function guarded(work) {
  say("");
  try { await work(); } catch (error) { say(error.message); }
}

async function loadModel() {
  state.model = await ask("/v1/model");
  const { model } = state;
  const against = model.private ? `a private summary of ${model.references} graphs` : `${model.references} normal references`;
  at("model").textContent = `${against} · domain ${model.domain} · ${model.text_encoder} anchors`;
  at("trust").hidden = model.private;
}

async function score(request) {
  const before = new Map(state.rows.map((row) => [row.id, row.score]));
  const answer = await ask("/v1/score", request);
  state.rows = answer.results.map((row) => ({ ...row, change: before.has(row.id) ? row.score - before.get(row.id) : null }));
  const flagged = state.rows.filter((row) => row.flagged).length;
  at("summary").textContent = `${state.rows.length} graphs` + (state.model?.private ? "." : `, ${flagged} flagged.`);
  at("ranking").hidden = state.rows.length === 0;
  showRows();
  say(answer.rejected.map((item) => `${item.id}: ${item.reason}`).join("\n"));
}

async function submit() {
  const parsed = parseInput(at("text").value, at("format").value);
  state.sent = { graphs: parsed.graphs, smiles: parsed.smiles, alpha: Number(at("alpha").value) };
  state.bodies = new Map([...parsed.graphs.map((graph) => [String(graph.id), { graphs: [graph] }]),
    ...parsed.smiles.map((molecule) => [molecule.id, { smiles: [molecule] }])]);
  state.rows = [];
  at("detail").hidden = true;
  await score(state.sent);
}

function showRows() {
  const [key, direction] = state.sort;
  const shown = COLUMNS.filter(([name]) => name !== "change" || state.rows.some((row) => row.change));
  at("heads").replaceChildren(...shown.map(([name, title]) => {
    const head = document.createElement("th");
    head.className = name;
    if (name === key) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title + (name === key ? (direction > 0 ? " ▲" : " ▼") : "");
    button.addEventListener("click", () => { state.sort = [name, name === key ? -direction : 1]; showRows(); });
    head.append(button);
    return head;
  }));
  const rows = [...state.rows].sort((a, b) => direction * (typeof a[key] === "string" ? a[key].localeCompare(b[key]) : a[key] - b[key]));
  at("rows").replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    line.tabIndex = 0;
    line.dataset.id = row.id;
    line.setAttribute("aria-selected", String(row.id === state.open));
    for (const [name] of shown) {
      const cell = document.createElement("td");
      cell.className = name;
      cell.textContent = shownValue(name, row[name]);
      if (name === "flagged" && row.flagged) cell.className = "flag";
      if (name === "change" && row.change) cell.className = row.change < 0 ? "fell" : "rose";
      line.append(cell);
    }
    line.addEventListener("click", () => guarded(() => open(row.id)));
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); guarded(() => open(row.id)); }
      const next = event.key === "ArrowDown" ? line.nextSibling : event.key === "ArrowUp" ? line.previousSibling : null;
      if (next) { event.preventDefault(); next.focus(); }
    });
    return line;
  }));
}

function shownValue(name, value) {
  if (value === null || value === undefined) return "";
  if (name === "flagged") return value ? "flagged" : "";
  if (name === "change") return value ? `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}` : "";
  return name === "score" || name === "p_value" ? value.toFixed(4) : String(value);
}

async function open(id) {
  const body = state.bodies.get(id) ?? state.bodies.get(id.replace(/ \(\d+\)$/, ""));
  state.open = id;
  showRows();
  at("detail").hidden = false;
  at("detail-title").textContent = id;
  at("verdict").textContent = "Explaining …";
  at("pictures").replaceChildren();
  const told = await ask("/v1/explain", body);
  const p = told.p_value === null ? "" : `, p-value ${told.p_value.toFixed(4)}`;
  at("verdict").textContent = `Score ${told.score.toFixed(4)}${p}.`;
  at("pictures").replaceChildren(
    figure(drawGraph(told.drawing), `${caption(told.drawing, id)}; red nodes make it abnormal`),
    ...told.neighbours.map((item) => figure(drawGraph(item.drawing), `normal ${item.id}, similarity ${item.similarity.toFixed(3)}`)));
  at("fields").replaceChildren(...told.fields.slice(0, 6).map((field) => {
    const item = document.createElement("li");
    item.textContent = field.words;
    return item;
  }));
  at("bars").replaceChildren(...drawBars(told.contributions));
  if (told.place !== null) {
    state.map ??= await ask("/v1/map");
    at("map").replaceChildren(drawMap(state.map, told.place, id));
  }
  at("detail").focus({ preventScroll: true });
  at("detail").scrollIntoView({ block: "nearest" });
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

async function trust() {
  const body = state.bodies.get(state.open) ?? state.bodies.get(state.open.replace(/ \(\d+\)$/, ""));
  at("trust").disabled = true;
  try {
    await ask("/v1/references", body);
    state.map = null;
    await loadModel();
    await score(state.sent);
    await open(state.open);
  } finally { at("trust").disabled = false; }
}

async function readFile(file) {
  at("text").value = await file.text();
  const ending = file.name.split(".").pop().toLowerCase();
  at("format").value = { smi: "smiles", jsonl: "json", json: "json" }[ending] ?? "auto";
  await submit();
}

at("form").addEventListener("submit", (event) => { event.preventDefault(); guarded(submit); });
at("file").addEventListener("change", (event) => { if (event.target.files[0]) guarded(() => readFile(event.target.files[0])); });
at("trust").addEventListener("click", () => guarded(trust));
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  at("token-form").hidden = true;
  guarded(loadModel);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  at("input").addEventListener(kind, (event) => {
    event.preventDefault();
    at("input").classList.toggle("drop", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) guarded(() => readFile(event.dataTransfer.files[0]));
  });
}
guarded(loadModel);
