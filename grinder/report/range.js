/*
 * A range of time, chosen by dragging on the bars: all figures are then of the samples within. It is in the address,
 * behind what that names, in µs: #f12@1204000-1390000. Links do not name it, so a place that is new takes it along;
 * one that was left without a range (history.state says that it was seen) has none when it is returned to.
 */
let range = null, whole_model = null;

const axis_us = () => column_ns * columns / 1000;
const range_text = ({ from, to }) => `@${from}-${to}`;
const same_range = (a, b) => a?.from === b?.from && a?.to === b?.to;
const format_at = us => axis_us() >= 1e6 ? (us / 1e6).toFixed(3) + " s" : (us / 1e3).toFixed(axis_us() >= 1e5 ? 1 : 3) + " ms";

/* What the address names apart from the range, which becomes that of the page. */
function take_range() {
  const [, place, from, to] = /^#?([^@]*)(?:@(\d{1,15})-(\d{1,15}))?/.exec(location.hash);
  let next = has_hits && +from < +to ? { from: +from, to: +to } : null;
  if (!from && range && history.state === null) next = range;
  const hash = "#" + place + (next ? range_text(next) : "");
  if (has_hits || from) try { history.replaceState("seen", "", hash === (location.hash || "#") ? undefined : hash); }
  catch (error) { /* then the address does not have it */ }
  if (!model || !same_range(range, next)) show_range(next);
  return place;
}

function show_range(next) {
  range = next;
  model = range ? build_range_model(whole_model, range) : whole_model;
  $("range").hidden = !range;
  if (range) {
    $("range-text").innerHTML = `<b>${format_at(range.from)} to ${format_at(Math.min(range.to, axis_us()))}</b> of ${format_time(axis_us() * 1000)}`;
    $("range-note").textContent = !model.samples_taken ? "No sample was taken in it." : is_stacked ? "All figures are of the samples in it." : "All figures are of the samples in it; calls are not known for a range.";
  }
  fill_list();
}

/* null: the whole run. */
function choose_range(next) {
  if (same_range(range, next)) return;
  const place = location.hash.replace(/^#|@.*/g, "");
  if (!next) show_range(null); /* or the new place would take it along */
  const hash = place + (next ? range_text(next) : "");
  if (location.hash.slice(1) === hash) route(); else location.hash = hash;
}

/* To the one of the same length before or behind it, within the run. */
function shift_range(by) {
  if (!range) return;
  const length = range.to - range.from, from = Math.max(0, Math.min(Math.ceil(axis_us()) - length, range.from + by * length));
  choose_range({ from, to: from + length });
}

/* What is not chosen, above the bars. */
const shades = (left, right) => `<i class=not-chosen style="left:0;width:${left.toFixed(3)}%"></i><i class=not-chosen style="left:${right.toFixed(3)}%;right:0"></i>`;
const place_of = us => Math.max(0, Math.min(100, 100 * us / axis_us()));
const range_layer = () => `<div class=range-layer>${range ? shades(place_of(range.from), place_of(range.to)) : ""}</div>`;

const LEAST_DRAG = 4; /* pixels: less is a click */

function make_choosable(element) {
  let drag = null;
  const share = event => Math.max(0, Math.min(1, (event.clientX - drag.box.left) / drag.box.width));
  const ends = event => [drag.begin, share(event)].sort((a, b) => a - b);
  const stop = () => { drag.bars.querySelector(".range-layer").outerHTML = range_layer(); drag = null; };
  element.onpointerdown = event => {
    const bars = event.target.closest?.(".choosable");
    if (!bars || event.button !== 0) return;
    drag = { bars, box: bars.getBoundingClientRect() };
    drag.begin = share(event);
    bars.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  element.onpointermove = event => {
    if (!drag) return;
    const [left, right] = ends(event);
    drag.bars.querySelector(".range-layer").innerHTML = shades(100 * left, 100 * right) +
      `<b style="left:${50 * (left + right)}%">${format_at(left * axis_us())} to ${format_at(right * axis_us())}</b>`;
  };
  element.onpointerup = event => {
    if (!drag) return;
    const [left, right] = ends(event), { width } = drag.box;
    stop();
    if ((right - left) * width >= LEAST_DRAG) choose_range({ from: Math.floor(left * axis_us()), to: Math.ceil(right * axis_us()) });
  };
  element.onpointercancel = () => { if (drag) stop(); };
}
