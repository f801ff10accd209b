// SVG pictures: graphs with pan and zoom, the map of the references, the histogram of scores, bars.

const SPACE = "http://www.w3.org/2000/svg";

function make(name, attributes, text) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

export function showGraph(drawing) {
  const svg = document.importNode(new DOMParser().parseFromString(drawing.svg, "image/svg+xml").documentElement, true);
  svg.tabIndex = 0;
  svg.setAttribute("aria-label", `${svg.getAttribute("aria-label")}; arrow keys move, plus and minus zoom`);
  movable(svg);
  return svg;
}

function movable(svg) {
  const [, , fullWidth, fullHeight] = svg.getAttribute("viewBox").split(" ").map(Number);
  let [x, y, width] = [0, 0, fullWidth];
  let held = null;
  const height = () => (width * fullHeight) / fullWidth;
  const show = () => svg.setAttribute("viewBox", `${x} ${y} ${width} ${height()}`);
  const zoom = (factor, atX = 0.5, atY = 0.5) => {
    const before = [width, height()];
    width = Math.min(fullWidth * 2, Math.max(fullWidth / 12, width * factor));
    x += (before[0] - width) * atX;
    y += (before[1] - height()) * atY;
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
  const size = 320;
  const known = map.anomaly_places ?? [];
  const points = [...map.places, ...known, query];
  const low = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const high = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const scale = (size - 32) / (Math.max(high[0] - low[0], high[1] - low[1]) || 1);
  const at = (point) => [0, 1].map((axis) => size / 2 + (axis ? -1 : 1) * (point[axis] - (low[axis] + high[axis]) / 2) * scale);
  const svg = make("svg", { class: "map", viewBox: `0 0 ${size} ${size}`, role: "img",
    "aria-label": `map of ${map.places.length} normal references, ${known.length} known anomalies and ${id}` });
  const dot = (point, kind, radius, title) => {
    const [cx, cy] = at(point);
    const mark = kind === "known" ? make("path", { class: kind, d: `M${cx} ${cy - 6}l5 10h-10z` }) : make("circle", { class: kind, cx, cy, r: radius });
    mark.append(make("title", {}, title));
    svg.append(mark);
  };
  map.places.forEach((point, i) => dot(point, "reference", 3, map.ids[i]));
  known.forEach((point, i) => dot(point, "known", 0, `known anomaly ${map.anomaly_ids[i]}`));
  dot(query, "query", 7, id);
  return svg;
}

export function drawHistogram(references, scores, threshold, move) {
  const [width, height, margin, bins] = [innerWidth < 760 ? 420 : 900, 150, 20, 50];
  const all = [...references, ...scores];
  const low = Math.min(...all);
  const high = Math.max(...all) > low ? Math.max(...all) : low + 1;
  const at = (value) => margin + ((value - low) / (high - low)) * (width - 2 * margin);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "distribution of scores: normal references in grey, these graphs in colour" });
  for (const [kind, values] of [["reference", references], ["query", scores]]) {
    const counts = new Array(bins).fill(0);
    for (const value of values) counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))] += 1;
    const most = Math.max(...counts) || 1;
    const step = (width - 2 * margin) / bins;
    counts.forEach((count, i) => {
      const tall = (count / most) * (height - 2 * margin - 10);
      if (count) svg.append(make("rect", { class: kind, x: margin + i * step, y: height - margin - tall, width: step, height: tall }));
    });
  }
  for (let i = 0; i <= 4; i += 1) {
    const value = low + (i / 4) * (high - low);
    svg.append(make("text", { x: at(value), y: height - 4 }, value.toPrecision(2).replace("-", "−")));
  }
  const x = at(Math.min(high, Math.max(low, threshold)));
  const grip = make("line", { class: "grip", x1: x, x2: x, y1: 4, y2: height - margin });
  svg.append(make("line", { class: "threshold", x1: x, x2: x, y1: 4, y2: height - margin }), grip);
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect(); // the drawing is replaced while the threshold moves
    const follow = (next) => {
      const place = ((next.clientX - box.left) / box.width) * width;
      move(low + ((place - margin) / (width - 2 * margin)) * (high - low));
    };
    document.addEventListener("pointermove", follow);
    document.addEventListener("pointerup", () => document.removeEventListener("pointermove", follow), { once: true });
  });
  return { svg, low, high };
}

// Scores in the order of arrival, with a running median, the threshold, and alarms of drift.
export function drawTime(rows, threshold, alarms) {
  const [width, height, margin] = [innerWidth < 760 ? 420 : 900, 130, 20];
  const scores = rows.map((row) => row.score);
  const low = Math.min(...scores);
  const high = Math.max(...scores) > low ? Math.max(...scores) : low + 1;
  const x = (place) => margin + (place / Math.max(1, rows.length - 1)) * (width - 2 * margin);
  const y = (value) => height - margin - ((value - low) / (high - low)) * (height - 2 * margin);
  const found = alarms.length ? `drift was found ${alarms.length === 1 ? "once" : `${alarms.length} times`}` : "no drift was found";
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `scores of ${rows.length} graphs in the order of arrival; ${found}` });
  for (const [place, began] of alarms) {
    svg.append(make("rect", { class: "drift", x: x(began), y: 4, width: Math.max(1, x(place) - x(began)), height: height - margin - 4 }),
      make("line", { class: "alarm", x1: x(place), x2: x(place), y1: 4, y2: height - margin }));
  }
  rows.forEach((row, place) => {
    const dot = make("circle", { class: row.flagged ? "flagged" : "reference", cx: x(place), cy: y(row.score), r: rows.length > 300 ? 1.5 : 3 });
    dot.append(make("title", {}, `${place + 1}: ${row.id}`));
    svg.append(dot);
  });
  const half = Math.max(2, Math.round(rows.length / 40));
  const medians = scores.map((_, place) => {
    const near = scores.slice(Math.max(0, place - half), place + half + 1).sort((a, b) => a - b);
    return `${x(place)},${y(near[near.length >> 1])}`;
  });
  svg.append(make("polyline", { class: "median", points: medians.join(" ") }));
  if (threshold >= low && threshold <= high) svg.append(make("line", { class: "threshold", x1: margin, x2: width - margin, y1: y(threshold), y2: y(threshold) }));
  svg.append(make("text", { x: margin + 8, y: height - 4 }, "1"), make("text", { x: width - margin - 8, y: height - 4 }, String(rows.length)));
  return svg;
}

export function drawBars(values, unit) {
  const entries = Object.entries(values).sort((a, b) => b[1] - a[1]).filter(([, value]) => unit === "" || value >= 0.5);
  const largest = Math.max(...entries.map(([, value]) => Math.abs(value))) || 1;
  return entries.map(([name, value]) => {
    const row = document.createElement("div");
    row.className = "bar";
    const label = document.createElement("span");
    label.textContent = name;
    const svg = make("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(make("rect", { y: 1, width: (100 * Math.max(value, 0)) / largest, height: 8 }));
    const number = document.createElement("output");
    number.textContent = unit === "%" ? `${value.toFixed(0)}%` : value.toFixed(3).replace("-", "−");
    row.append(label, svg, number);
    return row;
  });
}
