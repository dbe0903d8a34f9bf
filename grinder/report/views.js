/* What the address names: #f12 a function, #s3 a file (#s3:40 a line), #m1 a module, else all; behind that a range of
   time, as #f12@1204000-1390000 (range.js). */
const $ = id => document.getElementById(id);
const main = $("main");
let model = null, source = null, zoom_graph = null, redraw_graph = null, list = null;
let tab = "functions", sort = "self", ascending = false, shown = [];

const tabs = {
  functions: { rows: () => model.functions, name: f => functions.name[f], figures: () => model, route: "f", lower: () => lower.functions },
  files: { rows: () => [...data.files.path.keys()].filter(g => g && model.files.members[g].length), name: g => data.files.path[g], short: g => file_name[g], figures: () => model.files, route: "s" },
  modules: { rows: () => [...data.modules.keys()].filter(g => model.modules.members[g].length), name: g => data.modules[g] || "unknown module", short: g => module_name[g], figures: () => model.modules, route: "m" },
};

function lower_names(view) {
  lower[view] ||= (view === "files" ? data.files.path : data.modules).map(text => text.toLowerCase());
  return lower[view];
}

function row_slices(view, number) {
  const cache = model.sparks ||= new Map(), key = view + number;
  if (!cache.has(key)) cache.set(key, spark(view === "functions" ? slices_of(model, number) : slices_of_all(model, model[view].members[number])));
  return cache.get(key);
}

function list_row(i, style, cursor) {
  const view = tabs[tab], number = shown[i], figures = view.figures();
  const open = location.hash.slice(1).split(/[:@]/)[0] === view.route + number ? " open" : "";
  return `<div class="row${open}${cursor ? " cursor" : ""}" role=option data-row=${i} ${style} title="${escape_html(view.name(number))}"><span class=name>${escape_html((view.short || view.name)(number))}</span><span class=figure>${calls_text(model, figures.calls[number], format_short)}</span>${row_slices(tab, number)}<span class="figure self">${ranged_share(model, figures.self[number], figures.samples[number])}</span><span class=figure>${ranged_share(model, figures.total[number], figures.total_samples[number])}</span>${share_cell("span", "figure ran", tab, number)}</div>`;
}

function fill_list() {
  const view = tabs[tab], words = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const names = lower_names(tab);
  shown = view.rows().filter(number => words.every(word => names[number].includes(word)));
  if (sort === "name") shown.sort((a, b) => names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0);
  else if (sort === "ran") shown.sort((a, b) => share_order(tab, b) - share_order(tab, a) || a - b);
  else { const figures = view.figures(), column = figures[sort]; shown.sort((a, b) => column[b] - column[a] || figures.total[b] - figures.total[a] || figures.calls[b] - figures.calls[a] || a - b); }
  if (ascending) shown.reverse();
  $("count").textContent = format_count(shown.length);
  for (const button of $("tabs").querySelectorAll("button")) button.setAttribute("aria-selected", button.dataset.tab === tab);
  for (const button of $("heads").querySelectorAll("button")) button.classList.toggle("sorted", button.dataset.sort === sort);
  $("search").placeholder = `Search ${tab}   /`;
  $("list").setAttribute("aria-label", tab);
  list.cursor = shown.length ? 0 : -1;
  $("list").scrollTop = 0;
  list.set_count(shown.length);
  $("heads").style.paddingRight = 14 + $("list").offsetWidth - $("list").clientWidth + "px";
}

/* Where samples met what was inlined from other files. */
const OTHERS_SHOWN = 8;

