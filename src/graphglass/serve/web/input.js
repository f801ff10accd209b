// From pasted text or a file to the graphs of a request.

export function parseInput(text, format) {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  if (!lines.some(Boolean)) throw new Error("Paste or open some graphs first.");
  const kind = format === "auto" ? detect(lines) : format;
  const items = kind === "json" ? jsonRecords(text, lines) : kind === "edges" ? edgeLists(lines) : smilesLines(lines);
  if (!items.length) throw new Error("There is no graph in this text.");
  return uniquelyNamed(items).map((item) => ({ id: item.id, body: kind === "smiles" ? { smiles: [item] } : { graphs: [item] } }));
}

function uniquelyNamed(items) {
  const seen = new Map();
  const taken = new Set(items.map((item) => item.id));
  return items.map((item) => {
    let count = (seen.get(item.id) ?? 0) + 1;
    while (count > 1 && taken.has(`${item.id} (${count})`)) count += 1;
    seen.set(item.id, count);
    return count === 1 ? item : { ...item, id: `${item.id} (${count})` };
  });
}

function detect(lines) {
  const filled = lines.filter(Boolean);
  if (/^[[{]/.test(filled[0])) return "json";
  return /graph_id/i.test(filled[0]) || /^\d+[\s,;]+\d+/.test(filled[0]) ? "edges" : "smiles"; // no SMILES starts with a digit
}

function jsonRecords(text, lines) {
  const records = wholeDocument(text) ?? lines.filter(Boolean).map((line, i) => {
    try { return JSON.parse(line); } catch { throw new Error(`Record ${i + 1} is not JSON.`); }
  });
  return records.map((record, i) => ({ ...record, id: shortName(String(record?.id ?? `graph ${i + 1}`)) }));
}

function wholeDocument(text) {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : Array.isArray(value.graphs) ? value.graphs : [value];
  } catch { return null; }
}

function shortName(name) { return name.length > 180 ? `${name.slice(0, 179)}…` : name; }

function smilesLines(lines) {
  return lines.map((line, i) => {
    const [smiles, ...name] = line.split(/\s+/);
    return { smiles, id: shortName(name.join(" ") || smiles || `line ${i + 1}`) };
  }).filter((molecule) => molecule.smiles && !molecule.smiles.startsWith("#") && molecule.smiles.toLowerCase() !== "smiles");
}

function edgeLists(lines) {
  const cells = (line) => line.split(/[\s,;]+/).filter(Boolean);
  const table = /graph_id/i.test(lines.find(Boolean));
  const graphs = new Map();
  let number = 1;
  for (const line of table ? lines.slice(lines.findIndex(Boolean) + 1) : lines) {
    if (!line) { if (!table && graphs.has(`graph ${number}`)) number += 1; continue; }
    const parts = cells(line);
    const id = table ? parts.shift() : `graph ${number}`;
    if (parts.length < 2) throw new Error(`An edge names two nodes, found "${line}".`);
    if (!graphs.has(id)) graphs.set(id, []);
    graphs.get(id).push([parts[0], parts[1]]);
  }
  return [...graphs].map(([id, edges]) => ({ id: shortName(id), edges, nodes: [...new Set(edges.flat())].map((node) => ({ id: node })) }));
}
