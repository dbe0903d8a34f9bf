/*
 * Samples one by one (hit_columns.h draws them): the figures of a range of time, bars over time where there are no
 * slices, and which lines of code took the time.
 */

const has_hits = data.parts.some(part => part.hits);

const level_of = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((c, i) => { level_of[c.charCodeAt(0)] = i; });

/* Arrays by sample, by stack, by spot. */
function decode_hits({ hits }) {
  const at = numbers_of(hits.at), stack = numbers_of(hits.stack), spot = numbers_of(hits.spot), count = at.length, ns = new Float64Array(count);
  const frames = Int32Array.from([0, ...numbers_of(hits.function)]), spots = new Int32Array(function_count + 1);
  for (let i = 0; i < count; i++) {
    at[i] += at[i - 1] || 0;
    stack[i] = (stack[i - 1] || 0) + to_and_fro(stack[i]);
    const f = frames[stack[i]];
    spots[f + 1] = Math.max(spots[f + 1], spot[i] + 1); /* each has a sample */
  }
  for (let f = 0; f < function_count; f++) spots[f + 1] += spots[f];
  const spot_function = new Int32Array(spots[function_count]);
  for (let i = 0; i < count; i++) {
    spot[i] += spots[frames[stack[i]]];
    spot_function[spot[i]] = frames[stack[i]];
  }
  ns.fill(hits.usual);
  numbers_of(hits.ns).forEach((number, i) => { ns[i] += 1000 * to_and_fro(number); });
  const decoded = { count, at, ns, stack, spot, parent: parents_of(numbers_of(hits.up)), function: frames, spot_function };
  for (const name of ["offset", "file", "line", "inlined", "outer", "name"]) decoded[name] = numbers_of(hits[name]);
  decoded.names = hits.names;
  decoded.outermost = outermost_of(decoded);
  return decoded;
}

const to_and_fro = number => number % 2 ? -(number + 1) / 2 : number / 2;

function parents_of(up) {
  const parents = new Int32Array(up.length + 1), way = [0];
  for (let stack = 1; stack < parents.length; stack++) {
    way.length -= up[stack - 1];
    parents[stack] = way.at(-1);
    way.push(stack);
  }
  return parents;
}

function numbers_of(text) {
  const numbers = new Float64Array(text.length);
  let count = 0, number = 0, scale = 1;
  for (let i = 0; i < text.length; i++) {
    const digit = level_of[text.charCodeAt(i)];
    number += (digit & 31) * scale;
    scale *= 32;
    if (digit & 32) continue;
    numbers[count++] = number;
    number = 0; scale = 1;
  }
  return numbers.slice(0, count);
}

/* By stack: whether its function is in it once only, so that its total is not counted twice. */
function outermost_of({ parent, function: of }) {
  const outermost = new Uint8Array(parent.length);
  for (let stack = 1; stack < parent.length; stack++) {
    let above = parent[stack];
    while (above && of[above] !== of[stack]) above = parent[above];
    outermost[stack] = !above;
  }
  return outermost;
}

const decoded_hits = data.parts.map(() => undefined);

/* Null if the part has none. */
function hits_of(number) {
  if (decoded_hits[number] === undefined) decoded_hits[number] = data.parts[number].hits ? decode_hits(data.parts[number]) : null;
  return decoded_hits[number];
}

const all_hits = part_numbers => part_numbers.map(hits_of).filter(Boolean);

/* The first sample that is not before a time in µs. */
function first_hit(hits, at) {
  let low = 0, high = hits.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hits.at[middle] < at) low = middle + 1; else high = middle;
  }
  return low;
}

const hits_within = (hits, range) => range ? [first_hit(hits, range.from), first_hit(hits, range.to)] : [0, hits.count];

/* From 0 to the end of the longest process, or the last sample. */
const run_us = () => Math.max(1, ...data.processes.ns.map(ns => ns / 1000), ...data.parts.map((_, number) => hits_of(number)?.at.at(-1) + 1 || 0));

/*
 * What stacks took within a range: their own samples, and those of all stacks above them, which have higher
 * places. So each sample is seen once, and each stack once, however deep it is.
 */
function stack_sums(hits, range) {
  const sums = Object.fromEntries(["self", "total", "samples", "total_samples"].map(name => [name, new Float64Array(hits.parent.length)]));
  const [begin, end] = hits_within(hits, range);
  for (let i = begin; i < end; i++) { sums.self[hits.stack[i]] += hits.ns[i]; sums.samples[hits.stack[i]]++; }
  sums.total.set(sums.self); sums.total_samples.set(sums.samples);
  for (let stack = hits.parent.length - 1; stack > 0; stack--) {
    sums.total[hits.parent[stack]] += sums.total[stack];
    sums.total_samples[hits.parent[stack]] += sums.total_samples[stack];
  }
  return sums;
}

const pair_key = (from, to) => from * function_count + to;

/* Of two functions that call each other from one place only, that place; samples know no places of calls. */
function sole_places(edges) {
  const places = new Map();
  for (let i = 0; i < edges.from.length; i++) {
    const key = pair_key(edges.from[i], edges.to[i]);
    places.set(key, places.has(key) ? -1 : i);
  }
  return places;
}

