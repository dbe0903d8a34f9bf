/*
 * The overview: functions, files or modules, who calls whom from left to right.
 *
 * Layers: a walk in depth from those that nobody calls marks the calls that lead back. Of the rest
 * a node lies one layer behind the caller that it spends most time for. Within a layer nodes go
 * where the middle of their neighbours is, a few times to and fro.
 */
const GRAPH_LIMIT = 28, GRAPH_LEAST = 8, GRAPH_SHARE = 0.002, NODE_LEAST = 124, NODE_HEIGHT = 40, LAYER_GAP = 40, NODE_GAP = 12;
const NODE_USUAL = 164; /* for which a drag is worth while */
const KNOWN_SHARE = 0.75;
const LEAST_SCALE = 0.55; /* smaller is not to be read: what does not fit is a drag away */

/* Nodes with most time, all that have a share of it worth seeing, and the calls among them. */
const graph_views = {
  functions: { groups: model => model, ids: model => model.functions, names: functions.name, group_of: f => f, route: "#f" },
  files: { groups: model => model.files, ids: model => members_of(model.files), names: file_name, group_of: f => functions.file[f], route: "#s" },
  modules: { groups: model => model.modules, ids: model => members_of(model.modules), names: module_name, group_of: f => functions.module[f], route: "#m" },
};

function members_of(groups) { return [...groups.self.keys()].filter(g => g && groups.members[g].length); }

function graph_of(model, view) {
  const { names, group_of, route } = graph_views[view];
  const groups = graph_views[view].groups(model), ids = graph_views[view].ids(model);
  const chosen = [...ids].sort((a, b) => groups.total[b] - groups.total[a]).slice(0, GRAPH_LIMIT)
    .filter((g, i) => i < GRAPH_LEAST || groups.total[g] >= GRAPH_SHARE * model.ns);
  const places = new Map(chosen.map((g, i) => [g, i])), edges = new Map();
  const { from, to, calls, total } = model.edges;
  for (let i = 0; i < from.length; i++) {
    const a = from[i] ? places.get(group_of(from[i])) : undefined, b = places.get(group_of(to[i]));
    if (a === undefined || b === undefined || a === b) continue;
    const key = a * GRAPH_LIMIT + b, edge = edges.get(key) || { a, b, calls: 0, total: 0 };
    edge.calls += calls[i]; edge.total += total[i];
    edges.set(key, edge);
  }
  const nodes = chosen.map(g => ({ name: names[g], href: route + g, self: groups.self[g], total: groups.total[g], calls: groups.calls[g], out: [], in: [] }));
  const list = [...edges.values()].sort((x, y) => y.total - x.total || y.calls - x.calls);
  for (const edge of list) { nodes[edge.a].out.push(edge); nodes[edge.b].in.push(edge); }
  const left_out = ids.length - nodes.length;
  return nodes.length > GRAPH_LEAST ? { ...pass_through(nodes, GRAPH_SHARE * model.ns), left_out } : { nodes, edges: list, left_out };
}

/*
 * Takes those out that have one caller and one callee in the picture, and no time of their own: on
 * a thread's way to its work there may be more of them than boxes have room.
 *
 *      main -> run -> step -> sort        main ····> sort        edge.through: run, step
 *
 * What is called by nobody begins later: `_start -> main` is main.
 */
function pass_through(nodes, least) {
  const gone = new Set();
  for (const [i, node] of nodes.entries()) {
    const [into, out] = [node.in[0], node.out[0]];
    if (node.self >= least || node.out.length !== 1 || node.in.length > 1) continue;
    if (into && (into.a === out.b || nodes[into.a].out.some(edge => edge.b === out.b))) continue;
    nodes[out.b].in = nodes[out.b].in.filter(edge => edge !== out);
    if (into) {
      Object.assign(into, { b: out.b, calls: out.calls, total: Math.min(into.total, out.total), through: [...into.through || [], node.name, ...out.through || []] });
      nodes[out.b].in.push(into);
    }
    gone.add(i);
  }
  const kept = nodes.filter((_, i) => !gone.has(i)), places = new Map(kept.map((node, i) => [node, i]));
  const by_time = (x, y) => y.total - x.total || y.calls - x.calls;
  const edges = [...new Set(kept.flatMap(node => node.in))].sort(by_time);
  for (const edge of edges) { edge.a = places.get(nodes[edge.a]); edge.b = places.get(nodes[edge.b]); }
  for (const node of kept) node.in.sort(by_time);
  return { nodes: kept, edges };
}

function mark_back_edges(nodes) {
  const state = new Uint8Array(nodes.length);
  const visit = i => {
    state[i] = 1;
    for (const edge of nodes[i].out) {
      edge.back = state[edge.b] === 1;
      if (!state[edge.b]) visit(edge.b);
    }
    state[i] = 2;
  };
  const order = [...nodes.keys()].sort((a, b) => !!nodes[a].in.length - !!nodes[b].in.length || nodes[b].total - nodes[a].total);
  for (const i of order) if (!state[i]) visit(i);
}

