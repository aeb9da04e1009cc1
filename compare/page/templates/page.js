"use strict";
document.documentElement.classList.add("scripted");
const $ = (id) => document.getElementById(id);

// What is packed to keep the page small: rows of the table, and groups in full.
async function unpacked() {
  const text = $("packed")?.textContent;
  if (!text) return { rows: [], details: [], data: {} };
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Downloads: what stands hidden beside a button, or is packed, as a file.
function setUpDownloads(more) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".save");
    if (button) save(button.dataset, $(button.dataset.from)?.textContent ?? more[button.dataset.from]);
  });
}
function save(data, text) {
  const json = data.kind === "JSON";
  const file = new Blob([text], { type: json ? "application/json" : "text/csv;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = data.name.replace(/[^\p{L}\p{N}._-]+/gu, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The table of groups: filters and sorting.
function setUpTable(table, more) {
  const body = table.tBodies[0];
  const place = [...body.rows].find((row) => "unread" in row.dataset);
  if (place) place.insertAdjacentHTML("beforebegin", more.join(""));
  else body.insertAdjacentHTML("beforeend", more.join(""));
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
    $("shown").textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} lines`;
  };
  if (name) {
    name.addEventListener("input", filter);
    says.addEventListener("change", filter);
    filter();
  }

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
function setUpDetails(details, more) {
  const opened = details.children.length;
  const found = (name) => {
    const packed = more[Number(name.slice("group-".length)) - opened - 1];
    if (!$(name) && packed) details.insertAdjacentHTML("beforeend", packed);
    return $(name);
  };
  const show = (address) => {
    const wanted = /^#group-\d+$/.test(address) ? found(address.slice(1)) : null;
    const article = wanted || details.querySelector(".chosen") || details.firstElementChild;
    for (const other of details.querySelectorAll(".chosen")) other.classList.remove("chosen");
    article.classList.add("chosen");
    if ($("group-choice")) $("group-choice").value = article.id;
    if (wanted) {
      article.scrollIntoView();
      article.focus({ preventScroll: true });
    }
  };
  $("group-choice")?.addEventListener("change", (event) => { location.hash = event.target.value; });
  addEventListener("hashchange", () => show(location.hash));
  show(location.hash);
}

unpacked().then((more) => {
  setUpDownloads(more.data);
  if ($("table")) setUpTable($("table"), more.rows);
  if ($("details")) setUpDetails($("details"), more.details);
});
