// Sorts a table by the column whose heading is pressed; cells may carry their value in data-value.
for (const head of document.querySelectorAll("table.sortable th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  button.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") !== "descending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const body = head.closest("table").tBodies[0];
    const value = (row) => row.cells[head.cellIndex].dataset.value ?? row.cells[head.cellIndex].textContent;
    const compare = (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true }) || a.rowIndex - b.rowIndex;
    const number = (a, b) => Number(value(a)) - Number(value(b)) || a.rowIndex - b.rowIndex;
    const order = [...body.rows].every((row) => !Number.isNaN(Number(value(row)))) ? number : compare;
    body.append(...[...body.rows].sort((a, b) => (falling ? -1 : 1) * order(a, b)));
  });
  head.replaceChildren(button);
}
