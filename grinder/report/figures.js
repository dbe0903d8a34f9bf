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

const level_of = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((c, i) => { level_of[c.charCodeAt(0)] = i; });

const columns = data.slices ? data.slices.columns : 0;
const slice_places = data.slices && data.slices.parts.map(part => new Map(part.id.map((id, i) => [id, i])));

function add_levels(to, text, first, peak) {
  for (let i = 0; i < text.length; i++) to[first + i] += peak * level_of[text.charCodeAt(i)] / 63;
}

/* ns in each column, null if nothing is known. */
function slices_of(model, f) {
  let result = null;
  if (!columns) return null;
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

function timeline(slices) {
  if (!data.slices) return "<p class=note>No time slices lie beside the traces, so nothing is known of when this ran.</p>";
  if (!slices) return `<p class=note>${data.sampled ? "No sample was taken of it." : "Too short to show up in any time slice."}</p>`;
  const peak = Math.max(...slices.total);
  const legend = `<b class=ink-self>self</b> on <b class=ink-total>total</b>, at most ${format_share(peak, data.slices.ns)}% of ${format_time(data.slices.ns)} a bar`;
  const end = format_time(data.slices.ns * columns) + (data.slices.cut ? ", not the whole run" : "");
  return `<div class=timeline>${spark(slices)}<p><span>0</span><span>${legend}</span><span>${end}</span></p></div>`;
}
