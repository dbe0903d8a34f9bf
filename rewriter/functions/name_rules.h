/* Functions that are left alone for what they are called. Each image format has its own lists. */
#ifndef UMBRA_REWRITER_NAME_RULES_H
#define UMBRA_REWRITER_NAME_RULES_H

#include "rewriter/functions/function_list.h"

/* Lists end with null. */
struct name_rules {
    const char *const *returns_twice;
    const char *const *callers_frame; /* work on their caller's return address */
    const char *const *unwinder_prefixes;
};

/* Whether it is one of a list that ends with null. */
bool name_is_one_of(const char *name, const char *const *names);

/* PATCH_UNDECIDED if the name says nothing. */
enum patch_reason name_reason(const struct name_rules *rules, const char *name);

#endif
