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
static bool read_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (uint32_t)value;
    return text[strspn(text, "0123456789")] == 0 && *text && value <= UINT32_MAX;
}

static bool matches(const struct pattern *pattern, const char *name, uint32_t id, uint32_t other_id)
{
    uint32_t number;

    if (read_number(pattern->text, &number))
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
static bool match_any(struct patterns *patterns, const char *const *names, uint32_t id,
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

bool selection_match_process(struct selection *selection, const struct trace_header *header)
{
    char name[OWN_NAME_SIZE];

    own_name(name, header);
    return match_any(&selection->processes,
                     (const char *const[]){header->exe, own_name_of_path(header->exe), name, NULL},
                     header->pid, header->pid);
}

bool selection_match_thread(struct selection *selection, const struct trace_thread *thread)
{
    return match_any(&selection->threads, (const char *const[]){thread->name, NULL}, thread->tid,
                     thread->ordinal);
}

/* A function's name may be all digits; a pattern of them then is that name. */
static bool match_name(struct patterns *patterns, const char *name)
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
static bool match_own_name(struct patterns *patterns, char *name)
{
    bool found = match_name(patterns, name);

    free(name);
    return found;
}

/* A symbol matches as it stands in the symbol table, as it is shown, or without arguments. */
static bool match_symbol(struct patterns *patterns, const char *symbol)
{
    bool found = match_name(patterns, symbol);

    found |= match_own_name(patterns, demangle(symbol));
    found |= match_own_name(patterns, demangle_bare(symbol));
    return found;
}

/* Every name is tried, so that all patterns that match something are known. */
static bool match_function(struct patterns *patterns, const struct function *function)
{
    bool found = match_name(patterns, function->name);
    char *bare = memory_copy_string(function->name);

    bare[strcspn(bare, "(")] = 0;
    found |= match_own_name(patterns, bare);
    if (function->symbol)
        found |= match_symbol(patterns, function->symbol);
    for (const char *alias = function->aliases; alias && *alias; alias += strlen(alias) + 1)
        found |= match_symbol(patterns, alias);
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
        selection->chosen[i] = match_function(&selection->functions, &images->functions[i]);
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