function other_files(f) {
  const places = new Map();
  for (const spot of spots_of_function(model, f)) {
    if (!spot.file || spot.file === functions.file[f]) continue;
    const key = spot.file + ":" + spot.line, sum = places.get(key) || { ...spot, ns: 0, samples: 0 };
    sum.ns += spot.ns; sum.samples += spot.samples;
    places.set(key, sum);
  }
  const rows = [...places.values()].sort((a, b) => b.ns - a.ns), more = rows.slice(OTHERS_SHOWN);
  if (!rows.length) return "";
  const item = ({ file, line, ns, samples }) => `<li><a href="#s${file}:${line}" title="${escape_html(data.files.path[file])}:${line}">${escape_html(file_name[file])}:${line}</a> <span class=self>${ranged_time(model, ns, samples)}</span></li>`;
  return `<section class="others from-files"><h2>From other files</h2><ul>${rows.slice(0, OTHERS_SHOWN).map(item).join("")}${more.length ? `<li class=quiet>${format_count(more.length)} more, ${format_time(more.reduce((sum, row) => sum + row.ns, 0))}</li>` : ""}</ul></section>`;
}

/* What the compiler put into the function: each with what it took itself, and with all that is inlined into it. */
const INLINED_SHOWN = 12;

function inlined_list(f) {
  const found = new Map();
  for (const { inlined, ns, samples } of spots_of_function(model, f))
    for (const name of new Set(inlined)) {
      const sum = found.get(name) || found.set(name, { name, ...new_costs() }).get(name);
      sum.total += ns; sum.total_samples += samples;
      if (name === inlined[0]) { sum.self += ns; sum.samples += samples; }
    }
  const rows = [...found.values()].sort((a, b) => b.self - a.self || b.total - a.total), more = rows.length - INLINED_SHOWN;
  if (!rows.length) return "";
  const item = row => `<li><span class=name title="${escape_html(row.name)}">${escape_html(row.name)}</span> <span class=self>${self_time(model, row)}</span>${row.total > row.self ? ` <span class=quiet>total ${total_time(model, row)}</span>` : ""}</li>`;
  return `<section class="others inlined"><h2>Inlined here</h2><ul>${rows.slice(0, INLINED_SHOWN).map(item).join("")}${more > 0 ? `<li class=quiet>${format_count(more)} more</li>` : ""}</ul></section>`;
}

const fact = (value, name, kind = "") => `<div class="${kind}"><b>${value}</b><span>${name}</span></div>`;
const percent = value => value ? `<span class=quiet> ${escape_html(format_share(value, model.ns))}%</span>` : "";
const costs_of = (figures, number) => Object.fromEntries(cost_columns.map(name => [name, figures[name][number]]));
const row_of = f => ({ f, ...costs_of(model, f) });
const total_a_call = ({ calls, total, total_samples }) => ranged(model, total, total_samples, ns => format_time(ns / calls), ns => format_time_below(ns / calls));

function facts_of(figures, number) {
  const { calls } = figures, costs = costs_of(figures, number);
  const kind = figures === model ? "functions" : figures === model.files ? "files" : "modules";
  return `<div class=facts>${fact(self_time(model, costs) + percent(costs.self), "self", "self")}${fact(total_time(model, costs) + percent(costs.total), figures === model ? "total" : "total, at least")}${fact(calls_text(model, calls[number]), counts)}${figures === model && calls[number] && !is_stacked ? fact(total_a_call(costs), "total a call") : ""}${figures === model && model.waits.has(number) ? fact(format_time(model.waits.get(number).total), "waited") : ""}${figures === model && model.instructions.has(number) ? fact(format_count(model.instructions.get(number).self), "instructions in itself") + fact(format_count(model.instructions.get(number).total), "with what it calls") : ""}${fact_of_share(shares[kind].get(number))}${figures === model ? facts_before(number) : ""}</div>`;
}

/* Rows of functions with figures; meter: of their total in whole. */
function function_table(title, rows, whole) {
  if (!rows.length) return `<section><h2>${title}</h2><p class=note>None.</p></section>`;
  const body = rows.slice(0, 300).map(row => `<tr><td>${row.f ? link(row.f) : "<span class=quiet>outside of what was recorded</span>"}</td><td title="${calls_text(model, row.calls)}">${calls_text(model, row.calls, format_short)}</td><td class=self>${self_time(model, row)}</td><td>${total_time(model, row)}</td><td><span class=meter style="--s:${(100 * Math.min(1, row.self / whole || 0)).toFixed(1)}%;--t:${(100 * Math.min(1, row.total / whole || 0)).toFixed(1)}%"></span></td>${share_cell("td", "wide", "functions", row.f)}</tr>`).join("");
  return `<section><table><thead><tr><th><h2>${title}</h2></th><th class=n>${Counts}</th><th class=t>Self</th><th class=t>Total</th><th class=p></th>${cover ? `<th class="r wide">Ran</th>` : ""}</tr></thead></table><div class=rows><table><colgroup><col><col class=n><col class=t><col class=t><col class=p>${cover ? `<col class="r wide">` : ""}</colgroup><tbody>${body}</tbody></table></div></section>`;
}

