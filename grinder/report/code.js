/* Sources and instructions, with what the lines call beside them. */

const keywords = new Set(("auto break case catch char class const constexpr continue default delete do double else enum explicit extern false float fn for " +
  "goto if impl inline int let long loop match mod mut namespace new noexcept nullptr operator override private protected pub public register return self " +
  "short signed sizeof static struct super switch template this throw trait true try typedef typename union unsigned unsafe use using virtual void volatile where while bool").split(" "));
const token = /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.){1,8}'|\b\d[\w.]*|[A-Za-z_]\w*/g;

/* A line that is longer is generated, and plain. */
const color = text => text.length > 1000 ? escape_html(text) : color_tokens(text);

function color_tokens(text) {
  let html = "", at = 0;
  for (const match of text.matchAll(token)) {
    const word = match[0], first = word[0];
    const kind = first === "/" ? "c" : first === '"' || first === "'" ? "q" : first >= "0" && first <= "9" ? "d" : keywords.has(word) ? "k" : "";
    if (!kind) continue;
    html += escape_html(text.slice(at, match.index)) + `<span class=${kind}>${escape_html(word)}</span>`;
    at = match.index + word.length;
  }
  return html + escape_html(text.slice(at));
}

/* Lines that begin inside of a comment. */
function comment_lines(lines) {
  const inside = new Uint8Array(lines.length + 1);
  for (let i = 0, open = false; i < lines.length; i++) {
    inside[i] = open;
    for (let at = 0; ;) {
      const found = lines[i].indexOf(open ? "*/" : "/*", at);
      const line_comment = open ? -1 : lines[i].indexOf("//", at);
      if (found < 0 || (line_comment >= 0 && line_comment < found)) break;
      open = !open;
      at = found + 2;
    }
  }
  return inside;
}

/* here: of the line's own instructions, by samples; the rest of what it calls. */
const new_figures = () => ({ ...new_costs(), callees: new Map(), entries: [], here: { ns: 0, samples: 0 } });

function add_spot(figures, spot) { figures.here.ns += spot.ns; figures.here.samples += spot.samples; }

function add_edge(figures, edges, i) {
  const callee = figures.callees.get(edges.to[i]) || { f: edges.to[i], ...new_costs() };
  figures.callees.set(edges.to[i], callee);
  for (const sum of [figures, callee]) add_costs(sum, edges, i);
}

/* Figures by line of a file, from 1. */
function figures_of_file(model, file) {
  const by_line = new Map();
  const at = line => by_line.get(line) || by_line.set(line, new_figures()).get(line);
  for (const i of model.edges_of_file(file)) if (model.edges.line[i]) add_edge(at(model.edges.line[i]), model.edges, i);
  for (const spot of spots_of_file(model, file)) if (spot.line) add_spot(at(spot.line), spot);
  for (const f of model.files.members[file]) if (functions.line[f]) at(functions.line[f]).entries.push(f);
  return by_line;
}

