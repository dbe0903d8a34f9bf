#include "grinder/format.h"

#include <string.h>

const struct format formats[] = {
    {"callgrind", "callgrind", false, false, callgrind_write},
    {"folded", "folded", true, false, folded_write},
    {"flamegraph", "svg", true, false, flamegraph_write},
    {"pprof", "pb.gz", true, false, pprof_write},
    {"speedscope", "speedscope.json", true, false, speedscope_write},
    {"tsv", "tsv", false, false, tsv_write},
    {"tsv-edges", "edges.tsv", false, false, tsv_edges_write},
    {"json", "json", false, false, json_write},
    {"chrome", "json", false, true, NULL},
    {"perfetto", "pftrace", false, true, NULL},
    {"firefox", "json", false, true, NULL},
    {NULL, NULL, false, false, NULL},
};

const struct format *format_named(const char *name)
{
    for (const struct format *format = formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
