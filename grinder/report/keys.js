/* Keys, buttons, and the start. */

const open_row = i => { if (shown[i] !== undefined) location.hash = tabs[tab].route + shown[i]; };
const in_code = () => source && document.activeElement?.closest?.(".code");

function choose_tab(name) { tab = name; fill_list(); }

function sort_next() {
  const all = ["self", "total", "calls", "name", ...cover ? ["ran"] : []];
  sort = all[(all.indexOf(sort) + 1) % all.length];
  ascending = false;
  fill_list();
}

function is_dark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function name_theme() { $("theme").textContent = is_dark() ? "Light" : "Dark"; }

function switch_theme() {
  const theme = is_dark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("umbra-theme", theme); } catch (error) { /* for this time, then */ }
  name_theme();
}

function walk_to(callers) {
  const [, f] = /^#f(\d+)(?:@|$)/.exec(location.hash) || [];
  const next = f && neighbours(model, +f, callers).find(row => row.f && row.f !== +f);
  if (next) location.hash = "f" + next.f;
}

function move(by) {
  if (in_code()) source.list.move_to(source.list.cursor + by);
  else list.move_to(list.cursor + by);
}

const actions = {
  "/": () => { $("search").focus(); $("search").select(); },
  "j": () => move(1), "ArrowDown": () => move(1),
  "k": () => move(-1), "ArrowUp": () => move(-1),
  "PageDown": () => move(25), "PageUp": () => move(-25),
  "Enter": () => in_code() ? source.toggle() : open_row(list.cursor),
  "h": () => $("list").focus(),
  "l": () => main.querySelector(".code")?.focus(),
  "n": () => source?.step(1), "p": () => source?.step(-1),
  "c": () => walk_to(true), "e": () => walk_to(false),
  "[": () => history.back(), "]": () => history.forward(),
  "o": () => { location.hash = ""; },
  "+": () => zoom_graph?.(1.25), "=": () => zoom_graph?.(1.25), "-": () => zoom_graph?.(0.8), "0": () => zoom_graph?.(0),
  "1": () => choose_tab("functions"), "2": () => choose_tab("files"), "3": () => choose_tab("modules"),
  "Escape": () => choose_range(null), "<": () => shift_range(-1), ">": () => shift_range(1),
  "s": sort_next, "t": switch_theme, "?": () => $("help").showModal(),
};

function in_search(event) {
  if (event.key === "Escape") { $("search").value = ""; fill_list(); $("list").focus(); }
  else if (event.key === "Enter") { open_row(Math.max(0, list.cursor)); $("list").focus(); }
  else if (event.key === "ArrowDown") { move(1); event.preventDefault(); }
  else if (event.key === "ArrowUp") { move(-1); event.preventDefault(); }
}

document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target === $("search")) return in_search(event);
  if (event.target.closest("select")) return;
  if (event.key === "Enter" && event.target.closest("a, button")) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
};

function choose_threads() {
  const value = $("thread").value;
  const every = [...data.parts.keys()];
  const [kind, number] = value.split(":");
  whole_model = build_model(kind === "part" ? [+number] : kind === "process" ? every.filter(i => data.parts[i].process === +number) : every);
  model = null;
  route();
}

function fill_threads() {
  const option = (value, text) => `<option value="${value}">${escape_html(text)}</option>`;
  let html = option("all", data.parts.length === 1 ? data.parts[0].name : `All ${data.parts.length} threads`);
  if (data.processes.name.length > 1) data.processes.name.forEach((name, i) => { html += option("process:" + i, "Process " + name); });
  if (data.parts.length > 1) data.parts.forEach((part, i) => { html += option("part:" + i, part.name); });
  $("thread").innerHTML = html;
  $("thread-label").hidden = data.parts.length === 1;
  $("thread").onchange = choose_threads;
}

$("title").textContent = data.title;
document.querySelector("[data-sort=calls]").textContent = Counts;
$("home").title = data.title + ": overview (o)";
if (data.sampled) $("times").textContent = is_stacked ? "Whole stacks were sampled; nothing was instrumented, and calls were not counted." : "Times are of the processor, by samples; waiting is not among them.";
if (cover) {
  document.body.classList.add("covered");
  $("heads").insertAdjacentHTML("beforeend", `<button class=ran data-sort=ran title="Of a file the lines, else the blocks">Ran</button>`);
}
if (!columns) document.body.classList.add("untimed");
list = new Virtual($("list"), 28, list_row);
$("list").onclick = event => {
  const row = event.target.closest("[data-row]");
  if (!row) return;
  list.cursor = +row.dataset.row;
  open_row(list.cursor);
};
$("search").oninput = fill_list;
$("tabs").onclick = event => { if (event.target.dataset.tab) choose_tab(event.target.dataset.tab); };
$("heads").onclick = event => {
  const next = event.target.dataset.sort;
  if (!next) return;
  ascending = next === sort && !ascending;
  sort = next;
  fill_list();
};
$("range-all").onclick = () => choose_range(null);
if (!has_hits) for (const element of document.querySelectorAll("#help .of-range")) element.remove();
$("theme").onclick = switch_theme;
$("keys").onclick = () => $("help").showModal();
matchMedia("(prefers-color-scheme: dark)").onchange = name_theme;
name_theme();
fill_threads();
choose_threads();
new ResizeObserver(() => requestAnimationFrame(() => redraw_graph?.())).observe(main);
make_choosable(main);
window.onhashchange = route;
document.body.dataset.ready = "1";
