// The ranking as a file.

const NAMES = ["rank", "id", "score", "p_value", "flagged", "reference", "marked", "nodes", "edges", "reason"];

// A spreadsheet would run text that starts like this as a formula; -5 is a number and stays.
const defused = (text) => (/^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text);

function cell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? defused(value) : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The user's own columns, under another name where a result has theirs.
function flat(rows) {
  const own = [...new Set(rows.flatMap((row) => Object.keys(row.columns ?? {})))];
  const free = (name) => (NAMES.includes(name) ? `input_${name}` : name);
  const lines = rows.map((row) => ({ ...Object.fromEntries(NAMES.map((name) => [name, row[name] ?? null])),
    ...Object.fromEntries(own.map((name) => [free(name), row.columns?.[name] ?? null])) }));
  return { names: [...NAMES, ...own.map(free)], lines };
}

export function asCsv(rows) {
  const { names, lines } = flat(rows);
  return [names, ...lines.map((line) => names.map((name) => line[name]))].map((cells) => cells.map(cell).join(",")).join("\n") + "\n";
}

export function asJson(rows) {
  return JSON.stringify(flat(rows).lines, null, 1);
}

export function save(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