function place_layers(nodes) {
  const layer_of = i => {
    const node = nodes[i];
    const main_call = node.in.find(edge => !edge.back); /* most time first */
    return node.layer ??= main_call ? layer_of(main_call.a) + 1 : 0;
  };
  const layers = [];
  nodes.forEach((node, i) => { (layers[layer_of(i)] ||= []).push(i); });
  return layers;
}

function order_layers(nodes, layers) {
  const settle = () => layers.forEach(layer => layer.forEach((i, at) => { nodes[i].at = at - (layer.length - 1) / 2; }));
  const middle = (i, key, end) => {
    const weights = nodes[i][key].map(edge => [nodes[edge[end]].at, Math.log2(2 + edge.total)]);
    const sum = weights.reduce((all, [, weight]) => all + weight, 0);
    return sum ? weights.reduce((all, [at, weight]) => all + at * weight, 0) / sum : nodes[i].at;
  };
  settle();
  for (let turn = 0; turn < 8; turn++) {
    const forward = turn % 2 === 0;
    for (const layer of forward ? layers : [...layers].reverse()) {
      const key = new Map(layer.map(i => [i, forward ? middle(i, "in", "a") : middle(i, "out", "b")]));
      layer.sort((a, b) => key.get(a) - key.get(b));
      layer.forEach((i, at) => { nodes[i].at = at - (layer.length - 1) / 2; });
    }
  }
}

function place_nodes(nodes, layers, width) {
  layers.forEach((layer, x) => layer.forEach(i => {
    nodes[i].x = x * (width + LAYER_GAP);
    nodes[i].y = nodes[i].at * (NODE_HEIGHT + NODE_GAP);
  }));
}

