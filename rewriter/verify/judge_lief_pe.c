#include "rewriter/verify/judge_lief.h"

#include <LIEF/PE.h>
#include <LIEF/logging.h>
#include <string.h>

enum verdict judge_lief_pe(const char *path, const struct judge_expectation *expected)
{
    Pe_Binary_t *binary;
    size_t sections = 0;

    lief_logging_disable();
    binary = pe_parse(path);
    if (!binary)
        return VERDICT_UNREADABLE;
    while (binary->sections && binary->sections[sections])
        sections++;
    if (sections != expected->sections)
        return VERDICT_SECTIONS;
    if (!binary->imports || !binary->imports[0] ||
        strcmp(binary->imports[0]->name, expected->needed) != 0)
        return VERDICT_LIBRARIES;
    return VERDICT_WELL_FORMED;
}
