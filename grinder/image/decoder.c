#include "grinder/image/decoder.h"

#include <elf.h>
#include <stddef.h>

static const struct processor {
    uint16_t machine;
    ZydisMachineMode mode;
    ZydisStackWidth width;
} processors[] = {
    {EM_X86_64, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64},
    {EM_386, ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32},
};

void decoder_begin(ZydisDecoder *decoder, const struct loaded_ranges *ranges)
{
    const struct processor *processor = &processors[0];

    for (size_t i = 0; i < sizeof(processors) / sizeof(*processors); i++)
        if (processors[i].machine == ranges->machine)
            processor = &processors[i];
    ZydisDecoderInit(decoder, processor->mode, processor->width);
}
