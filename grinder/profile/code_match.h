/*
 * Which functions of one build are which of another, where neither has names. Each build is a list of all its
 * functions, recorded or not, in the order of their addresses, with what their code is (code_hash.h). As Heckel
 * does it for lines of files (A technique for isolating differences between files, 1978):
 *
 *      before     after
 *      a    <-->  a       1. code that each build has once
 *      ret  <-->  ret     2. code that is the same behind, or in front of, functions that match
 *      b    <-->  b'      4. what is left between neighbours that match: it has changed
 *      c    <-->  c
 *      ret  <-->  ret     3. code that both have as often: in its order
 *
 * 4. goes by place alone, so only where as many functions are left on both sides. What is left after that and has
 * the same code matches in its order.
 */
#ifndef UMBRA_GRINDER_CODE_MATCH_H
#define UMBRA_GRINDER_CODE_MATCH_H

#include <stddef.h>
#include <stdint.h>

#define CODE_UNMATCHED UINT32_MAX

struct code_list {
    const uint64_t *codes; /* by place; 0: not known */
    uint32_t *partners;    /* by place: the place in the other list, or CODE_UNMATCHED; filled in */
    uint32_t count;
};

/* Some may match already, which stay. */
void code_match(struct code_list *before, struct code_list *after);

/* How many functions have code that the other has, too. */
size_t code_shared(const struct code_list *before, const struct code_list *after);

#endif
