/* Times of calls, of functions whose calls were timed each (struct call_times). */

const quantiles = [["p50", 0.5], ["p90", 0.9], ["p99", 0.99], ["p99.9", 0.999]];

/* Of a process on another machine, whose clock has another rate, buckets lie between those of the first. */
const same_rate = (a, b) => Math.abs(a / b - 1) < 0.001;

function add_buckets(sum, tick, buckets, counts) {
  if (sum.tick && same_rate(tick, sum.tick)) tick = sum.tick;
  else sum.tick ||= tick;
  buckets.forEach((bucket, i) => {
    const begin = data.time_bounds[bucket] * tick, end = data.time_bounds[bucket + 1] * tick;
    const sums = sum.buckets.get(begin) || { begin, end, middle: (begin + end - tick) / 2, tick, calls: 0 };
    sums.calls += counts[i];
    sum.buckets.set(begin, sums);
  });
}

/* By function: the longest call first. buckets are ascending. */
function merge_times(parts) {
  const found = new Map();
  for (const { times } of parts)
    times.id.forEach((f, i) => {
      const sum = found.get(f) || { f, calls: 0, longest: 0, at: -1, tick: 0, buckets: new Map() };
      sum.calls += times.calls[i];
      if (times.calls[i] && times.longest[i] >= sum.longest) { sum.longest = times.longest[i]; sum.at = times.at[i]; }
      add_buckets(sum, times.tick[i], times.bucket[i], times.count[i]);
      if (sum.calls) found.set(f, sum);
    });
  for (const sum of found.values()) sum.buckets = [...sum.buckets.values()].sort((a, b) => a.middle - b.middle);
  return new Map([...found].sort(([, a], [, b]) => b.longest - a.longest));
}

/* What that share of the calls took at most: the middle of its bucket. */
function quantile_of(times, share) {
  let calls = 0;
  const bucket = times.buckets.find(bucket => (calls += bucket.calls) >= share * times.calls) || times.buckets.at(-1);
  return Math.trunc(Math.min(bucket.middle, times.longest));
}

const format_moment = ns => ns < 0 ? "" : (ns / 1e9).toFixed(ns < 1e11 ? 3 : 1) + " s";

/* The powers of ten that all of the times are between. */
function axis_of(all) {
  const low = Math.floor(Math.log10(Math.max(1, Math.min(...all.map(times => Math.max(times.buckets[0].begin, times.tick))))));
  const high = Math.ceil(Math.log10(Math.max(...all.map(times => times.longest))));
  return { low, high: Math.max(high, low + 1) };
}

const place_on = (axis, ns) => 1000 * Math.max(0, Math.min(1, (Math.log10(Math.max(ns, 1e-3)) - axis.low) / (axis.high - axis.low)));

/* Both how long and how many by powers, or the one call in a thousand would not be seen. */
function distribution(times, axis, least_width) {
  const most = Math.log2(1 + Math.max(...times.buckets.map(bucket => bucket.calls)));
  const bars = times.buckets.map(({ begin, end, calls, tick }) => {
    const x = place_on(axis, begin), width = Math.max(least_width, place_on(axis, end) - x), height = 38 * Math.log2(1 + calls) / most;
    return `<rect x=${x.toFixed(1)} y=${(40 - height).toFixed(1)} width=${width.toFixed(1)} height=${height.toFixed(1)}><title>${format_time(begin)} to ${format_time(Math.max(begin, end - tick))}: ${format_count(calls)} call${calls === 1 ? "" : "s"}</title></rect>`;
  });
  return `<svg class=distribution viewBox="0 0 1000 40" preserveAspectRatio=none>${bars.join("")}</svg>`;
}

function times_picture(times) {
  const axis = axis_of([times]), labels = [], step = axis.high - axis.low > 5 ? 2 : 1;
  const lines = quantiles.map(([name, share]) => {
    const ns = quantile_of(times, share);
    return `<i class=quantile style="left:${(place_on(axis, ns) / 10).toFixed(2)}%" title="${name}: ${format_time(ns)}"></i>`;
  });
  for (let power = axis.low; power <= axis.high; power += step)
    labels.push(`<span style="left:${(100 * (power - axis.low) / (axis.high - axis.low)).toFixed(2)}%">${format_power(power)}</span>`);
  return `<div class=times-picture><div class=bars>${distribution(times, axis, 2)}${lines.join("")}</div><p class=axis>${labels.join("")}</p><p class=note>Calls by how long they took, both by powers. Lines: ${quantiles.map(([name]) => name).join(", ")}.</p></div>`;
}

const format_power = power => 10 ** (power - 3 * Math.floor(power / 3)) + " " + ["ns", "µs", "ms", "s", "ks", "Ms"][Math.floor(power / 3)];

/* At the function itself: of one whose calls were not timed each, nothing. */
function times_of(f) {
  const times = model.times.get(f);
  if (!times) return "";
  const facts = quantiles.map(([name, share]) => fact(format_time(quantile_of(times, share)), name));
  const longest = fact(format_time(times.longest), "longest" + (times.at < 0 ? "" : ", ended at " + format_moment(times.at)));
  return `<section class=times><h2>Times of ${format_count(times.calls)} calls</h2><div class=facts>${facts.join("")}${longest}</div>${times_picture(times)}</section>`;
}

const TIMES_SHOWN = 100;

/* Of all of them, on one axis. */
function times_table() {
  const all = [...model.times.values()];
  if (!all.length) return "";
  const axis = axis_of(all), more = all.length - TIMES_SHOWN;
  const body = all.slice(0, TIMES_SHOWN).map(times => `<tr><td>${link(times.f)}</td><td class=widest>${distribution(times, axis, 10)}</td><td class=wide>${format_count(times.calls)}</td>${quantiles.map(([, share], i) => `<td${i === 1 ? " class=wide" : ""}>${format_time(quantile_of(times, share))}</td>`).join("")}<td class=self>${format_time(times.longest)}</td><td class=wide>${format_moment(times.at)}</td></tr>`);
  const heads = quantiles.map(([name], i) => `<th class="short${i === 1 ? " wide" : ""}">${name}</th>`);
  const note = more > 0 ? `<p class=note>${format_count(more)} more, whose longest call took less.</p>` : "";
  return `<section><table class="times-table"><thead><tr><th><h2>Times of calls</h2></th><th class="picture widest">${format_power(axis.low)} to ${format_power(axis.high)}</th><th class="short wide">Calls</th>${heads.join("")}<th class=short>Longest</th><th class="short wide">Ended at</th></tr></thead><tbody>${body.join("")}</tbody></table>${note}</section>`;
}

/* Where on the time line the longest call ended: %, or -1. */
function longest_place(times) {
  const whole = column_ns * columns;
  return times && times.at >= 0 && times.at <= whole ? 100 * times.at / whole : -1;
}
