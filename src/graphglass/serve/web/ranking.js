// The ranked table: sorted by any column, filtered, and used by keyboard.

const COLUMNS = [["rank", "rank"], ["id", "id"], ["score", "score"], ["change", "change"], ["p_value", "p-value"],
  ["flagged", "verdict"], ["nodes", "nodes"], ["edges", "edges"]];
const order = { key: "rank", direction: 1 };

const FILTERS = { all: () => true, flagged: (row) => row.flagged, rest: (row) => !row.flagged, marked: (row) => row.marked };

export function sortedRows(rows) {
  return [...rows].sort((a, b) => order.direction * compare(a[order.key], b[order.key]));
}

export function filtered(rows, text, kind) {
  return rows.filter((row) => FILTERS[kind](row) && row.id.toLowerCase().includes(text.trim().toLowerCase()));
}

export function showRanking(heads, body, rows, selected, open) {
  const again = () => showRanking(heads, body, rows, selected, open);
  const shown = COLUMNS.filter(([name]) => !rows.length || rows.some((row) => row[name] !== null && row[name] !== undefined));
  if (rows.length && !shown.some(([name]) => name === order.key)) Object.assign(order, { key: "rank", direction: 1 });
  const focused = heads.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  heads.replaceChildren(...shown.map(([name, title]) => headCell(name, title, again)));
  heads.querySelector(`[data-key="${focused}"]`)?.focus();
  body.replaceChildren(...sortedRows(rows).map((row) => line(row, shown, row.id === selected, open)));
}

function compare(one, two) {
  return typeof one === "string" ? one.localeCompare(two, undefined, { numeric: true }) : Number(one) - Number(two);
}

function headCell(name, title, again) {
  const head = document.createElement("th");
  head.className = name;
  head.scope = "col";
  const sorted = name === order.key;
  if (sorted) head.setAttribute("aria-sort", order.direction > 0 ? "ascending" : "descending");
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.key = name;
  button.textContent = title;
  button.addEventListener("click", () => {
    // Numbers worth looking at are the large ones, so a first click puts them on top.
    const first = name === "score" || name === "flagged" || name === "nodes" || name === "edges" ? -1 : 1;
    Object.assign(order, { key: name, direction: sorted ? -order.direction : first });
    again();
  });
  head.append(button);
  return head;
}

function line(row, shown, selected, open) {
  const element = document.createElement("tr");
  element.tabIndex = 0;
  element.dataset.id = row.id;
  element.setAttribute("aria-selected", String(selected));
  for (const [name] of shown) {
    const cell = document.createElement("td");
    cell.className = name;
    cell.textContent = shownValue(name, row);
    if (name === "flagged") cell.classList.toggle("flag", row.marked ? row.marked === "anomaly" : row.flagged);
    if (name === "change" && row.change) cell.classList.add(row.change < 0 ? "fell" : "rose");
    element.append(cell);
  }
  element.addEventListener("click", () => open(row.id));
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(row.id); }
    const next = event.key === "ArrowDown" ? element.nextSibling : event.key === "ArrowUp" ? element.previousSibling : null;
    if (next) { event.preventDefault(); next.focus(); }
  });
  return element;
}

function shownValue(name, row) {
  const value = row[name];
  if (value === null || value === undefined) return "";
  if (name === "flagged") return row.marked || (value ? "flagged" : "");
  if (name === "change") return Math.abs(value) < 5e-4 ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
  return name === "score" || name === "p_value" ? value.toFixed(4).replace("-", "−") : String(value);
}