/* The model of a range of time: the same shape, but for what only the whole run has: waits, instructions, times of calls, and calls. */
function build_range_model(whole, range) {
  const model = { part_numbers: whole.part_numbers, range, ns: 0, samples_taken: 0, call_count: 0, edges: Object.fromEntries(edge_columns.map(name => [name, []])) };
  for (const name of ["calls", "self", "total", "samples", "total_samples"]) model[name] = new Float64Array(function_count);
  const rows = new Map(), places = whole.sole_places ||= sole_places(whole.edges);
  for (const hits of all_hits(model.part_numbers)) add_stacks(model, rows, places, whole.edges, hits, stack_sums(hits, range));
  if (is_stacked) { model.calls.set(model.samples); model.edges.calls = model.edges.samples; model.call_count = model.samples_taken; }
  model.waits = new Map(); model.instructions = new Map(); model.times = new Map();
  return index_model(model);
}

function add_stacks(model, rows, places, whole_edges, hits, sums) {
  model.ns += sums.total[0];
  model.samples_taken += sums.total_samples[0];
  for (let stack = 1; stack < hits.parent.length; stack++) {
    if (!sums.total_samples[stack]) continue;
    const f = hits.function[stack], row = edge_row(model.edges, rows, places, whole_edges, hits.function[hits.parent[stack]], f);
    for (const [columns, i] of [[model, f], [model.edges, row]]) {
      columns.self[i] += sums.self[stack]; columns.samples[i] += sums.samples[stack];
      if (hits.outermost[stack]) { columns.total[i] += sums.total[stack]; columns.total_samples[i] += sums.total_samples[stack]; }
    }
  }
}

function edge_row(edges, rows, places, whole_edges, from, to) {
  const key = pair_key(from, to);
  let row = rows.get(key);
  if (row !== undefined) return row;
  row = edges.from.length;
  rows.set(key, row);
  const place = places.get(key) ?? -1;
  for (const name of edge_columns) edges[name].push(0);
  edges.from[row] = from; edges.to[row] = to;
  edges.at[row] = place < 0 ? -1 : whole_edges.at[place];
  if (place >= 0) { edges.file[row] = whole_edges.file[place]; edges.line[row] = whole_edges.line[place]; }
  return row;
}

/* Bars over time, by function, of the whole run; "all" is the processor time of all. */
const bars_made = new Map();

function hit_bars(part_numbers) {
  const key = part_numbers.join(), width = column_ns / 1000;
  if (bars_made.has(key)) return bars_made.get(key);
  const bars = { all: new Float32Array(columns), of: new Map() };
  const of = f => bars.of.get(f) || bars.of.set(f, { self: new Float32Array(columns), total: new Float32Array(columns) }).get(f);
  for (const hits of all_hits(part_numbers)) {
    for (let i = 0; i < hits.count; i++) {
      const column = Math.min(columns - 1, Math.floor(hits.at[i] / width)), ns = hits.ns[i];
      if (hits.at[i] > columns * width) break; /* slices end before the run does */
      bars.all[column] += ns;
      if (hits.stack[i]) of(hits.function[hits.stack[i]]).self[column] += ns;
      for (let stack = hits.stack[i]; stack; stack = hits.parent[stack]) if (hits.outermost[stack]) of(hits.function[stack]).total[column] += ns;
    }
  }
  bars_made.set(key, bars);
  return bars;
}

/* Instructions that samples met: function, offset, file, line, and their time. */
function spots_of(model) {
  if (model.spots) return model.spots;
  model.spots = [];
  for (const hits of all_hits(model.part_numbers)) {
    const ns = new Float64Array(hits.line.length), samples = new Uint32Array(hits.line.length), [begin, end] = hits_within(hits, model.range);
    for (let i = begin; i < end; i++) { ns[hits.spot[i]] += hits.ns[i]; samples[hits.spot[i]]++; }
    ns.forEach((sum, spot) => {
      if (samples[spot]) model.spots.push({ f: hits.spot_function[spot], offset: hits.offset[spot] - 1, file: hits.file[spot], line: hits.line[spot], inlined: inlined_names(hits, spot), ns: sum, samples: samples[spot] });
    });
  }
  model.spots_by_file = by_column(model.spots, "file");
  model.spots_by_function = by_column(model.spots, "f");
  return model.spots;
}

/* The functions that are inlined there, the innermost first. */
function inlined_names(hits, spot) {
  const names = [];
  for (let call = hits.inlined[spot] || 0; call; call = hits.outer[call - 1]) names.push(hits.names[hits.name[call - 1]]);
  return names;
}

function by_column(rows, name) {
  const found = new Map();
  for (const row of rows) (found.get(row[name]) || found.set(row[name], []).get(row[name])).push(row);
  return found;
}

const spots_of_file = (model, file) => spots_of(model) && model.spots_by_file.get(file) || [];
const spots_of_function = (model, f) => spots_of(model) && model.spots_by_function.get(f) || [];