function edge_path(a, b, width) {
  const x1 = a.x + width, y1 = a.y + NODE_HEIGHT / 2, x2 = b.x, y2 = b.y + NODE_HEIGHT / 2;
  if (b.x > a.x) {
    const bend = Math.min(160, (x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  const low = Math.max(a.y, b.y) + NODE_HEIGHT + 36;
  return `M${x1} ${y1}C${x1 + 70} ${low} ${x2 - 70} ${low} ${x2} ${y2}`;
}

const name_measure = document.createElement("canvas").getContext("2d");

function name_width(name) {
  name_measure.font = "12px " + getComputedStyle(document.body).fontFamily;
  return name_measure.measureText(name).width;
}

/* Cut in its middle. */
function fit_name(name, width) {
  let kept = name.length;
  if (name_width(name) <= width) return name;
  const cut = () => name.slice(0, Math.ceil(kept / 2)) + "…" + name.slice(name.length - Math.floor(kept / 2));
  while (kept > 2 && name_width(cut()) > width) kept--;
  return cut();
}

/* Boxes as wide as the longest name needs, if the window has room for them. */
function node_width(element, nodes, layers) {
  const needed = Math.max(...nodes.map(node => name_width(node.name.slice(0, 80)))) + 21;
  const room = (element.clientWidth - 40 + LAYER_GAP) / layers.length - LAYER_GAP;
  return Math.floor(Math.max(NODE_LEAST, Math.min(needed, Math.max(room, NODE_USUAL))));
}

/*
 * What says most. Files, if most of the time is in functions whose files are known: where libc's alone are,
 * by its separate debug file, they make a picture of libc.
 */
function first_graph(model) {
  const key = model.ns ? "self" : "calls";
  const sum = numbers => numbers.reduce((all, number) => all + number, 0);
  const { files } = model, known = sum(members_of(files).map(file => files[key][file]));
  return members_of(files).length > 1 && known >= KNOWN_SHARE * sum(files[key]) ? "files" : "functions";
}

function draw_graph(element, model, view) {
  const { nodes, edges, left_out } = graph_of(model, view);
  mark_back_edges(nodes);
  const layers = place_layers(nodes);
  order_layers(nodes, layers);
  const width = nodes.length ? node_width(element, nodes, layers) : NODE_LEAST;
  place_nodes(nodes, layers, width);
  const heaviest = Math.log2(2 + (edges[0]?.total || 0));
  const lines = edges.map((edge, i) => {
    const stroke = 0.8 + 5 * Math.max(0, Math.log2(2 + edge.total) / heaviest - 0.4) / 0.6;
    return `<path class="edge${edge.back ? " back" : ""}${edge.through ? " through" : ""}" data-edge=${i} style="stroke-width:${stroke.toFixed(2)};stroke-opacity:${(0.12 + 0.09 * stroke).toFixed(2)}" d="${edge_path(nodes[edge.a], nodes[edge.b], width)}"><title>${escape_html(nodes[edge.a].name)} → ${escape_html([...edge.through || [], nodes[edge.b].name].join(" → "))}\n${calls_known(model) ? `${format_count(edge.calls)} ${counts}, ` : ""}${format_time(edge.total)}</title></path>`;
  });
  const boxes = nodes.map((node, i) => {
    const inner = width - 20;
    return `<a href="${node.href}"><g class=node data-node=${i} transform="translate(${node.x} ${node.y})"><rect width=${width} height=${NODE_HEIGHT} rx=7 /><text x=10 y=17>${escape_html(fit_name(node.name, inner))}</text><text class=figure x=${width - 10} y=31 text-anchor=end>${format_share(node.self, model.ns)}%</text><rect class="bar of-total" x=10 y=25 width="${((inner - 46) * Math.min(1, node.total / model.ns || 0)).toFixed(1)}" height=5 rx=1 /><rect class=bar x=10 y=25 width="${((inner - 46) * Math.min(1, node.self / model.ns || 0)).toFixed(1)}" height=5 rx=1 /><title>${escape_html(node.name)}\nself ${format_time(node.self)}, total at least ${format_time(node.total)}${calls_known(model) ? `, ${format_count(node.calls)} ${counts}` : ""}</title></g></a>`;
  });
  element.innerHTML = `<svg><g class=scene>${lines.join("")}${boxes.join("")}</g></svg><div class=tools><button data-zoom="1.25" title="Zoom in (+)">+</button><button data-zoom="0.8" title="Zoom out (−)">−</button><button data-zoom="0" title="All of it (0)">Fit</button></div>`;
  const notes = [left_out > 0 && `${left_out} with less time are left out.`, edges.some(edge => edge.through) && "Dotted lines lead through others that take no time themselves."];
  if (notes.some(note => note)) element.insertAdjacentHTML("afterend", `<p class=note>${notes.filter(note => note).join(" ")}</p>`);
  return make_zoomable(element, nodes, edges, width);
}

/* Wheel and buttons zoom, dragging moves; pointing at a node shows its calls. */
function make_zoomable(element, nodes, edges, width) {
  const svg = element.querySelector("svg"), scene = element.querySelector(".scene");
  const low = key => Math.min(...nodes.map(node => node[key])), high = key => Math.max(...nodes.map(node => node[key]));
  const box = nodes.length ? { x: low("x"), y: low("y"), w: high("x") - low("x") + width, h: high("y") - low("y") + NODE_HEIGHT } : { x: 0, y: 0, w: 1, h: 1 };
  let scale = 1, x = 0, y = 0, drag = null;
  const apply = () => scene.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  const zoom = (by, at_x, at_y) => {
    const next = Math.max(0.1, Math.min(6, scale * by));
    x = at_x - (at_x - x) * next / scale; y = at_y - (at_y - y) * next / scale; scale = next;
    apply();
  };
  /* In the middle; of what has no room, so that the box with most time is in sight. */
  const most = nodes[0] || box;
  const fit_side = (room, begin, size, middle) => {
    const all = size * scale;
    if (all <= room - 40) return (room - all) / 2 - begin * scale;
    return Math.min(20 - begin * scale, Math.max(room - 20 - all - begin * scale, room / 2 - middle * scale));
  };
  const fit = () => {
    const w = element.clientWidth, fitting = Math.max(LEAST_SCALE, Math.min(1.15, (w - 40) / box.w));
    element.style.height = "";
    element.style.height = Math.min(element.clientHeight, box.h * fitting + 90) + "px"; /* a flat one leaves no empty room */
    const h = element.clientHeight;
    scale = Math.max(LEAST_SCALE, Math.min(fitting, (h - 40) / box.h));
    x = fit_side(w, box.x, box.w, most.x + width / 2); y = fit_side(h, box.y, box.h, most.y + NODE_HEIGHT / 2);
    apply();
  };
  svg.onwheel = event => {
    const frame = svg.getBoundingClientRect();
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - frame.left, event.clientY - frame.top);
  };
  svg.onpointerdown = event => { drag = { x: event.clientX - x, y: event.clientY - y, moved: false }; };
  svg.onpointermove = event => {
    if (!drag) return;
    const moved = Math.abs(event.clientX - drag.x - x) + Math.abs(event.clientY - drag.y - y) > 4;
    if (moved && !drag.moved) { drag.moved = true; svg.setPointerCapture(event.pointerId); svg.classList.add("moving"); }
    if (drag.moved) { x = event.clientX - drag.x; y = event.clientY - drag.y; apply(); }
  };
  svg.onpointerup = svg.onpointercancel = () => { drag = null; svg.classList.remove("moving"); };
  svg.onmouseover = event => {
    const node = event.target.closest("[data-node]");
    scene.classList.toggle("focused", !!node);
    if (node) for (const path of scene.querySelectorAll(".edge")) {
      const edge = edges[path.dataset.edge];
      path.classList.toggle("near", edge.a === +node.dataset.node || edge.b === +node.dataset.node);
    }
  };
  const by = factor => factor ? zoom(factor, element.clientWidth / 2, element.clientHeight / 2) : fit();
  element.querySelector(".tools").onclick = event => { if (event.target.dataset.zoom) by(+event.target.dataset.zoom); };
  fit();
  return by;
}
