/* How often blocks ran, of an image whose blocks are counted (manifest_way): from the words of those that are. */
#ifndef UMBRA_GRINDER_BLOCK_COUNTS_H
#define UMBRA_GRINDER_BLOCK_COUNTS_H

#include <stdint.h>

#include "image/manifest.h"

/* Words that the cover of an image has: of the blocks that are counted. */
uint32_t block_counts_words(const struct manifest *manifest);

/* counts: one of each block, filled in. words: one of each block that is counted, in their order, of any number
   of processes and threads together. What was under way when one ended may make a count one too low or too high. */
void block_counts_find(const struct manifest *manifest, const uint64_t *words, uint64_t *counts);

#endif