const calls_of = figures => [...figures.callees.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
const link = f => `<a href="#f${f}" title="${escape_html(functions.name[f])}">${escape_html(functions.name[f])}</a>`;

function short_name(name) {
  const plain = name.replace(/\(.*$/, "");
  return plain.length > 46 ? plain.slice(0, 22) + "…" + plain.slice(-22) : plain || name;
}

/* What is shown: rows of lines, and below those that are open the functions they call. */
class Code {
  constructor(element, model, lines, options) {
    Object.assign(this, { model, lines, options });
    this.open = new Set();
    this.max = this.hottest = 0;
    for (const figures of options.figures.values()) {
      this.max = Math.max(this.max, figures.total);
      this.hottest = Math.max(this.hottest, figures.here.ns);
    }
    element.classList.toggle("hot", has_hits);
    element.classList.toggle("counted", has_runs);
    this.layout();
    this.list = new Virtual(element, 20, (i, style, cursor) => this.row(i, style, cursor));
    this.list.set_count(this.rows.length);
    element.onclick = event => {
      const line = event.target.closest("[data-row]");
      if (!line || event.target.closest("a")) return;
      this.list.cursor = +line.dataset.row;
      if (event.target.closest(".gutter")) this.toggle(); else this.list.draw(true);
    };
  }

  layout() {
    this.rows = [];
    this.lines.forEach((line, i) => {
      this.rows.push({ line: i });
      const figures = this.options.figures.get(i);
      if (figures && this.open.has(i)) for (const callee of calls_of(figures)) this.rows.push({ line: i, callee });
    });
  }

  row_of_line(line) { return this.rows.findIndex(row => row.line === line && !row.callee); }

  toggle() {
    const row = this.rows[this.list.cursor];
    if (!row) return;
    if (row.callee) { location.hash = "f" + row.callee.f; return; }
    if (!this.options.figures.get(row.line)?.callees.size) return;
    if (!this.open.delete(row.line)) this.open.add(row.line);
    this.layout();
    this.list.set_count(this.rows.length);
  }

  step(by) {
    let i = this.list.cursor;
    do i += by; while (i >= 0 && i < this.rows.length && !this.options.figures.has(this.rows[i].line));
    if (i >= 0 && i < this.rows.length) this.list.move_to(i);
  }

  gutter(figures, number, toggle, own, runs) {
    const here = (has_hits ? this.time_here(own) : "") + (has_runs ? `<span class=runs>${runs === undefined ? "" : format_count(runs)}</span>` : "");
    if (!figures) return `<span class=gutter><span class=toggle></span><span class=calls></span><span class="t self"></span><span class=t></span>${here}<span class=number>${number}</span></span>`;
    const width = this.max ? 100 * figures.total / this.max : 0;
    return `<span class=gutter><span class=toggle>${toggle}</span><span class=calls>${calls_text(this.model, figures.calls)}</span><span class="t self">${self_time(this.model, figures)}</span><span class="t heat" style="--w:${width.toFixed(1)}%">${total_time(this.model, figures)}</span>${here}<span class=number>${number}</span></span>`;
  }

  time_here(own) {
    if (!own?.samples) return `<span class="t own"></span>`;
    return `<span class="t own heat" style="--w:${(100 * own.ns / this.hottest).toFixed(1)}%">${ranged_time(this.model, own.ns, own.samples)}</span>`;
  }

  row(i, style, cursor) {
    const { line, callee } = this.rows[i], figures = this.options.figures.get(line);
    const state = cursor ? " cursor" : "";
    if (callee)
      return `<div class="line inline${state}" data-row=${i} ${style}>${this.gutter(callee, "", "")}<span class=text>        → ${link(callee.f)}</span></div>`;
    const here = line === this.options.here ? " here" : "", missed = this.options.missed?.has(line);
    const shown = figures?.callees.size ? figures : figures?.entries.length ? entry_figures(this.model, figures.entries) : null;
    const runs = this.options.runs?.(line) ?? (missed ? 0 : undefined);
    const toggle = figures?.callees.size ? this.open.has(line) ? "▾" : "▸" : "";
    let chips = "";
    if (figures && !this.open.has(line)) chips = chips_of(figures);
    return `<div class="line${state}${here}${missed ? " missed" : ""}${figures?.entries.length && !figures.callees.size ? " entry" : ""}" data-row=${i} ${style}>${this.gutter(shown, this.options.number(line), toggle, figures?.here, runs)}<span class=text${missed ? ` title="Never ran"` : ""}>${this.options.text(line)}</span>${chips}</div>`;
  }
}

/* Where functions begin, the line shows their own figures. */
function entry_figures(model, entries) {
  const sum = new_figures();
  for (const f of entries) add_costs(sum, model, f);
  return sum;
}

function chips_of(figures) {
  const callees = calls_of(figures);
  const more = callees.length > 3 ? `<span class=gap>and ${callees.length - 3} more</span>` : "";
  return callees.slice(0, 3).map(callee => `<a class=chip href="#f${callee.f}" title="${escape_html(functions.name[callee.f])}">→ ${escape_html(short_name(functions.name[callee.f]))}</a>`).join("") + more;
}

const code_heads = name => `<div class="heads-code${has_hits ? " hot" : ""}${has_runs ? " counted" : ""}"><span class=calls>${Counts}</span><span class="t of-self">Self</span><span class=t>Total</span>${has_hits ? `<span class="t own" title="Time of the line's own instructions, by samples. Self and total are of the functions it calls.">Here</span>` : ""}${has_runs ? `<span class=runs title="How often, of the whole run, by all processes of this page">Runs</span>` : ""}<span class=number>${name}</span><span class=text>`;

function show_source(element, model, file, line, ready) {
  load_chunk("s" + file, text => {
    if (text === null) { show_no_code(element, "The source could not be loaded."); return ready(null); }
    const lines = text.split("\n");
    const inside = comment_lines(lines), by_line = figures_of_file(model, file);
    const figures = new Map([...by_line].map(([number, sums]) => [number - 1, sums]).filter(([i]) => i < lines.length));
    const source = new Code(element, model, lines, {
      missed: new Set(missed_lines.get(file)?.map(number => number - 1)),
      runs: i => line_runs.get(file)?.get(i + 1),
      figures, here: line - 1, number: i => i + 1,
      text: i => inside[i] ? comment_start(lines[i]) : color(lines[i]),
    });
    if (line) { source.list.cursor = source.row_of_line(line - 1); source.list.show(source.list.cursor, 0.12); source.list.draw(true); }
    ready(source);
  });
}

function comment_start(line) {
  const end = line.indexOf("*/");
  if (end < 0) return `<span class=c>${escape_html(line)}</span>`;
  return `<span class=c>${escape_html(line.slice(0, end + 2))}</span>` + color(line.slice(end + 2));
}

function show_instructions(element, model, f, ready) {
  load_chunk("d" + functions.chunk[f], listing => {
    if (!listing) { show_no_code(element, "The instructions could not be loaded."); return ready(null); }
    const lines = listing[f].split("\n").map(line => line.split("\t"));
    const offsets = lines.map(([offset]) => +offset), figures = new Map();
    const at = offset => {
      const next = offsets.findIndex(other => other > offset), line = (next < 0 ? offsets.length : next) - 1;
      return figures.get(line) || figures.set(line, new_figures()).get(line);
    };
    for (const i of model.edges_from(f)) if (model.edges.at[i] >= 0) add_edge(at(model.edges.at[i]), model.edges, i);
    for (const spot of spots_of_function(model, f)) if (spot.offset >= 0) add_spot(at(spot.offset), spot);
    if (!figures.get(0)?.callees.size) at(0).entries = [f];
    const runs = runs_of_instructions(f, offsets);
    const code = new Code(element, model, lines, {
      missed: new Set(offsets.map((_, i) => i).filter(i => runs[i] === 0)), runs: i => runs[i],
      figures, here: 0, number: i => "+" + offsets[i].toString(16),
      text: i => {
        const [, text, target] = lines[i], [, word, rest] = /^(\S*)(.*)$/.exec(text);
        const name = target && !figures.get(i)?.callees.size ? `  ${link(+target)}` : "";
        return `<span class=k>${escape_html(word.padEnd(7))}</span>${escape_html(rest)}${name}  `;
      },
    });
    ready(code);
  });
}

function show_no_code(element, why) { element.innerHTML = `<p class=empty>${why}</p>`; }
