/* Numbers as people read them, and bars over time. */

const escape_html = text => text.replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");
const count_format = new Intl.NumberFormat("en-US");
const format_count = value => count_format.format(value);

function format_time(ns) {
  if (!(ns > 0)) return "0";
  for (const [limit, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (ns >= limit * 0.9995) {
      const value = ns / limit;
      return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + " " + unit;
    }
  return Math.round(ns) + " ns";
}

/* Calls by the million have no room for all digits. */
function format_short(count) {
  for (const [limit, unit] of [[1e9, "G"], [1e6, "M"]])
    if (count >= limit * 10) return (count / limit).toFixed(1) + " " + unit;
  return format_count(count);
}

function format_share(value, whole) {
  const share = whole > 0 ? 100 * value / whole : 0;
  if (share === 0) return "0";
  return share < 0.01 ? "<0.01" : share >= 99.995 ? "100" : share.toFixed(share < 10 ? 2 : 1);
}

/*
 * How wide a time is that is made of samples, as sample_range.h has it: Wilson's range, which holds the
 * true time in 19 of 20 cases.
 */
function sample_range(ns, samples, all_ns, all) {
  const z = 1.96, n = samples && ns ? samples * all_ns / ns : all;
  const middle = (samples + z * z / 2) / (n + z * z);
  const half = z / (n + z * z) * Math.sqrt((n > samples ? samples * (n - samples) / n : 0) + z * z / 4);
  const low = middle - half, high = middle + half;
  return { low: low > 0 ? Math.floor(low * all_ns + 0.5) : 0, high: high < 1 ? Math.floor(high * all_ns + 0.5) : all_ns };
}

const first_place = number => Math.floor(Math.log10(number) + 1e-9);

/* Two digits, rounded up: what no sample met took less. */
function rounded_up(value) {
  const scale = 10 ** (first_place(value) - 1);
  return Math.ceil(value / scale - 1e-9) * scale;
}

function format_time_below(ns) {
  if (!(ns > 0)) return "0";
  const number = rounded_up(ns), unit = Math.max(0, Math.min(3, Math.floor(first_place(number) / 3)));
  return `< ${(number / 10 ** (3 * unit)).toFixed(Math.max(0, 3 * unit - first_place(number) + 1))} ${["ns", "µs", "ms", "s"][unit]}`;
}

function format_share_below(percent) {
  const number = rounded_up(Math.max(0.01, percent));
  return "<" + number.toFixed(Math.max(0, Math.min(2, 1 - first_place(number))));
}

/*
 * A time of the processor with the range that samples leave it, on hover; below its end if no sample met
 * it. show and show_below write a number of ns.
 */
function ranged(model, ns, samples, show, show_below) {
  if (!data.sampled || !model.ns) return show(ns);
  const { low, high } = sample_range(ns, samples, model.ns, model.samples_taken);
  if (!samples && !ns) return `<span title="No sample met it: less than ${format_time(high)} in 19 of 20 cases">${escape_html(show_below(high))}</span>`;
  return `<span title="${format_time(low)} to ${format_time(high)} in 19 of 20 cases: ${format_count(samples)} sample${samples === 1 ? "" : "s"}">${show(ns)}</span>`;
}

const ranged_time = (model, ns, samples) => ranged(model, ns, samples, format_time, format_time_below);
const ranged_share = (model, ns, samples) => ranged(model, ns, samples, value => escape_html(format_share(value, model.ns)), value => format_share_below(100 * value / model.ns));
const self_time = (model, costs) => ranged_time(model, costs.self, costs.samples);
const total_time = (model, costs) => ranged_time(model, costs.total, costs.total_samples);

/* Calls are not known for a range of time. */
const calls_known = model => !model.range || is_stacked;
const calls_text = (model, calls, format = format_count) => calls_known(model) ? format(calls) : "–";

/* The time line: that of slices, else one of samples. */
const HIT_COLUMNS = 100;
const from_slices = data.slices && (data.slices.columns > 0 || !has_hits);
const columns = from_slices ? data.slices.columns : has_hits ? HIT_COLUMNS : 0;
const column_ns = from_slices ? data.slices.ns : has_hits ? 1000 * run_us() / columns : 0;
const slice_places = data.slices && data.slices.parts.map(part => new Map(part.id.map((id, i) => [id, i])));

function add_levels(to, text, first, peak) {
  for (let i = 0; i < text.length; i++) to[first + i] += peak * level_of[text.charCodeAt(i)] / 63;
}

/* ns in each column, null if nothing is known. */
function slices_of(model, f) {
  let result = null;
  if (!from_slices) return has_hits && hit_bars(model.part_numbers).of.get(f) || null;
  for (const number of model.part_numbers) {
    const part = data.slices.parts[number], i = slice_places[number].get(f);
    if (i === undefined) continue;
    result = result || { self: new Float64Array(columns), total: new Float64Array(columns) };
    add_levels(result.total, part.total[i], part.first[i], part.peak[i]);
    add_levels(result.self, part.self[i], part.first[i], part.peak[i]);
  }
  return result;
}

/* Of several functions: self times add up; what one called may be another, so of the total the
   largest is a lower bound. */
function slices_of_all(model, members) {
  let result = null;
  for (const f of members) {
    const one = slices_of(model, f);
    if (!one) continue;
    result = result || { self: new Float64Array(columns), total: new Float64Array(columns) };
    for (let i = 0; i < columns; i++) {
      result.self[i] += one.self[i];
      result.total[i] = Math.max(result.total[i], one.total[i]);
    }
  }
  for (let i = 0; result && i < columns; i++) result.total[i] = Math.max(result.total[i], result.self[i]);
  return result;
}

function area(values, peak) {
  let path = "M0 40";
  for (let i = 0; i < columns; i++) path += "V" + (40 - 40 * Math.max(0, Math.min(1, values[i] / peak))).toFixed(1) + "h1";
  return path + "V40Z";
}

function spark(slices) {
  if (!slices) return "<svg class=spark></svg>";
  let peak = 0;
  for (let i = 0; i < columns; i++) peak = Math.max(peak, slices.total[i], slices.self[i]);
  return `<svg class=spark viewBox="0 0 ${columns} 40" preserveAspectRatio=none aria-hidden=true><path class=of-total d="${area(slices.total, peak)}"/><path class=of-self d="${area(slices.self, peak)}"/></svg>`;
}

const no_time_line = "<p class=note>No time slices lie beside the traces, so nothing is known of when this ran.</p>";
const time_line = (bars, legend) => `<div class=timeline><div class="bars${has_hits ? " choosable" : ""}">${bars}${has_hits ? range_layer() : ""}</div><p><span>0</span><span>${legend}${has_hits ? `<span class=hint>; drag to choose a range</span>` : ""}</span><span>${format_time(column_ns * columns)}${from_slices && data.slices.cut ? ", not the whole run" : ""}</span></p></div>`;

/* times: null, or those of its calls, of which the longest is marked where it ended. */
function timeline(slices, times) {
  if (!columns) return no_time_line;
  const place = longest_place(times);
  if (!slices && place < 0) return `<p class=note>${data.sampled ? "No sample was taken of it." : "Too short to show up in any time slice."}</p>`;
  const peak = slices ? Math.max(...slices.total) : 0;
  const legend = slices ? `<b class=ink-self>self</b> on <b class=ink-total>total</b>, at most ${format_share(peak, column_ns)}% of ${format_time(column_ns)} a bar` : "No sample was taken of it.";
  const mark = place < 0 ? "" : `<i class=longest style="left:${place.toFixed(2)}%" title="The longest call, of ${format_time(times.longest)}, ended at ${format_moment(times.at)}"></i>`;
  return time_line(spark(slices) + mark, legend + (mark && "; <b class=ink-longest>▼</b> the longest call ended"));
}

/* Of all that is shown: what processor time its samples stand for. */
function whole_timeline(model) {
  if (!all_hits(model.part_numbers).length) return data.slices ? "" : timeline(null);
  const { all } = hit_bars(model.part_numbers), peak = Math.max(...all);
  return time_line(spark({ self: all, total: all }), `<b class=ink-self>processor time</b>, at most ${format_share(peak, column_ns)}% of ${format_time(column_ns)} a bar`);
}
