#include "rewriter/pe/pe_labels.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_discover.h"
#include "rewriter/code/decode.h"
#include "rewriter/pe/pe_names.h"
#include "support/memory.h"

static struct function function_of(const struct pe_label *label)
{
    return (struct function){.evidence = EVIDENCE_SYMBOL,
                             .name = label->name,
                             .reason = (uint8_t)pe_name_reason(label->name)};
}

void pe_labels_note(struct pe_code *pe, struct pe_label label)
{
    pe->labels = memory_grow(pe->labels, pe->label_count, &pe->label_room, sizeof(label));
    pe->labels[pe->label_count++] = label;
}

/* A label behind the code marks its end, and is in front of padding: int3, nop, zeros. */
static bool begins_with_padding(const struct pe_code *pe, uint64_t address)
{
    static const uint8_t zeros[2];
    struct instruction first;
    ZydisDecoder decoder;
    size_t size;
    const uint8_t *bytes = code_at(&pe->code, address, &size);

    decoder_init(&decoder, pe->code.processor);
    return size < sizeof(zeros) || memcmp(bytes, zeros, sizeof(zeros)) == 0 ||
           !instruction_decode(&decoder, address, bytes, size, &first) ||
           first.zydis.mnemonic == ZYDIS_MNEMONIC_INT3 ||
           first.zydis.mnemonic == ZYDIS_MNEMONIC_NOP;
}

static bool is_function(const struct pe_code *pe, const struct pe_label *label)
{
    uint32_t rva = (uint32_t)(label->address - pe->image->base);
    const struct pe_runtime_function *entry = pe_entry_at(pe, rva);

    return address_set_has(&pe->map.pointers, label->address) && (!entry || entry->start == rva) &&
           !begins_with_padding(pe, label->address) && code_is_decodable(&pe->code, label->address);
}

/* An address is decoded once, however many labels it has. */
void pe_labels_add(struct pe_code *pe)
{
    struct address_set seen;

    address_set_init(&seen, &pe->code);
    for (size_t i = 0; i < pe->label_count; i++) {
        const struct pe_label *label = &pe->labels[i];

        if (!label->is_external || address_set_has(&seen, label->address))
            continue;
        address_set_add(&seen, label->address);
        if (is_function(pe, label))
            pe_code_add(pe, label->address, 0, function_of(label));
    }
    free(seen.words);
}

void pe_labels_name(struct pe_code *pe)
{
    for (size_t i = 0; i < pe->label_count; i++) {
        const struct pe_label *label = &pe->labels[i];
        struct function *function = function_list_at(&pe->functions, label->address);

        if (!function || function->name)
            continue;
        function->name = label->name;
        if (function->reason == PATCH_UNDECIDED)
            function->reason = (uint8_t)pe_name_reason(label->name);
    }
}

void pe_labels_add_all(struct pe_code *pe)
{
    for (size_t i = 0; i < pe->label_count; i++)
        pe_code_add(pe, pe->labels[i].address, 0, function_of(&pe->labels[i]));
}
