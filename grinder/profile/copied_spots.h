/*
 * Samples in copied bodies (docs/copies.md), as if they had met the original. A copy has the instructions of
 * the original in their order, with others in between that count calls:
 *
 *      original      push rbx      mov edi, esi                       call g  |  mov eax, 1
 *      copy          push rbx      mov edi, esi      | stretch |      call g  |  mov eax, 1
 *                    ^ begins with the function                               ^ a site: known in both
 *
 * So both are decoded side by side, from each place that is known in both to the next. Where they are not of
 * one kind, or do not meet there, nothing is known of what is in between.
 */
#ifndef UMBRA_GRINDER_COPIED_SPOTS_H
#define UMBRA_GRINDER_COPIED_SPOTS_H

#include "grinder/profile/tree.h"

/* Makes each hit's instruction one of the original: 0 if it is not known, or is code that was added. Reads the
   images' files. */
void copied_spots_resolve(struct tree *tree, const struct images *images);

#endif
