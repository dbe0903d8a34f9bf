/*
 * Samples one by one, for what a range of time took, and for which instructions took it:
 *
 *      at_ns           stack                     spot                  ns
 *      12:00:01.204    main > parse > lex        libx.so, 0x1f40       1,000,000
 *
 * A recording whose times are samples has them. A thread's samples may be thinned out (trace_format.h), each then
 * stands for more time. So sums over hits are nearly those of functions, and these stay the figures.
 */
#ifndef UMBRA_GRINDER_HITS_H
#define UMBRA_GRINDER_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/stacks.h"
#include "grinder/profile/tree.h"

struct hit {
    uint64_t at_ns; /* CLOCK_REALTIME */
    uint64_t ns;    /* processor time that it stands for */
    uint64_t spot;  /* image << 32 | rva of an instruction, as in the original; 0: not known */
    uint32_t stack; /* number among the part's stacks */
};

/* All zero: there are none. */
struct hit_list {
    struct hit *items;
    size_t count, room;
};

/* Adds the hits of a thread, by its ordinal. stacks has those of the thread's contexts, numbers their
   numbers by slot (stack_of_context). chosen: functions by number; null: all. */
void hits_add(struct hit_list *hits, const struct tree *tree, uint32_t thread,
              struct stack_tree *stacks, uint32_t *numbers, const uint8_t *chosen);
void hits_free(struct hit_list *hits);

#endif
