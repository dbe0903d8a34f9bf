#include "grinder/formats/format.h"

#include <string.h>

const struct format formats[] = {
    {"callgrind", "callgrind", false, false, callgrind_write, NULL},
    {"folded", "folded", true, false, folded_write, NULL},
    {"flamegraph", "svg", true, false, flamegraph_write, NULL},
    {"pprof", "pb.gz", true, false, pprof_write, NULL},
    {"speedscope", "speedscope.json", true, false, speedscope_write, NULL},
    {"tsv", "tsv", false, false, tsv_write, NULL},
    {"tsv-edges", "edges.tsv", false, false, tsv_edges_write, NULL},
    {"json", "json", false, false, json_write, NULL},
    {"baseline", "baseline", false, false, baseline_write, NULL},
    {"chrome", "trace.json", false, true, NULL, chrome_write},
    {"perfetto", "pftrace", false, true, NULL, perfetto_write},
    {"firefox", "firefox.json", true, false, NULL, firefox_write},
    {NULL, NULL, false, false, NULL, NULL},
};

const struct format *format_named(const char *name)
{
    for (const struct format *format = formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
