#include "grinder/profile/selection.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/profile/own_name.h"
#include "grinder/symbols/demangle.h"
#include "support/memory.h"

void patterns_add(struct patterns *patterns, const char *text)
{
    patterns->patterns = memory_grow(patterns->patterns, patterns->count, &patterns->room,
                                     sizeof(*patterns->patterns));
    patterns->patterns[patterns->count++] = (struct pattern){.text = text};
}

/* A number is that number, and no glob. */
static bool is_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (uint32_t)value;
    return text[strspn(text, "0123456789")] == 0 && *text && value <= UINT32_MAX;
}

static bool matches(const struct pattern *pattern, const char *name, uint32_t id, uint32_t other_id)
{
    uint32_t number;

    if (is_number(pattern->text, &number))
        return number == id || number == other_id;
    return fnmatch(pattern->text, name, 0) == 0;
}

static bool matches_one(const struct pattern *pattern, const char *const *names, uint32_t id,
                        uint32_t other_id)
{
    for (; *names; names++)
        if (matches(pattern, *names, id, other_id))
            return true;
    return false;
}

/* Every pattern is tried, so that all that match something are known. names end with null. */
static bool any_matches(struct patterns *patterns, const char *const *names, uint32_t id,
                        uint32_t other_id)
{
    bool found = patterns->count == 0;

    for (size_t i = 0; i < patterns->count; i++) {
        struct pattern *pattern = &patterns->patterns[i];
        if (!matches_one(pattern, names, id, other_id))
            continue;
        pattern->matched = true;
        found = true;
    }
    return found;
}

bool selection_has_process(struct selection *selection, const struct trace_header *header)
{
    char name[OWN_NAME_SIZE];

    own_name(name, header);
    return any_matches(
        &selection->processes,
        (const char *const[]){header->exe, own_name_of_path(header->exe), name, NULL}, header->pid,
        header->pid);
}

bool selection_has_thread(struct selection *selection, const struct trace_thread *thread)
{
    return any_matches(&selection->threads, (const char *const[]){thread->name, NULL}, thread->tid,
                       thread->ordinal);
}

/* A function's name may be all digits; a pattern of them then is that name. */
static bool name_matches(struct patterns *patterns, const char *name)
{
    bool found = false;

    for (size_t i = 0; i < patterns->count; i++) {
        struct pattern *pattern = &patterns->patterns[i];
        if (strcmp(pattern->text, name) != 0 && fnmatch(pattern->text, name, 0) != 0)
            continue;
        pattern->matched = true;
        found = true;
    }
    return found;
}

/* Frees the name. */
static bool own_name_matches(struct patterns *patterns, char *name)
{
    bool found = name_matches(patterns, name);

    free(name);
    return found;
}

/* A symbol matches as it stands in the symbol table, as it is shown, or without arguments. */
static bool symbol_matches(struct patterns *patterns, const char *symbol)
{
    bool found = name_matches(patterns, symbol);

    found |= own_name_matches(patterns, demangle(symbol));
    found |= own_name_matches(patterns, demangle_bare(symbol));
    return found;
}

/* Every name is tried, so that all patterns that match something are known. */
static bool function_matches(struct patterns *patterns, const struct function *function)
{
    bool found = name_matches(patterns, function->name);
    char *bare = memory_copy_string(function->name);

    bare[strcspn(bare, "(")] = 0;
    found |= own_name_matches(patterns, bare);
    if (function->symbol)
        found |= symbol_matches(patterns, function->symbol);
    for (const char *alias = function->aliases; alias && *alias; alias += strlen(alias) + 1)
        found |= symbol_matches(patterns, alias);
    return found;
}

void selection_choose_functions(struct selection *selection, const struct images *images)
{
    size_t count = images_function_count(images);

    if (!selection->functions.count)
        return;
    selection->chosen = memory_zeroed(count, 1);
    selection->chosen_count = count;
    for (size_t i = 1; i < count; i++)
        selection->chosen[i] = function_matches(&selection->functions, &images->functions[i]);
}

/* A process that still records may have entered functions since they were chosen. */
const uint8_t *selection_functions(struct selection *selection, size_t count)
{
    uint8_t *longer;

    if (!selection->chosen || count <= selection->chosen_count)
        return selection->chosen;
    longer = memory_zeroed(count, 1);
    memcpy(longer, selection->chosen, selection->chosen_count);
    free(selection->chosen);
    selection->chosen = longer;
    selection->chosen_count = count;
    return longer;
}

static int check(const struct patterns *patterns, const char *option, const char *expected)
{
    int result = 0;

    for (size_t i = 0; i < patterns->count; i++) {
        if (patterns->patterns[i].matched)
            continue;
        message("%s=%s: expected %s, found none in the traces", option, patterns->patterns[i].text,
                expected);
        result = -1;
    }
    return result;
}

int selection_check(const struct selection *selection)
{
    int result = 0;

    if (check(&selection->processes, "--process", "a process of that pid or executable") < 0)
        result = -1;
    if (check(&selection->threads, "--thread", "a thread of that tid, ordinal or name") < 0)
        result = -1;
    if (check(&selection->functions, "--function", "a function of that name") < 0)
        result = -1;
    return result;
}

void selection_free(struct selection *selection)
{
    free(selection->processes.patterns);
    free(selection->threads.patterns);
    free(selection->functions.patterns);
    free(selection->chosen);
    *selection = (struct selection){0};
}
