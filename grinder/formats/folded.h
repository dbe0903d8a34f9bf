/* Folded stacks: the part of a line before its figures. */
#ifndef UMBRA_GRINDER_FOLDED_H
#define UMBRA_GRINDER_FOLDED_H

#include <stdio.h>

#include "grinder/profile/stacks.h"

/* "main;parse", no space behind it. */
void folded_write_stack(FILE *stream, const struct images *images, const struct stack_tree *stacks,
                        uint32_t stack);

#endif
