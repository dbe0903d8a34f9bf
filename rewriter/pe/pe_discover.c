#include "rewriter/pe/pe_discover.h"

#include <stdlib.h>
#include <string.h>

#include "image/pe_headers.h"
#include "rewriter/code/code_classify.h"
#include "rewriter/code/code_discover.h"
#include "rewriter/code/decode.h"
#include "rewriter/pe/pe_entries.h"
#include "rewriter/pe/pe_follow.h"
#include "rewriter/pe/pe_generated.h"
#include "rewriter/pe/pe_imports.h"
#include "rewriter/pe/pe_labels.h"
#include "rewriter/pe/pe_stack.h"
#include "rewriter/pe/pe_symbols.h"
#include "support/memory.h"

#define X86_INT3 0xcc

/* Sections that are not kept in memory: of what mingw's debugging information holds, much looks
   like tables of jumps. */
static bool is_debug_data(const struct pe_section *section)
{
    return section->flags & PE_SECTION_DISCARD && !(section->flags & PE_SECTION_EXECUTE);
}

static void ranges_read(struct pe_code *pe)
{
    const struct pe_image *image = pe->image;

    for (size_t i = 0; i < image->section_count; i++) {
        const struct pe_section *section = &image->sections[i];
        struct code_range range = {image->base + section->rva, image->bytes + section->raw,
                                   pe_section_bytes(section)};

        if (range.size && !(pe_is_32(image) && is_debug_data(section)))
            code_add_range(&pe->code, range, section->flags & PE_SECTION_EXECUTE);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct pe_runtime_function *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

static void runtime_functions_read(struct pe_code *pe)
{
    struct pe_table table =
        pe_directory_table(pe->image, PE_EXCEPTIONS, sizeof(struct pe_runtime_function));
    size_t kept = 0;

    pe->entries = memory_zeroed(table.count + 1, sizeof(*pe->entries));
    if (table.count == 0)
        return;
    memcpy(pe->entries, table.bytes, table.count * sizeof(*pe->entries));
    qsort(pe->entries, table.count, sizeof(*pe->entries), by_start);
    for (size_t i = 0; i < table.count; i++) {
        const struct pe_runtime_function *entry = &pe->entries[i];

        if (entry->start && entry->end > entry->start &&
            (kept == 0 || entry->start >= pe->entries[kept - 1].end))
            pe->entries[kept++] = *entry;
    }
    pe->entry_count = kept;
}

/* Who writes entries by rule of thumb, as V8 does, may have them begin before the code. */
static bool begins_with_padding(const struct pe_code *pe, size_t index)
{
    const uint8_t *bytes = pe_at_rva(pe->image, pe->entries[index].start, 1);

    return bytes && *bytes == X86_INT3;
}

/* What unwind information says of a call to the address it begins at. */
static struct function function_of(const struct pe_code *pe, size_t index)
{
    struct function function = {.evidence = EVIDENCE_UNWIND, .unwind = (uint32_t)index + 1};
    struct unwind_info info;
    uint8_t lowest;

    if (pe->entries[index].unwind & 1 || begins_with_padding(pe, index) ||
        !unwind_info_read(&info, pe->image, pe->entries[index].unwind)) {
        function.reason = PATCH_FRAGMENT; /* shares another's, or says what cannot be read */
        return function;
    }
    if (info.flags & UNWIND_CHAINED)
        function.reason = PATCH_FRAGMENT;
    else if (unwind_prologue_codes(&info, &lowest) == 0)
        function.prologue = 0; /* a leaf, or a part of one */
    else if (lowest == 0)
        function.reason = PATCH_FRAGMENT; /* entered with its frame set up */
    else
        function.evidence |= EVIDENCE_PROLOGUE;
    if (info.flags & (UNWIND_EXCEPTION_HANDLER | UNWIND_TERMINATION_HANDLER))
        function.is_guarded = true;
    function.prologue = info.prologue;
    return function;
}

static void runtime_functions_add(struct pe_code *pe)
{
    for (size_t i = 0; i < pe->entry_count; i++) {
        const struct pe_runtime_function *entry = &pe->entries[i];

        pe_code_add(pe, pe->image->base + entry->start, entry->end - entry->start,
                    function_of(pe, i));
    }
}

/* Whether the instruction may change rsp, be it by a call that does not return. */
static bool is_stack_move(const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    uint8_t opcode = zydis->opcode;

    if (at->flow == FLOW_CALL || at->flow == FLOW_INDIRECT_CALL)
        return true;
    if (zydis->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return false;
    if (zydis->mnemonic == ZYDIS_MNEMONIC_PUSH || zydis->mnemonic == ZYDIS_MNEMONIC_POP ||
        zydis->mnemonic == ZYDIS_MNEMONIC_ENTER || zydis->mnemonic == ZYDIS_MNEMONIC_LEAVE ||
        zydis->mnemonic == ZYDIS_MNEMONIC_PUSHFQ || zydis->mnemonic == ZYDIS_MNEMONIC_POPFQ)
        return true;
    if (zydis->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT ||
        !(zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return false;
    if (opcode == 0x8b || opcode == 0x8d || opcode == 0x03 || opcode == 0x2b || opcode == 0x33)
        return zydis->raw.modrm.reg == 4 && !zydis->raw.rex.R;
    return zydis->raw.modrm.mod == 3 && zydis->raw.modrm.rm == 4 && !zydis->raw.rex.B;
}

/*
 * Code without unwind information is a leaf that leaves the stack pointer alone, by the calling
 * convention; assembly may do otherwise from some instruction on.
 */
static uint64_t steady_end(const struct code *code, const struct function *function)
{
    uint64_t address = function->address;
    struct instruction at;
    ZydisDecoder decoder;
    const uint8_t *bytes;
    size_t size;

    decoder_init(&decoder, &processor_x86_64);
    while (address < function->end && (bytes = code_at(code, address, &size)) &&
           instruction_decode(&decoder, address, bytes, size, &at)) {
        address += at.length;
        if (is_stack_move(&at) || at.flow == FLOW_END || at.flow == FLOW_INDIRECT_JUMP)
            break;
    }
    return address;
}

static void unwind_begin(void *context, const struct function *function)
{
    struct pe_code *pe = context;
    const struct pe_runtime_function *entry =
        pe_entry_at(pe, (uint32_t)(function->address - pe->image->base));

    pe->swept = function->address;
    pe->steady = 0;
    pe->has_info = entry && pe->image->base + entry->start == function->address &&
                   unwind_info_read(&pe->info, pe->image, entry->unwind);
    if (!entry)
        pe->steady = steady_end(&pe->code, function);
}

static struct return_slot slot_at(void *context, uint64_t address)
{
    struct pe_code *pe = context;
    struct return_slot slot = {.until = UINT64_MAX};

    if (pe->has_info) {
        slot = unwind_slot_at(&pe->info, address - pe->swept);
        if (slot.until != UINT64_MAX)
            slot.until += pe->swept;
    } else if (address < pe->steady) {
        slot = (struct return_slot){.base = RETURN_SLOT_RSP, .until = pe->steady};
    }
    return slot;
}

void pe_aliases_read(struct pe_code *pe, const struct pe_image *image)
{
    *pe = (struct pe_code){.code.processor = image->processor, .image = image};
    ranges_read(pe);
    pe_symbols_add(pe);
    pe_labels_add_all(pe);
}

void pe_names_read(struct pe_code *pe, const struct pe_image *image)
{
    pe_aliases_read(pe, image);
    function_list_settle(&pe->functions);
}

/* Where the return address is, pe_stack.h says of code of 32 bits. */
static void no_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

static struct return_slot no_slot(void *context, uint64_t address)
{
    (void)context;
    (void)address;
    return (struct return_slot){.until = UINT64_MAX};
}

/* What handles an exception goes on, most often, in a function of the C library. */
static void handlers_mark(struct pe_code *pe)
{
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder, pe->code.processor);
    for (size_t i = 0; i < pe->functions.count; i++) {
        const struct function *function = &pe->functions.items[i];
        uint64_t address = function->address;
        struct function *next;
        const uint8_t *bytes;
        size_t size;

        if (function->reason != PATCH_UNWINDER)
            continue;
        while (address < function->end && (bytes = code_at(&pe->code, address, &size)) &&
               instruction_decode(&decoder, address, bytes, size, &at)) {
            address += at.length;
            next = at.flow == FLOW_JUMP && address == function->end
                       ? function_list_at(&pe->functions, at.target)
                       : NULL;
            if (next && !next->reason)
                next->reason = PATCH_UNWINDER;
        }
    }
}

/* Of an image of 32 bits, which has no .pdata. */
static void code_read_32(struct pe_code *pe)
{
    pe->code.unwind = (struct code_unwind){pe, no_begin, no_slot};
    pe->code.has_absolute_code = true;
    code_map_init(&pe->map, &pe->code);
    pe_symbols_add(pe);
    pe_entries_add(pe);
    pe_pointers_add(pe);
    pe->code.moves_relocated = !pe->has_odd_relocations;
    pe->code.has_listed_pointers = pe->relocated_count;
    pe_labels_add(pe);
    pe_follow(pe);
    pe_thunks_mark(pe);
    handlers_mark(pe);
    code_discover(&pe->code, &pe->functions, &pe->map);
    pe_thunks_mark(pe);
    pe_labels_name(pe);
    pe_stack_mark(pe);
    code_classify(&pe->map, &pe->functions);
}

void pe_code_read(struct pe_code *pe, const struct pe_image *image,
                  const struct pe_code_options *options)
{
    *pe = (struct pe_code){.code.processor = image->processor, .image = image};
    ranges_read(pe);
    if (pe->code.range_count == 0)
        return;
    if (pe_is_32(image)) {
        code_read_32(pe);
        return;
    }
    pe->code.unwind = (struct code_unwind){pe, unwind_begin, slot_at};
    pe->code.table_origin = image->base;
    pe->code.has_unlisted_pointers = image->file.characteristics & PE_RELOCS_STRIPPED;
    code_map_init(&pe->map, &pe->code);
    runtime_functions_read(pe);
    runtime_functions_add(pe);
    pe_symbols_add(pe);
    pe_entries_add(pe);
    pe_pointers_add(pe);
    pe_labels_add(pe);
    function_list_settle(&pe->functions);
    pe_thunks_mark(pe);
    code_discover(&pe->code, &pe->functions, &pe->map);
    pe_thunks_mark(pe);
    pe_labels_name(pe);
    pe_generated_mark(pe);
    if (options->instrument_imports)
        pe_imports_add(pe);
    code_classify(&pe->map, &pe->functions);
}
