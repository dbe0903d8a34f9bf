#include "rewriter/functions/filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/base/say.h"
#include "support/memory.h"

/* A longer name is not demangled: back references let the result grow exponentially. */
#define MAX_MANGLED 4096u

static const struct {
    const char *prefix;
    unsigned scope;
} prefixes[] = {
    {"function:", FILTER_FUNCTION},
    {"source:", FILTER_SOURCE},
    {"module:", FILTER_MODULE},
};

static bool read_address(const char **text, uint64_t *address)
{
    char *end;

    if (strncmp(*text, "0x", 2) != 0 || !isxdigit((unsigned char)(*text)[2]))
        return false;
    errno = 0;
    *address = strtoull(*text, &end, 16);
    *text = end;
    return errno == 0;
}

/* Whether it is an address, or two with a hyphen between them. */
static bool read_addresses(struct filter_rule *rule, const char *text)
{
    uint64_t from, to = 0;

    if (!read_address(&text, &from) || (*text == '-' && (text++, !read_address(&text, &to))) ||
        *text)
        return false;
    rule->scopes = FILTER_ADDRESS;
    rule->from = from;
    rule->to = to;
    return true;
}

/* Behind "module!", if that is there. */
static const char *addresses_in(const char *pattern)
{
    const char *mark = strrchr(pattern, '!');

    return mark && mark > pattern ? mark + 1 : pattern;
}

bool filter_add(struct filter *filter, bool is_include, const char *pattern)
{
    struct filter_rule rule = {
        .scopes = FILTER_FUNCTION | FILTER_SOURCE | FILTER_MODULE,
        .is_include = is_include,
    };
    const char *addresses;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        size_t length = strlen(prefixes[i].prefix);

        if (strncmp(pattern, prefixes[i].prefix, length) != 0)
            continue;
        rule.scopes = prefixes[i].scope;
        pattern += length;
        break;
    }
    addresses = addresses_in(pattern);
    if (!*pattern ||
        (read_addresses(&rule, addresses) && strchr(addresses, '-') && rule.to <= rule.from))
        return false;
    if (rule.scopes == FILTER_ADDRESS && addresses > pattern)
        rule.module = memory_print("%.*s", (int)(addresses - pattern - 1), pattern);
    rule.pattern = memory_zeroed(strlen(pattern) + 1, 1);
    strcpy(rule.pattern, pattern);
    filter->rules = memory_grow(filter->rules, filter->count, &filter->room, sizeof(rule));
    filter->rules[filter->count++] = rule;
    return true;
}

/* What is behind a word and a blank, or null. */
static char *behind(char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && isblank((unsigned char)line[length])
               ? line + length + 1
               : NULL;
}

static char *trimmed(char *text)
{
    size_t length;

    while (isspace((unsigned char)*text))
        text++;
    for (length = strlen(text); length && isspace((unsigned char)text[length - 1]);)
        text[--length] = 0;
    return text;
}

static bool add_line(struct filter *filter, char *line)
{
    char *include = *line == '+' ? line + 1 : behind(line, "include");
    char *exclude = *line == '-' ? line + 1 : behind(line, "exclude");

    if (*line == 0 || *line == '#')
        return true;
    if (!include && !exclude)
        return false;
    return filter_add(filter, include, trimmed(include ? include : exclude));
}

bool filter_read(struct filter *filter, const char *path, struct failure *failure)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0, number = 0;
    bool is_fine = true;

    if (!file)
        return fail(failure, path, "cannot read it: %s", strerror(errno));
    while (is_fine && getline(&line, &room, file) >= 0) {
        number++;
        is_fine = add_line(filter, trimmed(line)) ||
                  fail(failure, path,
                       "line %zu: expected 'include PATTERN' or 'exclude PATTERN', found '%.100s'",
                       number, trimmed(line));
    }
    if (is_fine && ferror(file))
        is_fine = fail(failure, path, "cannot read it: %s", strerror(errno));
    free(line);
    fclose(file);
    return is_fine;
}

void filter_free(struct filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->rules[i].pattern);
        free(filter->rules[i].module);
    }
    free(filter->rules);
    *filter = (struct filter){0};
}

bool filter_has_scope(const struct filter *filter, enum filter_scope scope)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->rules[i].scopes & scope)
            return true;
    return false;
}

size_t filter_match(struct filter *filter, enum filter_scope scope, const char *name)
{
    size_t last = 0;

    for (size_t i = 0; i < filter->count; i++) {
        struct filter_rule *rule = &filter->rules[i];

        if (!(rule->scopes & scope) ||
            (strcmp(rule->pattern, name) != 0 && fnmatch(rule->pattern, name, 0) != 0))
            continue;
        rule->has_matched = true;
        last = i + 1;
    }
    return last;
}

static size_t match_demangled(struct filter *filter, const char *symbol, int options)
{
    char *name = cplus_demangle(symbol, DMGL_AUTO | DMGL_ANSI | options);
    size_t rule = name ? filter_match(filter, FILTER_FUNCTION, name) : 0;

    free(name);
    return rule;
}

size_t filter_match_symbol(struct filter *filter, const char *symbol)
{
    size_t last = filter_match(filter, FILTER_FUNCTION, symbol), rule;

    if (*symbol != '_' || strlen(symbol) > MAX_MANGLED)
        return last;
    rule = match_demangled(filter, symbol, DMGL_PARAMS);
    last = rule > last ? rule : last;
    rule = match_demangled(filter, symbol, DMGL_NO_OPTS);
    return rule > last ? rule : last;
}

size_t filter_match_path(struct filter *filter, enum filter_scope scope, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t whole = filter_match(filter, scope, path);
    size_t part = slash ? filter_match(filter, scope, slash + 1) : 0;

    return whole > part ? whole : part;
}

static bool is_called(const char *name, const char *module)
{
    return name && (!strcmp(name, module) || fnmatch(module, name, 0) == 0);
}

bool filter_rule_is_of(const struct filter_rule *rule, const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (!(rule->scopes & FILTER_ADDRESS))
        return false;
    return !rule->module || is_called(name, rule->module) || is_called(path, rule->module) ||
           is_called(slash ? slash + 1 : NULL, rule->module);
}

bool filter_rule_has(const struct filter_rule *rule, uint64_t address, uint64_t end)
{
    if (rule->to)
        return rule->from <= address && address < rule->to;
    return rule->from == address || (address < rule->from && rule->from < end);
}

bool filter_is_excluded(const struct filter *filter, size_t rule)
{
    if (filter->count == 0)
        return false;
    return rule ? !filter->rules[rule - 1].is_include : filter->rules[0].is_include;
}

const char *filter_rule_option(const struct filter *filter, size_t rule)
{
    if (filter->option)
        return filter->option;
    return filter->rules[rule].is_include ? "include" : "exclude";
}

void filter_warn(const struct filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!filter->rules[i].has_matched)
            say_note("warning: --%s=%s matches nothing", filter_rule_option(filter, i),
                     filter->rules[i].pattern);
}
