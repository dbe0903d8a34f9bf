#include "rewriter/elf/elf_filter.h"

#include "rewriter/elf/elf_sources.h"
#include "rewriter/memory.h"

#include <stdlib.h>

/* Numbers of the last rules that match, one for each function. */
struct verdicts {
    struct filter *filter;
    const struct function_list *functions;
    size_t *rules;
};

static void raise_to(size_t *rule, size_t found)
{
    if (found > *rule)
        *rule = found;
}

static void match_module(struct verdicts *verdicts, const struct elf_image *image)
{
    const Elf64_Dyn *entry = elf_dynamic(image, DT_SONAME);
    const char *soname = entry ? elf_dynamic_string(image, entry->d_un.d_val) : NULL;
    size_t rule = filter_match_path(verdicts->filter, FILTER_MODULE, image->path);

    if (soname)
        raise_to(&rule, filter_match(verdicts->filter, FILTER_MODULE, soname));
    for (size_t i = 0; i < verdicts->functions->count; i++)
        verdicts->rules[i] = rule;
}

static void match_symbols(struct verdicts *verdicts, struct elf_table symbols,
                          struct elf_table strings)
{
    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const struct function *function = function_list_at(verdicts->functions, symbol.st_value);
        const char *name = function ? elf_string(strings, symbol.st_name) : NULL;

        if (symbol.st_shndx != SHN_UNDEF && name && *name)
            raise_to(&verdicts->rules[function - verdicts->functions->items],
                     filter_match_symbol(verdicts->filter, name));
    }
}

static void match_functions(struct verdicts *verdicts, const struct elf_image *image)
{
    struct elf_table strings, symbols = elf_static_symbols(image, &strings);
    uint64_t size = elf_dynamic_value(image, DT_STRSZ, 0);

    for (size_t i = 0; i < verdicts->functions->count; i++) {
        const struct function *function = &verdicts->functions->items[i];

        if (function->name && !(function->evidence & EVIDENCE_SYMBOL))
            raise_to(&verdicts->rules[i], filter_match_symbol(verdicts->filter, function->name));
    }
    match_symbols(verdicts, symbols, strings);
    strings.bytes = elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), size);
    strings.count = strings.bytes ? size : 0;
    match_symbols(verdicts, elf_dynamic_symbols(image), strings);
}

void elf_filter_apply(struct filter *filter, struct elf_code *elf, const struct elf_image *image)
{
    struct verdicts verdicts = {.filter = filter, .functions = &elf->functions};

    if (!filter || filter->count == 0)
        return;
    verdicts.rules = memory_zeroed(elf->functions.count, sizeof *verdicts.rules);
    match_module(&verdicts, image);
    match_functions(&verdicts, image);
    if (filter_looks_at(filter, FILTER_SOURCE))
        elf_sources_match(filter, image->path, &elf->functions, verdicts.rules);
    for (size_t i = 0; i < elf->functions.count; i++)
        if (elf->functions.items[i].reason == PATCH_UNDECIDED &&
            filter_excludes(filter, verdicts.rules[i]))
            elf->functions.items[i].reason = PATCH_EXCLUDED;
    free(verdicts.rules);
}
