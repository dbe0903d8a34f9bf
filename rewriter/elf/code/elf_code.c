#include "rewriter/elf/code/elf_code.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_classify.h"
#include "rewriter/code/code_discover.h"
#include "rewriter/elf/code/elf_frame_tables.h"
#include "rewriter/elf/code/elf_imports.h"
#include "rewriter/elf/code/elf_info_tables.h"
#include "rewriter/elf/code/elf_names.h"
#include "support/memory.h"

#define PLT_SECTIONS 16 /* that are looked at; linkers make up to four */

static void range_add(struct elf_code *elf, const struct elf_image *image, uint64_t address,
                      uint64_t size, bool is_code)
{
    struct code_range range = {address, elf_at(image, address, size), size};

    if (range.bytes && size)
        code_add_range(&elf->code, range, is_code);
}

static int by_address(const void *left, const void *right)
{
    const struct code_range *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

/* Sorts them; false if any two overlap. */
static bool ranges_settle(struct code_range *ranges, size_t count)
{
    if (count)
        qsort(ranges, count, sizeof(*ranges), by_address);
    for (size_t i = 0; i + 1 < count; i++)
        if (ranges[i + 1].address - ranges[i].address < ranges[i].size)
            return false;
    return true;
}

/* Sections tell code from read-only data where a segment holds both. */
static bool ranges_from_sections(struct elf_code *elf, const struct elf_image *image)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const Elf64_Shdr *section = &image->sections[i];
        bool is_code = section->sh_flags & SHF_EXECINSTR;

        if (section->sh_flags & SHF_ALLOC && section->sh_type != SHT_NOBITS &&
            (!is_code || elf_is_executable(image, section->sh_addr)))
            range_add(elf, image, section->sh_addr, section->sh_size, is_code);
    }
    if (elf->code.range_count && ranges_settle(elf->code.ranges, elf->code.range_count) &&
        ranges_settle(elf->code.data, elf->code.data_count))
        return true;
    elf->code.range_count = elf->code.data_count = 0;
    return false;
}

static void ranges_from_segments(struct elf_code *elf, const struct elf_image *image)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_flags & PF_X)
            range_add(elf, image, segment->p_vaddr, segment->p_filesz, true);
        range_add(elf, image, segment->p_vaddr, segment->p_filesz, false);
    }
}

static void unwind_begin(void *context, const struct function *function)
{
    struct elf_code *elf = context;

    elf->swept = function->address;
    elf->fde = eh_frame_find(&elf->frame, function->address);
    if (elf->fde)
        cfi_begin(&elf->cursor, &elf->frame, elf->fde);
}

static struct return_slot unwind_slot_at(void *context, uint64_t address)
{
    struct elf_code *elf = context;
    struct return_slot slot = {.until = UINT64_MAX};
    const struct cfi_row *row = &elf->cursor.row;

    if (!elf->fde && address == elf->swept) /* sure for the first instruction only */
        return (struct return_slot){.base = RETURN_SLOT_RSP, .until = address + 1};
    if (!elf->fde || address - elf->fde->address >= elf->fde->size)
        return slot;
    cfi_seek(&elf->cursor, address);
    slot.until = elf->cursor.next;
    if (row->return_rule != CFI_RETURN_AT_OFFSET)
        return slot;
    if (row->cfa_register == elf->class->unwind.stack_pointer)
        slot.base = RETURN_SLOT_RSP;
    else if (row->cfa_register == elf->class->unwind.frame_pointer)
        slot.base = RETURN_SLOT_RBP;
    slot.offset = row->cfa_offset + row->return_offset;
    return slot;
}

static void add(struct elf_code *elf, uint64_t address, uint64_t size, struct function function)
{
    code_add_function(&elf->code, &elf->functions, address, size, function);
}

static void add_symbols(struct elf_code *elf, struct elf_table symbols, struct elf_table strings)
{
    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        struct function function = {.evidence = EVIDENCE_SYMBOL};
        unsigned type = ELF64_ST_TYPE(symbol.st_info);

        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF)
            continue;
        function.name = elf_string(strings, symbol.st_name);
        if (function.name)
            function.reason = (uint8_t)elf_name_reason(function.name);
        add(elf, symbol.st_value, symbol.st_size, function);
    }
}

static void add_fdes(struct elf_code *elf)
{
    for (size_t i = 0; i < elf->frame.fde_count; i++) {
        const struct fde *fde = &elf->frame.fdes[i];
        struct function function = {.evidence = EVIDENCE_UNWIND, .unwind = (uint32_t)i + 1};

        add(elf, fde->address, fde->size, function);
    }
}

static void add_entry(struct elf_code *elf, uint64_t address)
{
    add(elf, address, 0, (struct function){.evidence = EVIDENCE_ENTRY});
}