/* Where threads waited: of a page without waits, nothing. */
function wait_table() {
  if (!model.waits.size) return "";
  const body = [...model.waits.values()].slice(0, 24).map(row => `<tr><td>${row.f ? link(row.f) : "<span class=quiet>outside of what was recorded</span>"}</td><td>${format_count(row.count)}</td><td class=self>${format_time(row.self)}</td><td>${format_time(row.total)}</td><td>${format_time(row.longest)}</td></tr>`).join("");
  return `<section><table class=waits><thead><tr><th><h2>Most time waited</h2></th><th class=n>Waits</th><th class=t>Self</th><th class=t>Total</th><th class=t>Longest</th></tr></thead><tbody>${body}</tbody></table></section>`;
}

/* Of a page without counted instructions, nothing. */
function instruction_table() {
  if (!model.instructions.size) return "";
  const rows = [...model.instructions.values()];
  const all = rows.reduce((sum, row) => sum + row.self, 0);
  const body = rows.slice(0, 24).filter(row => row.self).map(row => `<tr><td>${link(row.f)}</td><td>${format_count(model.calls[row.f])}</td><td class=self>${format_count(row.self)}</td><td>${format_count(row.total)}</td><td>${(100 * row.self / all).toFixed(1)}%</td></tr>`).join("");
  return `<section><table class=instructions><thead><tr><th><h2>Most instructions</h2></th><th class=n>Calls</th><th class=n>Self</th><th class=n>Total</th><th class=p></th></tr></thead><tbody>${body}</tbody></table></section>`;
}

const file_states = {
  [FILE_MISSING]: "The source file is not to be read here",
  [FILE_WITHHELD]: "Not everybody may read this source, so it is left out; grinder --source-root=DIR takes in what lies below DIR",
  [FILE_NO_ROOM]: "The page has no room for this source; a report in a folder has it",
};

const changed = state => state === FILE_CHANGED ? " — changed since the recording" : "";

/* The files whose text the page holds, named only once they are asked for: there may be many. */
function embedded_files() {
  return [...data.files.path.keys()].filter(file => data.files.state[file] === FILE_READ || data.files.state[file] === FILE_CHANGED);
}

function embedded() {
  const count = embedded_files().length;
  return count ? `<details class=embedded><summary>This report holds the text of ${format_count(count)} source file${count === 1 ? "" : "s"}</summary></details>` : "";
}

function list_embedded(details) {
  details.ontoggle = () => {
    if (!details.querySelector("ul"))
      details.insertAdjacentHTML("beforeend", `<ul>${embedded_files().map(file => `<li><a href="#s${file}">${escape_html(data.files.path[file])}</a></li>`).join("")}</ul>`);
  };
}

function trail(parts) {
  $("trail").innerHTML = parts.filter(Boolean).join("&ensp;/&ensp;");
  $("trail").title = $("trail").textContent;
}

