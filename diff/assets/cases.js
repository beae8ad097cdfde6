// The list: filters, order, pages, keys. A page holds a hundred cases, so that no number of them makes the document slow.

const PAGE = 100;
const SIGNS = { newly_failing: "▼", newly_passing: "▲", still_failing: "■", still_passing: "●", incomparable: "?" };
const COLUMNS = [["case", "id"], ["target", "target"], ["verdict", "change"], ["clocks", "clocks"], ["move", "move"], ["what moved", ""]];
const FILTERS = ["change", "clocks", "move", "codes", "tags"];
const { cases, meaning } = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const texts = new Map();
let shown = cases, page = 0, order = ["", 1];

function haystack(one) {
  if (!texts.has(one)) texts.set(one, strings(one).join("\n").toLowerCase());
  return texts.get(one);
}

function strings(value) {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(strings) : [];
}

function values(one, name) {
  const value = one[name] ?? [];
  return Array.isArray(value) ? value : [value];
}

function fill(name) {
  const counts = new Map();
  for (const one of cases) for (const value of values(one, name)) counts.set(value, (counts.get(value) || 0) + 1);
  const select = byId(name);
  select.append(element("option", { value: "" }, "any"));
  for (const value of [...counts.keys()].sort()) select.append(element("option", { value: `=${value}` }, `${value.replaceAll("_", " ")} (${counts.get(value)})`));
  select.disabled = counts.size === 0;
}

function choose() {
  const wanted = FILTERS.map((name) => [name, byId(name).value.slice(1)]).filter(([, value]) => value);
  const text = byId("text").value.toLowerCase();
  shown = cases.filter((one) => wanted.every(([name, value]) => values(one, name).includes(value)) && (!text || haystack(one).includes(text)));
  const [name, direction] = order;
  if (name) {
    const key = (one) => values(one, name).join(" ");
    const keys = new Map(shown.map((one) => [one, key(one)]));
    shown = [...shown].sort((a, b) => direction * (keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : 0));
  }
  page = 0;
  show();
}

function show() {
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  const start = page * PAGE;
  byId("body").replaceChildren(...shown.slice(start, start + PAGE).map((one, i) => caseRow(one, start + i)));
  byId("count").textContent = shown.length === cases.length ? `${cases.length} case${cases.length === 1 ? "" : "s"}` : `${shown.length} of ${cases.length} cases`;
  byId("page").textContent = `page ${page + 1} of ${pages}`;
  byId("pages").hidden = pages === 1;
  byId("previous").disabled = page === 0;
  byId("next").disabled = page + 1 >= pages;
}

function caseRow(one, number) {
  const button = element("button", { type: "button", class: "case", "aria-expanded": "false", "aria-controls": `details-${number}` }, one.id);
  const sign = element("span", { "aria-hidden": "true" }, `${SIGNS[one.change]} `);
  const cells = [
    [button], [one.target], [element("span", { class: `badge ${one.change}` }, sign, one.change.replaceAll("_", " "))],
    [(one.clocks || []).join(" + ")], [one.move === "none" ? "" : element("span", { class: "move" }, ...breakable(one.move))], [cut(one.what || "", 200)],
  ];
  const row = element("tr", { role: "row", class: "case" });
  cells.forEach((parts, i) => row.append(element("td", { role: "cell", "data-label": COLUMNS[i][0], ...(parts[0] === "" ? { class: "empty" } : {}) }, ...parts)));
  button.addEventListener("click", () => toggle(one, button, row, number));
  return row;
}

// A long name breaks after an underscore, and not within a word.
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part) => [part, element("wbr")]);
}

function cut(text, length) {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function toggle(one, button, row, number) {
  if (button.getAttribute("aria-expanded") === "true") return close(button);
  const cell = element("td", { role: "cell", colspan: String(COLUMNS.length) });
  cell.append(details(one, meaning));
  row.after(element("tr", { role: "row", class: "details", id: `details-${number}` }, cell));
  button.setAttribute("aria-expanded", "true");
}

function close(button) {
  byId(button.getAttribute("aria-controls"))?.remove();
  button.setAttribute("aria-expanded", "false");
  button.focus();
}

function headers() {
  for (const [title, name] of COLUMNS) {
    const cell = element("th", { scope: "col", role: "columnheader", ...(name ? { "aria-sort": "none" } : {}) });
    if (name) {
      const button = element("button", { type: "button" }, title);
      button.addEventListener("click", () => sortBy(name, order[0] === name ? -order[1] : 1));
      cell.dataset.name = name;
      cell.append(button, element("span", { class: "arrow", "aria-hidden": "true" }));
      byId("order").append(element("option", { value: name }, title));
    } else cell.append(title);
    byId("head").append(cell);
  }
  byId("order").prepend(element("option", { value: "", selected: "" }, "what moved first"));
}

function sortBy(name, direction) {
  order = [name, direction];
  for (const cell of byId("head").querySelectorAll("[data-name]")) {
    const here = cell.dataset.name === name;
    cell.setAttribute("aria-sort", !here ? "none" : direction > 0 ? "ascending" : "descending");
    cell.querySelector(".arrow").textContent = !here ? "" : direction > 0 ? " ↑" : " ↓";
  }
  byId("order").value = name;
  choose();
}

function turn(by) {
  page += by;
  show();
  byId("cases").focus();
}

function keys(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    byId("text").focus();
  } else if (event.key === "Escape" && event.target !== byId("text")) {
    const open = [...byId("body").querySelectorAll('[aria-expanded="true"]')];
    const inside = event.target.closest?.("tr.details")?.id ?? event.target.getAttribute?.("aria-controls");
    const button = open.find((one) => one.getAttribute("aria-controls") === inside) ?? open.at(-1);
    if (button) close(button);
  }
}

FILTERS.forEach(fill);
headers();
let waiting = 0;
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("filter").addEventListener("reset", () => setTimeout(() => sortBy("", 1)));
byId("text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 120); });
FILTERS.forEach((name) => byId(name).addEventListener("change", choose));
byId("order").addEventListener("change", (event) => sortBy(event.target.value, 1));
byId("previous").addEventListener("click", () => turn(-1));
byId("next").addEventListener("click", () => turn(1));
document.addEventListener("keydown", keys);
for (const id of ["filter", "list", "keys"]) byId(id).hidden = false;
show();
