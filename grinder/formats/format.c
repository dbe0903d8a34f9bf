#include "grinder/formats/format.h"

#include <string.h>

const struct format formats[] = {
    {"callgrind", "callgrind", false, false, true, callgrind_write, NULL},
    {"folded", "folded", true, false, false, folded_write, NULL},
    {"flamegraph", "svg", true, false, false, flamegraph_write, NULL},
    {"pprof", "pb.gz", true, false, false, pprof_write, NULL},
    {"speedscope", "speedscope.json", true, false, false, speedscope_write, NULL},
    {"tsv", "tsv", false, false, false, tsv_write, NULL},
    {"tsv-edges", "edges.tsv", false, false, false, tsv_edges_write, NULL},
    {"json", "json", false, false, false, json_write, NULL},
    {"chrome", "trace.json", false, true, false, NULL, chrome_write},
    {"perfetto", "pftrace", false, true, false, NULL, perfetto_write},
    {"firefox", "firefox.json", true, false, false, NULL, firefox_write},
    {NULL, NULL, false, false, false, NULL, NULL},
};

const struct format *format_named(const char *name)
{
    for (const struct format *format = formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
