/*
 * What changed since another recording, whose report is chosen as what was before. The page reads that file
 * by itself: nothing is sent. Functions match by name, in whatever file they are, as grinder --mode=diff has it.
 */
const CHANGES_SHOWN = 24;
let before = null, before_problem = "";

/* Of a report in one file, or of a folder's data.js. \x73 is an s: a page has no script that it does not begin with. */
function data_in(text) {
  const [, json] = /<\x73cript type="application\/json" id="data">([^<]*)<\/script>/.exec(text) || /^report_chunk\("data",([^]*)\);\s*$/.exec(text) || [];
  return json ? JSON.parse(json) : null;
}

function add_by_name(sums, name, costs) {
  const sum = sums.get(name) || sums.set(name, new_costs()).get(name);
  for (const column of cost_columns) sum[column] += costs(column);
}

function figures_before(other) {
  const costs = new Map(), sum = key => other.parts.reduce((all, part) => all + part[key], 0);
  for (const { functions: table } of other.parts)
    table.id.forEach((f, i) => add_by_name(costs, other.functions.name[f], column => table[column][i]));
  return { title: other.title, ns: sum("ns"), samples_taken: sum("samples"), call_count: sum("calls"), costs };
}

function figures_now() {
  const costs = new Map();
  for (const f of model.functions) add_by_name(costs, functions.name[f], column => model[column][f]);
  return costs;
}

async function choose_before(file) {
  if (!file) return;
  before = null;
  try {
    const other = data_in(await file.text());
    if (!other) before_problem = `${file.name}: expected the report of another recording, found something else; of a folder choose data.js.`;
    else if (other.sampled !== data.sampled) before_problem = `${file.name}: one of the two has times of the processor, by samples, the other times of the clock: these are not compared.`;
    else before = figures_before(other);
  } catch (error) {
    before_problem = `${file.name}: cannot be read: ${error.message}`;
  }
  if (before) before_problem = "";
  route();
}

/* Whether samples leave open that nothing has changed. */
function may_be_equal(old, now) {
  if (!data.sampled) return false;
  if (!before.samples_taken || !model.samples_taken) return true;
  const a = sample_range(old.self, old.samples, before.ns, before.samples_taken), b = sample_range(now.self, now.samples, model.ns, model.samples_taken);
  return a.low <= b.high && b.low <= a.high;
}

const calls_cell = calls => `<td class=wide title="${format_count(calls)}">${format_short(calls)}</td>`;
const signed = (change, format) => (change < 0 ? "−" : "+") + format(Math.abs(change));

function change_row(name, old, now) {
  const f = functions_named.get(name), change = now.self - old.self, open = change && may_be_equal(old, now);
  const shown = !change ? "0" : signed(change, format_time);
  const time = (of, costs) => costs.calls || costs.self ? self_time(of, costs) : "";
  return `<tr><td>${f ? link(f) : `<span title="${escape_html(name)}">${escape_html(name)}</span>`}</td>${calls_cell(old.calls)}${calls_cell(now.calls)}<td>${time(before, old)}</td><td>${time(model, now)}</td><td class="${open || !change ? "quiet" : "self"}"${open ? ' title="Within what samples leave open: it may not have changed"' : ""}>${shown}</td></tr>`;
}

/* The largest changes; first of all what is to be compared with. */
function change_table() {
  if (range) return "";
  const choice = `<label class=choose>${before ? "Compared with " + escape_html(before.title) : "Compare with an earlier report…"}<input id=before type=file accept=".html,.js"></label>${before_problem && `<p class=note>${escape_html(before_problem)}</p>`}`;
  if (!before) return `<section class=changes>${choice}</section>`;
  const costs = figures_now(), none = new_costs();
  const rows = [...new Set([...costs.keys(), ...before.costs.keys()])].map(name => ({ name, old: before.costs.get(name) || none, now: costs.get(name) || none }));
  const key = ({ old, now }) => Math.abs(now.self - old.self), calls = ({ old, now }) => Math.abs(now.calls - old.calls);
  const changed = rows.filter(row => key(row) || calls(row)).sort((a, b) => key(b) - key(a) || calls(b) - calls(a));
  const all = `<tr class=all><td>All</td>${calls_cell(before.call_count)}${calls_cell(model.call_count)}<td>${format_time(before.ns)}</td><td>${format_time(model.ns)}</td><td>${signed(model.ns - before.ns, format_time)}</td></tr>`;
  const more = changed.length - CHANGES_SHOWN;
  return `<section class=changes>${choice}<table><thead><tr><th><h2>Changes</h2></th><th class="n wide">${Counts} before</th><th class="n wide">${Counts}</th><th class=t>Self before</th><th class=t>Self</th><th class=t>Change</th></tr></thead><tbody>${changed.slice(0, CHANGES_SHOWN).map(row => change_row(row.name, row.old, row.now)).join("")}${all}</tbody></table>${more > 0 ? `<p class=note>${format_count(more)} more, which changed less.</p>` : ""}</section>`;
}

const functions_named = new Map();
for (let f = function_count - 1; f > 0; f--) functions_named.set(functions.name[f], f);

/* At a function. */
function facts_before(f) {
  if (!before || range) return "";
  const old = before.costs.get(functions.name[f]);
  if (!old) return fact("none", "before");
  return fact(self_time(before, old), "self before") + fact(total_time(before, old), "total before") + fact(format_count(old.calls), "calls before");
}
