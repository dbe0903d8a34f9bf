/* Zydis, for the code of an image: by its processor, one row for each. */
#ifndef UMBRA_GRINDER_DECODER_H
#define UMBRA_GRINDER_DECODER_H

#include <Zydis/Zydis.h>

#include "image/loaded_ranges.h"

/* ranges->machine says which processor that is; of one that is not known, x86-64 is taken. */
void decoder_begin(ZydisDecoder *decoder, const struct loaded_ranges *ranges);

#endif
