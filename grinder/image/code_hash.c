#include "grinder/image/code_hash.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "grinder/image/decoder.h"
#include "grinder/image/original_bytes.h"
#include "support/memory.h"

/* A jump of two bytes becomes a mnemonic, whether it stays, and a number. */
#define HASHED_AT_MOST 4 /* bytes, for each byte of code */

struct hashing {
    const uint8_t *bytes;
    uint32_t size;
    uint64_t address; /* of the first byte */
    const struct loaded_ranges *ranges;
    ZydisDecoder decoder;
    uint32_t *numbers; /* by offset: of the instruction that begins there, nops left out */
    uint8_t *hashed;
    size_t hashed_size;
};

static bool is_padding(const ZydisDecodedInstruction *instruction)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_NOP;
}

static void number_instructions(struct hashing *hashing)
{
    ZydisDecodedInstruction instruction;
    uint32_t number = 0;

    for (uint32_t at = 0; at < hashing->size;) {
        hashing->numbers[at] = number;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&hashing->decoder, ZYAN_NULL,
                                                        hashing->bytes + at, hashing->size - at,
                                                        &instruction))) {
            at++;
            number++;
            continue;
        }
        at += instruction.length;
        number += !is_padding(&instruction);
    }
}

static void put(struct hashing *hashing, const void *bytes, size_t size)
{
    memcpy(hashing->hashed + hashing->hashed_size, bytes, size);
    hashing->hashed_size += size;
}

static void put_branch(struct hashing *hashing, const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operand, uint32_t at)
{
    uint16_t mnemonic = (uint16_t)instruction->mnemonic;
    uint64_t target = 0;
    uint8_t stays;

    ZydisCalcAbsoluteAddress(instruction, operand, hashing->address + at, &target);
    target -= hashing->address;
    stays = target < hashing->size;
    put(hashing, &mnemonic, sizeof(mnemonic));
    put(hashing, &stays, sizeof(stays));
    if (stays)
        put(hashing, &hashing->numbers[target], sizeof(*hashing->numbers));
}

static bool is_address(const struct hashing *hashing, uint64_t value, unsigned bits)
{
    return bits >= 32 && hashing->ranges->base && value >= hashing->ranges->base &&
           value < hashing->ranges->end;
}

static void clear(uint8_t *bytes, unsigned offset, unsigned bits)
{
    memset(bytes + offset, 0, bits / 8);
}

static bool is_relative_to_itself(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_RIP;
}

static void put_others(struct hashing *hashing, const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands, uint32_t at)
{
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];

    memcpy(bytes, hashing->bytes + at, instruction->length);
    for (int i = 0; i < instruction->operand_count_visible; i++)
        if (is_relative_to_itself(&operands[i]))
            clear(bytes, instruction->raw.disp.offset, instruction->raw.disp.size);
    if (is_address(hashing, (uint64_t)instruction->raw.disp.value, instruction->raw.disp.size))
        clear(bytes, instruction->raw.disp.offset, instruction->raw.disp.size);
    for (int i = 0; i < 2; i++)
        if (is_address(hashing, instruction->raw.imm[i].value.u, instruction->raw.imm[i].size))
            clear(bytes, instruction->raw.imm[i].offset, instruction->raw.imm[i].size);
    put(hashing, bytes, instruction->length);
}

/* Returns how long the instruction is. */
static uint32_t put_instruction(struct hashing *hashing, uint32_t at)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction instruction;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&hashing->decoder, hashing->bytes + at,
                                             hashing->size - at, &instruction, operands))) {
        put(hashing, hashing->bytes + at, 1);
        return 1;
    }
    if (instruction.operand_count_visible && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        operands[0].imm.is_relative)
        put_branch(hashing, &instruction, &operands[0], at);
    else if (!is_padding(&instruction))
        put_others(hashing, &instruction, operands, at);
    return instruction.length;
}

uint64_t code_hash(const uint8_t *bytes, uint32_t size, uint32_t rva,
                   const struct loaded_ranges *ranges)
{
    struct hashing hashing = {
        .bytes = bytes,
        .size = size,
        .address = ranges->base + rva,
        .ranges = ranges,
        .numbers = memory_zeroed((size_t)size + 1, sizeof(*hashing.numbers)),
        .hashed = memory_zeroed((size_t)size + 1, HASHED_AT_MOST),
    };
    uint64_t hash;

    decoder_begin(&hashing.decoder, ranges);
    number_instructions(&hashing);
    for (uint32_t at = 0; at < size;)
        at += put_instruction(&hashing, at);
    hash = XXH3_64bits(hashing.hashed, hashing.hashed_size);
    free(hashing.numbers);
    free(hashing.hashed);
    return hash ? hash : 1;
}

uint64_t *code_hashes_read(const char *path, const struct manifest *manifest)
{
    struct original_bytes original;
    uint64_t *hashes, room;

    if (!path)
        return NULL;
    original_bytes_read(&original, path, manifest);
    if (!original.bytes)
        return NULL;
    room = manifest->head->original_size; /* functions of a damaged manifest may overlap */
    hashes = memory_zeroed((size_t)manifest->function_count + 1, sizeof(*hashes));
    for (uint32_t i = 0; i < manifest->function_count; i++) {
        const struct manifest_function *function = &manifest->functions[i];
        const uint8_t *bytes = original_bytes_at(&original, function->rva, function->size);
        if (!function->size || !bytes || function->size > room)
            continue;
        hashes[i] = code_hash(bytes, function->size, function->rva, &original.ranges);
        room -= function->size;
    }
    original_bytes_free(&original);
    return hashes;
}
