// The ranked table: sorted by any column, filtered, and used by keyboard.

const COLUMNS = [["rank", "rank"], ["id", "id"], ["score", "score"], ["change", "change"], ["p_value", "p-value"],
  ["flagged", "verdict"], ["nodes", "nodes"], ["edges", "edges"], ["reason", "first reason"]];
const OWN = "own:"; // before the names of the user's columns
const order = { key: "rank", direction: 1 };

const FILTERS = { all: () => true, flagged: (row) => row.flagged, rest: (row) => !row.flagged, marked: (row) => row.marked };

export function sortedRows(rows) {
  return [...rows].sort((a, b) => order.direction * compare(value(a, order.key), value(b, order.key)));
}

export function filtered(rows, text, kind) {
  const wanted = text.trim().toLowerCase();
  const words = (row) => [row.id, ...Object.values(row.columns ?? {})].join("\n").toLowerCase();
  return rows.filter((row) => FILTERS[kind](row) && words(row).includes(wanted));
}

const value = (row, name) => (name.startsWith(OWN) ? row.columns?.[name.slice(OWN.length)] : row[name]);

export function showRanking(heads, body, rows, selected, open) {
  const again = () => showRanking(heads, body, rows, selected, open);
  const own = [...new Set(rows.flatMap((row) => Object.keys(row.columns ?? {})))].map((name) => [OWN + name, name]);
  // A column of names says nothing that the ids do not say. First reasons come later, where anything is flagged.
  const says = (row, name) => name === "id" || (value(row, name === "reason" ? "flagged" : name) ?? row.id) !== row.id;
  const shown = [...COLUMNS, ...own].filter(([name]) => !rows.length || rows.some((row) => says(row, name)));
  if (rows.length && !shown.some(([name]) => name === order.key)) Object.assign(order, { key: "rank", direction: 1 });
  const focused = heads.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  heads.replaceChildren(...shown.map(([name, title]) => headCell(name, title, again)));
  heads.querySelector(`[data-key="${focused}"]`)?.focus();
  const at = body.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  body.replaceChildren(...sortedRows(rows).map((row) => line(row, shown, row.id === selected, open)));
  if (at !== null) [...body.children].find((row) => row.dataset.id === at)?.focus({ preventScroll: true });
}

function compare(one, two) {
  const text = typeof one === "string" || typeof two === "string";
  return text ? String(one ?? "").localeCompare(String(two ?? ""), undefined, { numeric: true }) : Number(one) - Number(two);
}

function headCell(name, title, again) {
  const head = document.createElement("th");
  head.className = name.startsWith(OWN) ? "own" : name;
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
    cell.className = name.startsWith(OWN) ? "own" : name;
    cell.textContent = shownValue(name, row);
    if (cell.className === "own" || name === "reason") cell.title = cell.textContent;
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
  const found = value(row, name);
  if (found === null || found === undefined) return "";
  if (name === "flagged") return row.marked || [found ? "flagged" : "", row.reference ? "reference" : ""].filter(Boolean).join(", ");
  if (name === "change") return Math.abs(found) < 5e-4 ? "0" : `${found > 0 ? "+" : "−"}${Math.abs(found).toFixed(3)}`;
  return name === "score" || name === "p_value" ? found.toFixed(4).replace("-", "−") : String(found);
}
