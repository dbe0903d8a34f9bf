#include "grinder/format.h"

#include <string.h>

const struct format formats[] = {
    {"callgrind", "callgrind", false, callgrind_write, NULL},
    {"folded", "folded", true, folded_write, NULL},
    {"flamegraph", "svg", true, flamegraph_write, NULL},
    {"pprof", "pb.gz", true, pprof_write, NULL},
    {"speedscope", "speedscope.json", true, speedscope_write, NULL},
    {"tsv", "tsv", false, tsv_write, NULL},
    {"tsv-edges", "edges.tsv", false, tsv_edges_write, NULL},
    {"json", "json", false, json_write, NULL},
    {"chrome", "trace.json", false, NULL, chrome_write},
    {"perfetto", "pftrace", false, NULL, perfetto_write},
    {"firefox", "firefox.json", false, NULL, firefox_write},
    {NULL, NULL, false, NULL, NULL},
};

const struct format *format_named(const char *name)
{
    for (const struct format *format = formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
