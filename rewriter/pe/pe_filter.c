#include "rewriter/pe/pe_filter.h"

#include "rewriter/elf/elf_sources.h"
#include "rewriter/memory.h"

#include <stdlib.h>
#include <string.h>

static void raise_to(size_t *rule, size_t found)
{
    if (found > *rule)
        *rule = found;
}

/* As the export directory calls the image; null if it has none. */
static const char *module_name(const struct pe_image *image)
{
    struct pe_table directory = pe_directory_table(image, PE_EXPORTS, sizeof(struct pe_exports));
    struct pe_exports exports;

    if (directory.count == 0)
        return NULL;
    memcpy(&exports, directory.bytes, sizeof exports);
    return pe_string(image, exports.name);
}

void pe_filter_apply(struct filter *filter, struct pe_code *pe)
{
    struct pe_code names;
    const char *module;
    size_t *rules, rule;

    if (!filter || filter->count == 0)
        return;
    module = module_name(pe->image);
    rules = memory_zeroed(pe->functions.count, sizeof *rules);
    rule = filter_match_path(filter, FILTER_MODULE, pe->image->path);
    if (module)
        raise_to(&rule, filter_match(filter, FILTER_MODULE, module));
    pe_aliases_read(&names, pe->image);
    for (size_t i = 0; i < pe->functions.count; i++) {
        raise_to(&rules[i], rule);
        if (pe->functions.items[i].name)
            raise_to(&rules[i], filter_match_symbol(filter, pe->functions.items[i].name));
    }
    for (size_t i = 0; i < names.functions.count; i++) {
        const struct function *alias = &names.functions.items[i];
        const struct function *function = function_list_at(&pe->functions, alias->address);

        if (function && alias->name)
            raise_to(&rules[function - pe->functions.items],
                     filter_match_symbol(filter, alias->name));
    }
    pe_code_free(&names);
    if (filter_looks_at(filter, FILTER_SOURCE))
        elf_sources_match(filter, pe->image->path, &pe->functions, rules);
    for (size_t i = 0; i < pe->functions.count; i++)
        if (pe->functions.items[i].reason == PATCH_UNDECIDED && filter_excludes(filter, rules[i]))
            pe->functions.items[i].reason = PATCH_EXCLUDED;
    free(rules);
}
