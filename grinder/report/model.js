/* The data (data.c draws it), added up over the threads that are shown. */

function chunk(name) {
  if (!(name in report_chunks)) {
    const element = document.getElementById(name);
    report_chunks[name] = element ? JSON.parse(element.textContent) : null;
    if (element) element.textContent = "";
  }
  return report_chunks[name];
}

/* In a folder, a chunk is a script beside the page: file:// knows no other way. */
function load_chunk(name, ready) {
  if (name in report_chunks || document.getElementById(name)) return ready(chunk(name));
  const script = document.createElement("script");
  script.src = name + ".js";
  script.onload = () => ready(report_chunks[name] ?? null);
  script.onerror = () => ready(null);
  document.head.append(script);
}

const data = chunk("data");
if (!data) document.body.textContent = "data.js does not lie beside this page: expected the whole folder.";
const functions = data.functions, function_count = functions.name.length;
const FILE_MISSING = 0, FILE_READ = 1, FILE_NO_ROOM = 2, FILE_CHANGED = 3, FILE_WITHHELD = 4;

const base_name = path => path.replace(/.*[\/\\](?=.)/, "");
const file_name = data.files.path.map(path => path ? base_name(path) : "");
const module_name = data.modules.map(path => path ? base_name(path) : "unknown module");
const lower = { functions: functions.name.map((name, f) => (name + " " + functions.aliases[f]).toLowerCase()) };

const sum_into = (to, ids, from = []) => { for (let i = 0; i < from.length; i++) to[ids[i]] += from[i]; };

/* Places of edges by the value of one column: those of v are order[start[v]] … start[v + 1]. */
function index_by(column, count) {
  const start = new Uint32Array(count + 1), order = new Uint32Array(column.length);
  for (const v of column) start[v + 1]++;
  for (let v = 0; v < count; v++) start[v + 1] += start[v];
  const at = start.slice();
  for (let i = 0; i < column.length; i++) order[at[column[i]]++] = i;
  return v => order.subarray(start[v], start[v + 1]);
}

/* What adds up; the last two where times are made of samples. */
/* What is counted, as it is shown. */
const counts = data.counts, Counts = counts[0].toUpperCase() + counts.slice(1), is_stacked = counts !== "calls";
const cost_columns = ["calls", "self", "total", ...data.sampled ? ["samples", "total_samples"] : []];
const edge_columns = ["from", "to", "at", "file", "line", ...cost_columns];

const new_costs = () => ({ calls: 0, self: 0, total: 0, samples: 0, total_samples: 0 });
const add_costs = (sum, table, i) => { for (const name of cost_columns) sum[name] += table[name][i]; };

function merge_edges(parts) {
  if (parts.length === 1) return parts[0].edges;
  const merged = Object.fromEntries(edge_columns.map(name => [name, []])), places = new Map();
  for (const { edges } of parts)
    for (let i = 0; i < edges.from.length; i++) {
      const key = edges.from[i] + ":" + edges.to[i] + ":" + edges.at[i] + ":" + edges.file[i] + ":" + edges.line[i];
      const place = places.get(key);
      if (place === undefined) {
        places.set(key, merged.from.length);
        for (const name of edge_columns) merged[name].push(edges[name][i]);
      } else {
        for (const name of cost_columns) merged[name][place] += edges[name][i];
      }
    }
  return merged;
}

/* By function, of those that waited: most time, with what they called, first. */
function merge_waits(parts) {
  const found = new Map();
  for (const { waits } of parts)
    waits.id.forEach((f, i) => {
      const sum = found.get(f) || { f, count: 0, self: 0, total: 0, longest: 0 };
      sum.count += waits.count[i]; sum.self += waits.self[i]; sum.total += waits.total[i];
      sum.longest = Math.max(sum.longest, waits.longest[i]);
      found.set(f, sum);
    });
  return new Map([...found].sort(([, a], [, b]) => b.total - a.total || b.self - a.self));
}

/* By function, of those that executed some: most of them first. */
function merge_instructions(parts) {
  const found = new Map();
  for (const { instructions } of parts)
    instructions.id.forEach((f, i) => {
      const sum = found.get(f) || { f, self: 0, total: 0 };
      sum.self += instructions.self[i]; sum.total += instructions.total[i];
      found.set(f, sum);
    });
  return new Map([...found].sort(([, a], [, b]) => b.self - a.self || b.total - a.total));
}

/* Of a list of parts, of the whole run; build_range_model has that of a range of time. */
function build_model(part_numbers) {
  const parts = part_numbers.map(number => data.parts[number]);
  const model = { part_numbers, ns: 0, samples_taken: 0, call_count: 0, edges: merge_edges(parts) };
  for (const name of ["calls", "self", "total", "samples", "total_samples"]) {
    model[name] = new Float64Array(function_count);
    for (const part of parts) sum_into(model[name], part.functions.id, part.functions[name]);
  }
  model.waits = merge_waits(parts);
  model.instructions = merge_instructions(parts);
  model.times = merge_times(parts);
  for (const part of parts) { model.ns += part.ns; model.samples_taken += part.samples; model.call_count += part.calls; }
  return index_model(model);
}

/* What is found by function, by file, by module, once the figures of functions and edges are there. */
function index_model(model) {
  model.edges_from = index_by(model.edges.from, function_count);
  model.edges_to = index_by(model.edges.to, function_count);
  model.edges_of_file = index_by(model.edges.file, data.files.path.length);
  model.functions = [];
  for (let f = 1; f < function_count; f++) if (model.calls[f] || model.total[f]) model.functions.push(f);
  model.files = group(model, functions.file, data.files.path.length);
  model.modules = group(model, functions.module, data.modules.length);
  return model;
}

/* Self times of a group's functions add up; what one calls may be another, so of the total the
   largest is a lower bound. */
function group(model, group_of, count) {
  const result = { members: Array.from({ length: count }, () => []) };
  for (const name of ["calls", "self", "total", "samples", "total_samples"]) result[name] = new Float64Array(count);
  for (const f of model.functions) {
    const g = group_of[f];
    result.members[g].push(f);
    result.calls[g] += model.calls[f];
    result.self[g] += model.self[f];
    result.samples[g] += model.samples[f];
    if (model.total[f] >= result.total[g]) { result.total[g] = model.total[f]; result.total_samples[g] = model.total_samples[f]; }
  }
  for (let g = 0; g < count; g++)
    if (result.self[g] > result.total[g]) { result.total[g] = result.self[g]; result.total_samples[g] = result.samples[g]; }
  return result;
}

/* Edges of one function, added up by who is at the other end: most time first. */
function neighbours(model, f, callers) {
  const { edges } = model, found = new Map();
  for (const i of callers ? model.edges_to(f) : model.edges_from(f)) {
    const other = callers ? edges.from[i] : edges.to[i];
    const sum = found.get(other) || { f: other, ...new_costs() };
    add_costs(sum, edges, i);
    found.set(other, sum);
  }
  return [...found.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
}