static bool is_in_span(const struct elf_span *span, uint64_t address)
{
    return address - span->address < span->size;
}

/* Pointers to functions in .init_array and the like, as far as no relocation fills them in. */
static void add_array(struct elf_code *elf, const struct elf_image *image,
                      const struct elf_span *span)
{
    const uint8_t *words = elf_at(image, span->address, span->size);
    uint64_t size = image->class->word;

    for (uint64_t i = 0; words && i + size <= span->size; i += size)
        add_entry(elf, elf_word_read(image->class, words + i));
}

static void add_entries(struct elf_code *elf, const struct elf_image *image)
{
    struct elf_table relocations = elf_relocations(image);
    struct elf_span arrays[] = {
        {elf_dynamic_value(image, DT_INIT_ARRAY, 0), elf_dynamic_value(image, DT_INIT_ARRAYSZ, 0)},
        {elf_dynamic_value(image, DT_FINI_ARRAY, 0), elf_dynamic_value(image, DT_FINI_ARRAYSZ, 0)},
        {elf_dynamic_value(image, DT_PREINIT_ARRAY, 0),
         elf_dynamic_value(image, DT_PREINIT_ARRAYSZ, 0)},
    };

    if (image->header.e_entry)
        add(elf, image->header.e_entry, 0,
            (struct function){.evidence = EVIDENCE_ENTRY, .reason = PATCH_NO_RETURN_ADDRESS});
    if (elf_dynamic(image, DT_INIT))
        add_entry(elf, elf_dynamic_value(image, DT_INIT, 0));
    if (elf_dynamic(image, DT_FINI))
        add_entry(elf, elf_dynamic_value(image, DT_FINI, 0));
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        add_array(elf, image, &arrays[i]);
    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        uint64_t target = (uint64_t)relocation.r_addend;

        code_map_add_relocated(&elf->map, &elf->code, relocation.r_offset);
        if (ELF64_R_TYPE(relocation.r_info) == image->class->relocations.irelative)
            add_entry(elf, target);
        if (ELF64_R_TYPE(relocation.r_info) != image->class->relocations.relative)
            continue;
        address_set_add(&elf->map.pointers, target);
        for (size_t j = 0; j < sizeof(arrays) / sizeof(*arrays); j++)
            if (is_in_span(&arrays[j], relocation.r_offset))
                add_entry(elf, target);
    }
}

struct packed {
    struct elf_code *elf;
    const struct elf_image *image;
};

static bool add_packed(void *context, uint64_t address)
{
    const struct packed *packed = context;
    const struct elf_class *class = packed->image->class;
    const uint8_t *bytes = elf_at(packed->image, address, class->word);

    if (bytes)
        address_set_add(&packed->elf->map.pointers, elf_word_read(class, bytes));
    return true;
}

/* What the unwind information says of a call to this address. */
static enum patch_reason frame_reason(const struct elf_code *elf, uint64_t address)
{
    const struct fde *fde = eh_frame_find(&elf->frame, address);
    int64_t word = elf->class->word;
    struct cfi_cursor cursor;

    if (!fde)
        return PATCH_UNDECIDED;
    cfi_begin(&cursor, &elf->frame, fde);
    cfi_seek(&cursor, address);
    if (cursor.cie->is_signal_frame)
        return PATCH_SIGNAL_FRAME;
    if (cursor.row.return_rule == CFI_RETURN_UNDEFINED)
        return PATCH_NO_RETURN_ADDRESS;
    if (cursor.row.cfa_register != elf->class->unwind.stack_pointer ||
        cursor.row.cfa_offset != word || cursor.row.return_rule != CFI_RETURN_AT_OFFSET ||
        cursor.row.return_offset != -word)
        return PATCH_FRAGMENT;
    return PATCH_UNDECIDED;
}

static void mark_by_frame(struct elf_code *elf)
{
    for (size_t i = 0; i < elf->functions.count; i++) {
        struct function *function = &elf->functions.items[i];

        if (!function->reason)
            function->reason = (uint8_t)frame_reason(elf, function->address);
    }
}

static void mark_plt(struct elf_code *elf, const struct elf_image *image)
{
    size_t left = PLT_SECTIONS;

    for (size_t i = 0; i < image->section_count && left > 0; i++) {
        const Elf64_Shdr *section = &image->sections[i];

        if (strncmp(elf_section_name(image, section), ".plt", 4) != 0)
            continue;
        left--;
        for (size_t j = 0; j < elf->functions.count; j++)
            if (elf->functions.items[j].address - section->sh_addr < section->sh_size)
                elf->functions.items[j].reason = PATCH_PLT;
    }
}

/*
 * A static program holds setjmp, vfork and the like themselves. They are known by their names, or
 * by reading the return address, which their frame descriptions tell from other reads. Where a
 * function has neither name nor frame description, it might be one of them.
 */