function function_view(f) {
  const file = functions.file[f], line = functions.line[f], state = data.files.state[file];
  const module = functions.module[f], has_source = file && line && (state === FILE_READ || state === FILE_CHANGED);
  trail([`<a href="#m${module}">${escape_html(module_name[module])}</a>`, file && `<a href="#s${file}">${escape_html(file_name[file])}</a>`]);
  const place = file ? `<a href="#s${file}${line ? ":" + line : ""}">${escape_html(data.files.path[file])}${line ? ":" + line : ""}</a>` : escape_html(data.modules[module]);
  main.innerHTML = `<div class=top><h1>${escape_html(functions.name[f])}</h1><div class=place>${place}${changed(state)}</div>${facts_of(model, f)}${timeline(slices_of(model, f), model.times.get(f))}${times_of(f)}<div class=walk>${function_table("Callers", neighbours(model, f, true), model.total[f])}${function_table("Callees", neighbours(model, f, false), model.total[f])}</div>${inlined_list(f)}${other_files(f)}</div>${code_heads(has_source ? "Line" : "Byte")}${has_source ? legend_of_missed(file) : escape_html(file && !has_source ? (file_states[state] || "") + (functions.chunk[f] >= 0 ? ": instructions of the original" : "") : "No source is known: instructions of the original")}</span></div><div class=code tabindex=0></div>`;
  const element = main.querySelector(".code");
  if (has_source) show_source(element, model, file, line, code => { source = code; });
  else if (functions.chunk[f] >= 0) show_instructions(element, model, f, code => { source = code; });
  else show_no_code(element, "Neither a source file nor the function's instructions are there to be shown.");
}

function file_view(file, line) {
  const state = data.files.state[file], members = model.files.members[file];
  const rows = members.map(row_of).sort((a, b) => b.self - a.self);
  trail([escape_html(data.files.path[file])]);
  main.innerHTML = `<div class=top><h1>${escape_html(file_name[file])}</h1><div class=place>${escape_html(data.files.path[file])}${changed(state)}</div>${facts_of(model.files, file)}${timeline(slices_of_all(model, members))}<div class=walk style="grid-template-columns:1fr">${function_table("Functions", rows, model.files.total[file])}</div></div>${code_heads("Line")}${state === FILE_READ || state === FILE_CHANGED ? legend_of_missed(file) : ""}</span></div><div class=code tabindex=0></div>`;
  const element = main.querySelector(".code");
  if (state === FILE_READ || state === FILE_CHANGED) show_source(element, model, file, line, code => { source = code; });
  else show_no_code(element, file_states[state] + ".");
}

function module_view(module) {
  const members = model.modules.members[module];
  const rows = members.map(row_of).sort((a, b) => b.self - a.self);
  trail([escape_html(data.modules[module])]);
  main.innerHTML = `<div class=page><h1>${escape_html(module_name[module])}</h1><div class=place>${escape_html(data.modules[module])}</div>${facts_of(model.modules, module)}${timeline(slices_of_all(model, members))}<div class=head-row></div>${function_table("Functions", rows, model.modules.total[module])}</div>`;
  for (const rows of main.querySelectorAll(".rows")) rows.style.maxHeight = "none";
}

/* Of a command, as far as there is room: its program, and its arguments but for options; of paths their last parts. */
function shorten(command, room) {
  if (command.length <= room) return command;
  const words = command.split(" ").filter((word, i) => !i || !word.startsWith("-"));
  return words.map(word => word.replace(/^.*\/(?=.)/, "")).join(" ");
}

/* Sums, where a program ran more than once. */
function program_table() {
  const { name, times, wall, cpu, calls } = data.programs;
  if (name.length === data.tree.pid.length || name.length >= times.reduce((sum, n) => sum + n, 0)) return "";
  const time = ns => ns ? format_time(ns) : "";
  const rows = name.slice(0, 10).map((text, i) => `<tr><td title="${escape_html(text)}">${escape_html(text)}</td><td>${format_count(times[i])}</td><td>${time(wall[i])}</td><td>${time(cpu[i])}</td><td>${format_short(calls[i])}</td></tr>`);
  return `<div class=head-row><h2>Programs</h2></div><table class=processes><tr><th>Program</th><th>Times</th><th>Wall</th><th>CPU</th><th>${Counts}</th></tr>${rows.join("")}</table>${name.length > 10 ? `<div class=note>${format_count(name.length - 10)} more.</div>` : ""}`;
}

