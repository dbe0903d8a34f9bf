/*
 * Which functions the user wants hooked: rules, each an include or exclude with a glob (fnmatch),
 * in the order they were given. A function is what the last rule that matches it says; one that no
 * rule matches is the opposite of the first rule.
 *
 *      --exclude='lua_*' --include=lua_callk       all but lua_*, yet lua_callk
 *      --include='*.c'                             what comes from C sources, nothing else
 *
 * A pattern is compared with names of functions (as in the symbol table; demangled; demangled
 * without the arguments), source files (as DWARF has them; without their folders) and the module
 * (path; file name; soname). In front of it, `function:`, `source:` or `module:` limits it to one
 * of these. A pattern that equals a name matches it, whatever special characters it has.
 *
 *      0x1234              the function that begins there or has that address in it
 *      0x1000-0x2000       functions that begin there: 0x1000 or later, before 0x2000
 *
 *      gawk!0x1234         the function of that address, in the module of that name alone
 *
 * is no pattern but an address, as --list and the grinder show them. So functions without a name can be
 * chosen. Where no function has it in an image that is linked to a fixed address, it is taken for one that
 * counts from the image's beginning.
 */
#ifndef UMBRA_REWRITER_FILTER_H
#define UMBRA_REWRITER_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "support/failure.h"

enum filter_scope {
    FILTER_FUNCTION = 1,
    FILTER_SOURCE = 2,
    FILTER_MODULE = 4,
    FILTER_ADDRESS = 8,
};

struct filter_rule {
    char *pattern;
    char *module;      /* FILTER_ADDRESS: of that module alone; null: of any */
    unsigned scopes;   /* set of enum filter_scope */
    uint64_t from, to; /* FILTER_ADDRESS; to 0: a single one */
    bool is_include;
    bool has_matched; /* something, so far */
};

/* {0} is an empty one, which excludes nothing. */
struct filter {
    struct filter_rule *rules;
    size_t count, room;
    const char *option; /* whose patterns they are; null: --include and --exclude */
};

/* False if the pattern, or the range of addresses, is empty. */
bool filter_add(struct filter *filter, bool is_include, const char *pattern);
/* Adds a file's: `include PATTERN`, `+PATTERN`, `exclude PATTERN`, `-PATTERN`, # comments. */
bool filter_read(struct filter *filter, const char *path, struct failure *failure);
void filter_free(struct filter *filter);

/* Whether a rule could match something of that scope. */
bool filter_has_scope(const struct filter *filter, enum filter_scope scope);
/* The number, from 1, of the last rule that matches a name of that scope; 0 if none does. */
size_t filter_match(struct filter *filter, enum filter_scope scope, const char *name);
/* The number, from 1, of the last rule that matches the name of a symbol in any of its forms; 0 if none does.
   */
size_t filter_match_symbol(struct filter *filter, const char *symbol);
/* The number, from 1, of the last rule that matches a path, whole or its last part; 0 if none does.
   */
size_t filter_match_path(struct filter *filter, enum filter_scope scope, const char *path);
/* Whether the rule is of addresses, and of that module; path and name may be null. */
bool filter_rule_is_of(const struct filter_rule *rule, const char *path, const char *name);
/* Whether a rule of addresses has a function that begins at `address` and ends before `end`. */
bool filter_rule_has(const struct filter_rule *rule, uint64_t address, uint64_t end);
/* What a function is whose last matching rule has that number. */
bool filter_is_excluded(const struct filter *filter, size_t rule);

/* The option that gives a rule, counted from 0: "exclude". */
const char *filter_rule_option(const struct filter *filter, size_t rule);
/* Says on stderr which patterns have matched nothing. */
void filter_warn(const struct filter *filter);

#endif
