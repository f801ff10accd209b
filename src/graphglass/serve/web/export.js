// The ranking as a file.

const NAMES = ["rank", "id", "score", "p_value", "flagged", "marked", "nodes", "edges"];

// A spreadsheet would run text that starts like this as a formula; -5 is a number and stays.
const defused = (text) => (/^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text);

function cell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? defused(value) : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function asCsv(rows) {
  return [NAMES.join(","), ...rows.map((row) => NAMES.map((name) => cell(row[name])).join(","))].join("\n") + "\n";
}

export function asJson(rows) {
  return JSON.stringify(rows.map((row) => Object.fromEntries(NAMES.map((name) => [name, row[name] ?? null]))), null, 1);
}

export function save(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