/* Of the whole recording; the page may be of one of them. */
function process_tree() {
  const tree = data.tree;
  if (tree.pid.length < 2) return "";
  const rows = tree.pid.map((pid, i) => {
    const command = tree.folded[i] ? `${format_count(tree.folded[i])} more, each less than 1%` : escape_html(shorten(tree.command[i], 60));
    const time = ns => ns ? format_time(ns) : "";
    return `<tr${pid && pid === tree.shown ? " class=shown" : ""}><td title="${escape_html(tree.command[i])}" style="padding-left:${tree.depth[i] + 0.5}em">${command}</td><td>${tree.folded[i] ? "" : pid}</td><td>${time(tree.wall[i])}</td><td>${time(tree.cpu[i])}</td><td>${format_short(tree.calls[i])}</td></tr>`;
  });
  const note = tree.shown ? `<div class=note>This page is of the marked one, which took most; umbra report --process=PID|NAME is of another, --merge of all.</div>` : "";
  return `${program_table()}<div class=head-row><h2>Processes</h2></div><table class=processes><tr><th>Command</th><th>PID</th><th>Wall</th><th>CPU</th><th>${Counts}</th></tr>${rows.join("")}</table>${note}`;
}

function overview() {
  const hottest = model.functions.filter(f => model.self[f] || !model.ns).sort((a, b) => model.self[b] - model.self[a]).slice(0, 12);
  const duration = Math.max(...data.processes.ns);
  const waited = range ? 0 : model.part_numbers.reduce((sum, number) => sum + data.parts[number].waited, 0);
  const marked = data.tree.pid.indexOf(data.tree.shown); // what it was at its end, not before exec
  trail([escape_html(marked < 0 ? data.processes.command[data.parts[model.part_numbers[0]].process] : data.tree.command[marked])]);
  main.innerHTML = `<div class=page><h1>${escape_html(data.title)}</h1><div class=place>${escape_html(data.processes.trace.join(", "))}</div>${process_tree()}<div class=facts>${fact(format_time(duration), "from start to end")}${fact(format_time(model.ns), data.sampled ? "of CPU in recorded functions" : "in recorded functions")}${waited ? fact(format_time(waited), "waited") : ""}${fact(calls_text(model, model.call_count), counts)}${fact(format_count(model.functions.length), "functions that ran")}${fact_of_share(whole_share())}${fact(format_count(model.part_numbers.length), model.part_numbers.length === 1 ? "thread" : "threads")}</div>${change_table()}${whole_timeline(model)}<div class=head-row><h2>Who calls whom</h2><span class=choice><button data-graph=functions>Functions</button><button data-graph=files>Files</button><button data-graph=modules>Modules</button></span></div><div class=graph></div>${function_table("Most time in themselves", hottest.map(row_of), model.ns)}${instruction_table()}${times_table()}${wait_table()}${embedded()}</div>`;
  if ($("before")) $("before").onchange = event => choose_before(event.target.files[0]);
  for (const rows of main.querySelectorAll(".rows")) rows.style.maxHeight = "none";
  if (main.querySelector(".embedded")) list_embedded(main.querySelector(".embedded"));
  let chosen = first_graph(model), drawn_width = 0;
  const draw = view => {
    chosen = view;
    drawn_width = main.clientWidth;
    for (const button of main.querySelectorAll(".choice button")) button.setAttribute("aria-pressed", button.dataset.graph === view);
    main.querySelector(".graph + .note")?.remove();
    zoom_graph = draw_graph(main.querySelector(".graph"), model, view);
  };
  main.querySelector(".choice").onclick = event => { if (event.target.dataset.graph) draw(event.target.dataset.graph); };
  redraw_graph = () => { if (main.clientWidth !== drawn_width) draw(chosen); };
  draw(chosen);
}

function route() {
  const place = take_range();
  const [, kind, number, line] = /^([fsm])(\d+)(?::(\d+))?$/.exec(place) || [];
  source = zoom_graph = redraw_graph = null;
  if (kind === "f" && +number > 0 && +number < function_count) function_view(+number);
  else if (kind === "s" && +number > 0 && +number < data.files.path.length) file_view(+number, +line || 0);
  else if (kind === "m" && +number < data.modules.length) module_view(+number);
  else overview();
  document.title = (kind === "f" && functions.name[number] ? functions.name[number] + " · " : "") + data.title;
  list.draw(true);
}
