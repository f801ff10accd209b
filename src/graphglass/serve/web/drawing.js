// SVG pictures: a graph with pan and zoom, the map of the sphere, bars.

const SPACE = "http://www.w3.org/2000/svg";

function make(name, attributes, text) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

export function drawGraph(drawing) {
  const size = 260;
  const margin = 20;
  const svg = make("svg", { class: "graph", viewBox: `0 0 ${size} ${size}`, tabindex: 0, role: "img",
    "aria-label": `graph of ${drawing.total} nodes and ${drawing.edges.length} edges; arrow keys move, plus and minus zoom` });
  const place = ([x, y]) => [margin + x * (size - 2 * margin), margin + y * (size - 2 * margin)];
  const radius = Math.min(9, Math.max(2.5, 60 / Math.sqrt(drawing.places.length)));
  for (const [one, two] of drawing.edges) {
    const [x1, y1] = place(drawing.places[one]);
    const [x2, y2] = place(drawing.places[two]);
    svg.append(make("line", { x1, y1, x2, y2, "stroke-width": radius / 4 }));
  }
  const strengths = centred(drawing.attribution);
  drawing.places.forEach((spot, node) => {
    const [cx, cy] = place(spot);
    const strength = strengths?.[node] ?? 0;
    const kind = strength > 0.05 ? "hot" : strength < -0.05 ? "cold" : "";
    if (kind) svg.append(make("circle", { cx, cy, r: radius, class: "under" }));
    const circle = make("circle", { cx, cy, r: radius, class: kind, "fill-opacity": kind ? 0.25 + 0.75 * Math.abs(strength) : 1 });
    const label = drawing.labels[node] ?? "";
    const value = drawing.attribution ? `, attribution ${drawing.attribution[node].toFixed(3)}` : "";
    circle.append(make("title", {}, `node ${drawing.names[node]}${label ? ` (${label})` : ""}${value}`));
    svg.append(circle);
    if (label && label.length <= 2 && radius >= 5) svg.append(make("text", { x: cx, y: cy, "font-size": radius * 1.1 }, label));
  });
  movable(svg, size);
  return svg;
}

function centred(attribution) {
  if (!attribution) return null;
  const ordered = [...attribution].sort((a, b) => a - b);
  const middle = ordered[Math.floor(ordered.length / 2)];
  const largest = Math.max(...attribution.map((value) => Math.abs(value - middle))) || 1;
  return attribution.map((value) => (value - middle) / largest);
}

function movable(svg, size) {
  let [x, y, width] = [0, 0, size];
  let held = null;
  const show = () => svg.setAttribute("viewBox", `${x} ${y} ${width} ${width}`);
  const zoom = (factor, atX = 0.5, atY = 0.5) => {
    const next = Math.min(size * 2, Math.max(size / 12, width * factor));
    x += (width - next) * atX;
    y += (width - next) * atY;
    width = next;
    show();
  };
  svg.addEventListener("wheel", (event) => {
    // A page that scrolls past a drawing goes on scrolling; only the drawing in focus zooms.
    if (document.activeElement !== svg && !event.ctrlKey) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const scale = width / svg.getBoundingClientRect().width;
    x -= (event.clientX - held[0]) * scale;
    y -= (event.clientY - held[1]) * scale;
    held = [event.clientX, event.clientY];
    show();
  });
  svg.addEventListener("keydown", (event) => {
    const step = width / 10;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) { x += moves[event.key][0]; y += moves[event.key][1]; show(); event.preventDefault(); }
    if (event.key === "+" || event.key === "=") zoom(1 / 1.25);
    if (event.key === "-") zoom(1.25);
  });
}

export function drawMap(map, query, id) {
  const size = 300;
  const points = [...map.places, query];
  const low = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const high = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const at = (point) => [0, 1].map((axis) => 14 + ((point[axis] - low[axis]) / ((high[axis] - low[axis]) || 1)) * (size - 28));
  const svg = make("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": `map of ${map.places.length} normal references and ${id}` });
  map.places.forEach((point, i) => {
    const [cx, cy] = at(point);
    const dot = make("circle", { class: "reference", cx, cy: size - cy, r: 3 });
    dot.append(make("title", {}, map.ids[i]));
    svg.append(dot);
  });
  const [cx, cy] = at(query);
  const dot = make("circle", { class: "query", cx, cy: size - cy, r: 7 });
  dot.append(make("title", {}, id));
  svg.append(dot);
  return svg;
}

export function drawBars(contributions) {
  const entries = Object.entries(contributions).sort((a, b) => b[1] - a[1]);
  const largest = Math.max(...entries.map(([, value]) => Math.abs(value))) || 1;
  return entries.map(([name, value]) => {
    const row = document.createElement("div");
    row.className = "bar";
    const label = document.createElement("span");
    label.textContent = name;
    const length = (Math.abs(value) / largest) * 50;
    const svg = make("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(make("rect", { class: value > 0 ? "more" : "less", x: value > 0 ? 50 : 50 - length, y: 1, width: length, height: 8 }),
      make("line", { class: "axis", x1: 50, x2: 50, y1: 0, y2: 10 }));
    const number = document.createElement("output");
    number.textContent = value.toFixed(3).replace("-", "−");
    row.append(label, svg, number);
    return row;
  });
}
