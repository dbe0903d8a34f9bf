#include "rewriter/verify/judge_lief.h"

#include <LIEF/ELF.h>
#include <LIEF/PE.h>
#include <LIEF/logging.h>
#include <string.h>

static size_t count(void *const *items)
{
    size_t number = 0;

    while (items && items[number])
        number++;
    return number;
}

static int needs_first(const Elf_Binary_t *binary, const char *name)
{
    for (size_t i = 0; binary->dynamic_entries && binary->dynamic_entries[i]; i++)
        if (binary->dynamic_entries[i]->tag == LIEF_ELF_DT_NEEDED)
            return strcmp(((Elf_DynamicEntry_Library_t *)binary->dynamic_entries[i])->name, name) ==
                   0;
    return 0;
}

enum verdict judge_lief(const char *path, const struct judge_expectation *expected)
{
    Elf_Binary_t *binary;

    lief_logging_disable();
    binary = elf_parse(path);
    if (!binary)
        return VERDICT_UNREADABLE;
    if (count((void *const *)binary->segments) != expected->segments)
        return VERDICT_SEGMENTS;
    if (count((void *const *)binary->sections) != expected->sections)
        return VERDICT_SECTIONS;
    if (expected->needed && !needs_first(binary, expected->needed))
        return VERDICT_LIBRARIES;
    return VERDICT_WELL_FORMED;
}

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
