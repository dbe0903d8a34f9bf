#include "rewriter/tool/exclude.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/functions/source_rules.h"
#include "support/memory.h"

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

static void match_module(struct verdicts *verdicts, const struct image *image)
{
    const char *name = image->format->module_name(image);
    size_t rule = filter_match_path(verdicts->filter, FILTER_MODULE, image->input->path);
    char *path = realpath(image->input->path, NULL);

    if (path)
        raise_to(&rule, filter_match_path(verdicts->filter, FILTER_MODULE, path));
    free(path);
    if (name)
        raise_to(&rule, filter_match(verdicts->filter, FILTER_MODULE, name));
    for (size_t i = 0; i < verdicts->functions->count; i++)
        verdicts->rules[i] = rule;
}

static void match_name(void *context, uint64_t address, const char *name)
{
    struct verdicts *verdicts = context;
    const struct function *function = function_list_at(verdicts->functions, address);

    if (function)
        raise_to(&verdicts->rules[function - verdicts->functions->items],
                 filter_match_symbol(verdicts->filter, name));
}

/* The format visits functions that have symbols. */
static void match_names(struct verdicts *verdicts, const struct image *image)
{
    for (size_t i = 0; i < verdicts->functions->count; i++) {
        const struct function *function = &verdicts->functions->items[i];

        if (function->name && !(function->evidence & EVIDENCE_SYMBOL))
            match_name(verdicts, function->address, function->name);
    }
    image->format->visit_names(image, match_name, verdicts);
}

/* Whether a rule of addresses matches a function; they count from `origin`. */
static bool match_rule(struct verdicts *verdicts, size_t number, uint64_t origin)
{
    const struct filter_rule *rule = &verdicts->filter->rules[number - 1];
    bool has_matched = false;

    for (size_t i = 0; i < verdicts->functions->count; i++) {
        const struct function *function = &verdicts->functions->items[i];

        if (!filter_rule_has(rule, function->address - origin, function->end - origin))
            continue;
        has_matched = true;
        raise_to(&verdicts->rules[i], number);
    }
    return has_matched;
}

/* Addresses count as linked, or else from the image's beginning. */
static void match_addresses(struct verdicts *verdicts, const struct image *image)
{
    const char *name = image->format->module_name(image);
    char *path = realpath(image->input->path, NULL);

    for (size_t i = 0; i < verdicts->filter->count; i++) {
        struct filter_rule *rule = &verdicts->filter->rules[i];

        if (filter_rule_is_of(rule, path, name) &&
            (match_rule(verdicts, i + 1, 0) || match_rule(verdicts, i + 1, image->base)))
            rule->has_matched = true;
    }
    free(path);
}

static int by_address(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

void exclude_others(struct function_list *functions, const struct chosen_functions *only)
{
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (function->reason == PATCH_UNDECIDED &&
            !bsearch(&function->address, only->addresses, only->count, sizeof(*only->addresses),
                     by_address))
            function->reason = PATCH_EXCLUDED;
    }
}

void exclude_all_but_finder(struct function_list *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (function->reason == PATCH_UNWINDER && !strcmp(function->name, "_Unwind_Find_FDE"))
            function->reason = PATCH_UNDECIDED;
        else if (function->reason == PATCH_UNDECIDED)
            function->reason = PATCH_EXCLUDED;
    }
}

/* To be freed. Null if there are no rules. */
static size_t *last_rules(struct image *image, struct filter *filter)
{
    struct function_list *functions = image->functions;
    struct verdicts verdicts = {.filter = filter, .functions = functions};

    if (!filter || filter->count == 0)
        return NULL;
    verdicts.rules = memory_zeroed(functions->count, sizeof(*verdicts.rules));
    match_module(&verdicts, image);
    if (filter_has_scope(filter, FILTER_FUNCTION) && image->format->read_debug_names)
        image->format->read_debug_names(image, false);
    match_names(&verdicts, image);
    if (filter_has_scope(filter, FILTER_ADDRESS))
        match_addresses(&verdicts, image);
    if (filter_has_scope(filter, FILTER_SOURCE))
        source_rules_match(filter, image->input->path, functions, verdicts.rules);
    return verdicts.rules;
}

void exclude_functions(struct image *image, struct filter *filter)
{
    struct function_list *functions = image->functions;
    size_t *rules = last_rules(image, filter);

    for (size_t i = 0; rules && i < functions->count; i++)
        if (functions->items[i].reason == PATCH_UNDECIDED && filter_is_excluded(filter, rules[i]))
            functions->items[i].reason = PATCH_EXCLUDED;
    free(rules);
}

void choose_timed(struct image *image, struct filter *times)
{
    size_t *rules = last_rules(image, times);

    for (size_t i = 0; rules && i < image->functions->count; i++)
        image->functions->items[i].is_timed = rules[i];
    free(rules);
}
