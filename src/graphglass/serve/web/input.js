// From pasted text or a file to the graphs of a request.

export function parseInput(text, format) {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  if (!lines.some(Boolean)) throw new Error("Paste or open some graphs first.");
  const kind = format === "auto" ? detect(lines) : format;
  if (kind === "json") return { graphs: jsonRecords(text, lines), smiles: [] };
  if (kind === "edges") return { graphs: edgeLists(lines), smiles: [] };
  return { graphs: [], smiles: smilesLines(lines) };
}

function detect(lines) {
  const filled = lines.filter(Boolean);
  if (/^[[{]/.test(filled[0])) return "json";
  if (/graph_id/i.test(filled[0])) return "edges";
  return filled.every((line) => /^\d+[\s,;]+\d+$/.test(line)) ? "edges" : "smiles";
}

function jsonRecords(text, lines) {
  const whole = text.trim().startsWith("[") ? JSON.parse(text) : null;
  const records = whole ?? lines.filter(Boolean).map((line, i) => {
    try { return JSON.parse(line); } catch { throw new Error(`Line ${i + 1} is not a JSON record.`); }
  });
  return records.map((record, i) => ({ ...record, id: String(record.id ?? `graph ${i + 1}`) }));
}

function smilesLines(lines) {
  return lines.map((line, i) => {
    const [smiles, ...name] = line.split(/\s+/);
    return { smiles, id: name.join(" ") || smiles || `line ${i + 1}` };
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
  return [...graphs].map(([id, edges]) => ({ id, edges, nodes: [...new Set(edges.flat())].map((node) => ({ id: node })) }));
}
