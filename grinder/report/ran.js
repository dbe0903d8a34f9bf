/* How much of files, functions and modules ran, which lines never did, and how often others: only of recordings that noted or counted blocks. */
const cover = data.cover;
const shares = {};
for (const kind of ["files", "functions", "modules"])
  shares[kind] = new Map(cover && cover[kind].id.map((id, i) => [id, { all: cover[kind].all[i], ran: cover[kind].ran[i], of: kind === "files" ? "lines" : "blocks" }]));
const missed_lines = new Map(cover && cover.files.id.map((file, i) => [file, cover.missed[i]]));

/* Of what was counted: by file and line, by function and byte. */
const has_runs = !!cover?.runs;
const pairs_of = list => new Map(Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]));
const line_runs = new Map(has_runs ? cover.files.id.map((file, i) => [file, pairs_of(cover.runs.lines[i])]) : []);
const block_runs = new Map(has_runs ? cover.functions.id.map((f, i) => [f, pairs_of(cover.runs.blocks[i])]) : []);

/* How often each of a function's instructions ran, by its offset: as often as the last block that began. undefined: it is in none. */
function runs_of_instructions(f, offsets) {
  const blocks = block_runs.get(f);
  let runs;
  return offsets.map(offset => {
    if (blocks?.has(offset)) runs = blocks.get(offset);
    return runs;
  });
}

/* All and nothing are exactly that. */
function share_percent({ ran, all }) {
  const percent = 100 * ran / all;
  return ran === all ? "100%" : ran && percent < 1 ? "<1%" : Math.floor(percent) + "%";
}

const share_title = ({ ran, all, of }) => `${format_count(ran)} of ${format_count(all)} ${of} ran`;

/* What has no blocks comes last where most comes first. */
const share_order = (kind, id) => { const share = shares[kind].get(id); return share ? share.ran / share.all : -1; };

function share_cell(tag, name, kind, id) {
  if (!cover) return "";
  const share = shares[kind].get(id);
  return `<${tag} class="${name}"${share ? ` title="${share_title(share)}"` : ""}>${share ? escape_html(share_percent(share)) : ""}</${tag}>`;
}

function fact_of_share(share) {
  return share ? fact(`${escape_html(share_percent(share))}<span class=quiet> of ${format_count(share.all)}</span>`, share.of + " ran") : "";
}

/* Of all modules: blocks. */
function whole_share() {
  const sum = { ran: 0, all: 0, of: "blocks" };
  for (const { ran, all } of shares.modules.values()) { sum.ran += ran; sum.all += all; }
  return sum.all ? sum : null;
}

/* Above a source, what dimmed lines are. */
function legend_of_missed(file) {
  if (!cover) return "";
  const share = shares.files.get(file), count = share ? share.all - share.ran : 0;
  const text = !share ? "Which lines ran is not known" : !count ? `All ${format_count(share.all)} lines ran` : `Dimmed: ${format_count(count)} of ${format_count(share.all)} lines never ran`;
  const more = share ? "Of the whole run, by all processes of this page. Other lines have no code whose blocks are noted." : "No function of this file has a copy whose blocks are noted.";
  return `<span class=legend title="${text}. ${more}">${text}</span>`;
}