static void mark_unknown(struct elf_code *elf)
{
    for (size_t i = 0; i < elf->functions.count; i++) {
        struct function *function = &elf->functions.items[i];

        if (!function->reason && !function->name && !eh_frame_find(&elf->frame, function->address))
            function->reason = PATCH_RETURNS_TWICE;
    }
}

static bool is_bound_to_caller(const struct function *function)
{
    return function &&
           (function->reason == PATCH_RETURN_ADDRESS || function->reason == PATCH_RETURNS_TWICE);
}

/*
 * setjmp proper is a jump to __sigsetjmp, which reads the return address of whoever called setjmp.
 * So what jumps to a function that is left alone for its return address is left alone too.
 */
static void mark_jumps_to_readers(struct elf_code *elf)
{
    bool is_changed;

    do {
        is_changed = false;
        for (size_t i = 0; i < elf->map.branch_count; i++) {
            const struct branch *branch = &elf->map.branches[i];
            struct function *from = function_list_owner(&elf->functions, branch->source);

            if (branch->kind != BRANCH_JUMP || !from || from->reason ||
                branch->source >= from->end ||
                !is_bound_to_caller(function_list_at(&elf->functions, branch->target)))
                continue;
            from->reason = PATCH_RETURNS_TWICE;
            is_changed = true;
        }
    } while (is_changed);
}

static void read_ranges(struct elf_code *elf, const struct elf_image *image)
{
    *elf = (struct elf_code){.class = image->class, .code.processor = image->class->processor};
    if (!ranges_from_sections(elf, image))
        ranges_from_segments(elf, image);
}

static void add_named(struct elf_code *elf, const struct elf_image *image)
{
    struct elf_table strings, symbols = elf_static_symbols(image, &strings);
    uint64_t size = elf_dynamic_value(image, DT_STRSZ, 0);

    add_symbols(elf, symbols, strings);
    strings.bytes = elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), size);
    strings.count = strings.bytes ? size : 0;
    add_symbols(elf, elf_dynamic_symbols(image), strings);
}

/* Where _GLOBAL_OFFSET_TABLE_ is: what the linker says of it, if it has a PLT, or where it puts it.
 */
static uint64_t find_got(const struct elf_image *image)
{
    static const char *const names[] = {".got.plt", ".got"};
    uint64_t address = elf_dynamic_value(image, DT_PLTGOT, 0);

    for (size_t i = 0; !address && i < sizeof(names) / sizeof(*names); i++) {
        const Elf64_Shdr *section = elf_section(image, names[i]);

        address = section ? section->sh_addr : 0;
    }
    return address;
}

void elf_names_read(struct elf_code *elf, const struct elf_image *image)
{
    read_ranges(elf, image);
    add_named(elf, image);
    function_list_settle(&elf->functions);
}

void elf_code_read(struct elf_code *elf, const struct elf_image *image,
                   const struct elf_code_options *options)
{
    read_ranges(elf, image);
    if (elf->code.range_count == 0)
        return;
    elf->code.has_absolute_code = image->header.e_type == ET_EXEC;
    if (image->class->counts_from_got)
        elf->code.got = find_got(image);
    elf->code.unwind = (struct code_unwind){elf, unwind_begin, unwind_slot_at};
    code_map_init(&elf->map, &elf->code);
    eh_frame_read(&elf->frame, image);
    add_fdes(elf);
    add_named(elf, image);
    add_entries(elf, image);
    elf_packed_visit(image, add_packed, &(struct packed){elf, image});
    function_list_settle(&elf->functions);
    mark_plt(elf, image);
    mark_by_frame(elf);
    elf_probes_read(&elf->probes, image);
    elf_probes_note(&elf->probes, &elf->map);
    code_discover(&elf->code, &elf->functions, &elf->map);
    mark_plt(elf, image);
    elf->generated = elf_generated_find(&elf->code, &elf->functions, &elf->frame);
    elf_generated_mark(&elf->generated, &elf->functions);
    elf_frame_tables_mark(image, &elf->code, &elf->map, &elf->functions);
    elf_info_tables_mark(image, &elf->code, &elf->frame, &elf->functions);
    if (options->instrument_imports)
        elf_imports_add(&elf->functions, &elf->map, image);
    elf_memory_locks_find(&elf->locks, &elf->code, &elf->map, &elf->functions,
                          elf_image_is_static(image));
    if (elf_image_is_static(image)) {
        mark_unknown(elf);
        mark_jumps_to_readers(elf);
    }
    code_classify(&elf->map, &elf->functions);
}

void elf_code_free(struct elf_code *elf)
{
    free(elf->code.ranges);
    free(elf->code.data);
    code_map_free(&elf->map);
    function_list_free(&elf->functions);
    eh_frame_free(&elf->frame);
    elf_probes_free(&elf->probes);
}
