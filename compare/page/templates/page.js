"use strict";
document.documentElement.classList.add("scripted");
const $ = (id) => document.getElementById(id);

// Downloads: what stands hidden beside a button, as a file.
document.addEventListener("click", (event) => {
  const button = event.target.closest(".save");
  if (!button) return;
  const json = button.dataset.kind === "JSON";
  const text = $(button.dataset.from).textContent;
  const file = new Blob([text], { type: json ? "application/json" : "text/csv;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = button.dataset.name.replace(/[^\p{L}\p{N}._-]+/gu, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

// The table of groups: filters and sorting.
const table = $("table");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const name = $("name-filter");
  const says = $("says-filter");
  const filter = () => {
    const wanted = name.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = row.cells[0].textContent.toLowerCase().includes(wanted);
      row.hidden = !(fits && (!says.value || row.dataset.says === says.value));
      shown += !row.hidden;
    }
    $("shown").textContent = `${shown} of ${rows.length} lines`;
  };
  name.addEventListener("input", filter);
  says.addEventListener("change", filter);
  filter();

  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell || cell.colSpan > 1) return null;
    const text = cell.dataset.v ?? (cell.firstElementChild?.textContent || cell.textContent);
    const number = Number(text.split("-").pop().replaceAll(",", ""));
    if (column && !Number.isNaN(number) && text.trim() !== "-" && text.trim() !== "") return number;
    return text.trim() === "-" || !text.trim() ? null : text.trim();
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number"
    ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (!event.target.closest(".sort") || !head) return;
    const numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map((row, place) => [value(row, head.cellIndex), place, row]);
    keyed.sort(([a, i], [b, j]) => {
      // What has no value stays at the end, whichever way it is sorted.
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return (down ? compare(b, a) : compare(a, b)) || i - j;
    });
    body.append(...keyed.map(([, , row]) => row));
  });
}

// One group in full: the worst, or that of the address.
const details = $("details");
let packed = $("packed");
async function unpack() {
  if (!packed) return;
  const text = packed.textContent;
  packed = null;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const found = JSON.parse(await new Response(stream).text());
  details.insertAdjacentHTML("beforeend", found.join(""));
}
async function show(address) {
  const wanted = /^#group-\d+$/.test(address) ? address.slice(1) : null;
  if (wanted && !$(wanted)) await unpack();
  const article = (wanted && $(wanted)) || details.querySelector(".chosen") || details.firstElementChild;
  for (const other of details.querySelectorAll(".chosen")) other.classList.remove("chosen");
  article.classList.add("chosen");
  if ($("group-choice")) $("group-choice").value = article.id;
  if (wanted && $(wanted)) {
    article.scrollIntoView();
    article.focus({ preventScroll: true });
  }
}
if (details) {
  $("group-choice")?.addEventListener("change", (event) => { location.hash = event.target.value; });
  addEventListener("hashchange", () => show(location.hash));
  show(location.hash);
}
