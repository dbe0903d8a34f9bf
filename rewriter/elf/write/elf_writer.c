#include "rewriter/elf/write/elf_writer.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_write.h"
#include "rewriter/elf/code/elf_imports.h"
#include "rewriter/elf/write/elf_changes.h"
#include "rewriter/elf/write/elf_copy_exports.h"
#include "rewriter/elf/write/elf_copy_words.h"
#include "rewriter/elf/write/elf_dynamic.h"
#include "rewriter/elf/write/elf_grow.h"
#include "rewriter/elf/write/elf_layout.h"
#include "rewriter/elf/write/elf_memory_lock_stubs.h"
#include "rewriter/elf/write/elf_probe_moves.h"
#include "rewriter/elf/write/elf_redirect.h"
#include "rewriter/elf/write/elf_sections.h"
#include "rewriter/elf/write/elf_segments.h"
#include "rewriter/elf/write/elf_unwind.h"
#include "rewriter/manifest/manifest_writer.h"
#include "rewriter/manifest/seal.h"
#include "rewriter/patch/patch_write.h"
#include "support/memory.h"
#include "trace/image_manifest.h"

#define HOLE_LIMIT        (16u << 20)  /* bytes of a sparse file spent on old kernels, */
#define HOLE_MEMORY_LIMIT (512u << 20) /* bytes of address space in a static program */

static uint64_t page_up(uint64_t number)
{
    return (number + ELF_PAGE - 1) / ELF_PAGE * ELF_PAGE;
}

/*
 * Where the first new segment goes: behind everything, in the file and in memory. A static
 * program's own start-up code looks for the program headers, so there it is memory that has the
 * hole where the file is longer.
 */
static void place_segments(struct elf_layout *layout)
{
    const struct elf_image *image = layout->image;
    uint64_t offset = page_up(image->size), aligned = offset;

    layout->stubs.address = page_up(image->end);
    if (layout->embedding && image->end - image->base < offset && offset <= HOLE_MEMORY_LIMIT)
        layout->stubs.address = image->base + offset;
    for (size_t i = 0; i < image->segment_count; i++) {
        if (image->segments[i].p_type != PT_LOAD)
            continue;
        aligned = layout->stubs.address - image->segments[i].p_vaddr + image->segments[i].p_offset;
        break;
    }
    if ((elf_segment(image, PT_INTERP) || layout->embedding) && !layout->headers.address &&
        aligned >= offset && aligned - offset <= HOLE_LIMIT)
        offset = aligned;
    layout->delta = layout->stubs.address - offset;
}

static void append_header(struct elf_layout *layout)
{
    struct image_header header = {.magic = IMAGE_MAGIC, .version = IMAGE_VERSION};
    uint64_t base = layout->image->base;

    layout->image_header = buffer_align(&layout->data, sizeof(header), 0);
    header.header_rva = (uint32_t)(elf_layout_header(layout) - base);
    header.manifest_rva = (uint32_t)(layout->tables_address + layout->manifest.offset - base);
    header.hook_rva = (uint32_t)(elf_layout_hook(layout) - base);
    header.added_rva = (uint32_t)(layout->stubs.address - base);
    header.image_size = (uint32_t)(elf_layout_hook_page(layout) + IMAGE_HOOK_PAGE - base);
    if (layout->generated.size) {
        header.generated_rva = (uint32_t)(layout->generated.address - base);
        header.generated_size = (uint32_t)layout->generated.size;
    }
    buffer_append(&layout->data, &header, sizeof(header));
}

static bool is_overlapping(uint64_t offset, uint64_t size, uint64_t other, uint64_t other_size)
{
    return offset < other + other_size && other < offset + size;
}

/* Whether a patch would be in the ELF header, or in what its tables grow into. */
static bool is_overwritten(const struct elf_layout *layout, uint64_t address, uint64_t size)
{
    uint64_t offset = elf_layout_offset(layout, address);

    for (size_t i = 0; i < layout->overwrite_count; i++)
        if (is_overlapping(offset, size, elf_layout_offset(layout, layout->overwrites[i].address),
                           layout->overwrites[i].size))
            return true;
    return is_overlapping(offset, size, 0, sizeof(Elf64_Ehdr));
}

/* Refuses files in which code lies where no linker puts any. */
static bool check_code(const struct elf_layout *layout, const struct elf_writer_source *source,
                       struct failure *failure)
{
    const struct function_list *functions = &source->elf->functions;

    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        if (!patch_reason_is_hooked(function->reason) || function->patch_size == 0)
            continue;
        if (is_overwritten(layout, function->address + function->patch_offset,
                           function->patch_size) ||
            (function->hole && is_overwritten(layout, function->hole, PATCH_JUMP_SIZE)))
            return fail(failure, layout->image->path,
                        "expected code apart from headers and tables, found the function at %#llx "
                        "among them",
                        (unsigned long long)function->address);
    }
    return true;
}

/* Refuses files in which the tables or labels of copies lie where no linker puts any. */
static bool check_copies(const struct elf_layout *layout, const struct copy_plan *copies,
                         struct failure *failure)
{
    for (size_t i = 0; i < copies->trampoline_count; i++) {
        const struct copy_trampoline *trampoline = &copies->trampolines[i];

        if (is_overwritten(layout, trampoline->address, copy_trampoline_size(trampoline)) ||
            (trampoline->hole && is_overwritten(layout, trampoline->hole, PATCH_JUMP_SIZE)))
            return fail(failure, layout->image->path,
                        "expected code apart from headers and tables, found %#llx among them",
                        (unsigned long long)trampoline->address);
    }
    for (size_t i = 0; i < copies->word_count; i++)
        if (is_overwritten(layout, copies->words[i].slot, copies->words[i].size))
            return fail(failure, layout->image->path,
                        "expected jump tables apart from headers and tables of the linker, found "
                        "%#llx among them",
                        (unsigned long long)copies->words[i].slot);
    return true;
}

/* Where the last new segment with bytes in the file ends. */
static uint64_t loaded_end(const struct elf_layout *layout)
{
    if (layout->embedding)
        return layout->embedding->address + layout->embedding->bytes.size;
    return layout->data_address + layout->data.size;
}

static bool write_all(struct elf_layout *layout, const struct function_list *functions,
                      struct output_file *output, struct failure *failure)
{
    const struct elf_image *image = layout->image;
    const struct elf_embedding *embedding = layout->embedding;
    struct buffer tail = {0};
    Elf64_Ehdr header = image->header;
    uint64_t tail_offset = (loaded_end(layout) - layout->delta + 7) / 8 * 8;
    bool is_written;

    header.e_phoff = elf_layout_offset(layout, layout->headers.address);
    header.e_phnum = (Elf64_Half)(image->segment_count + elf_layout_new_segments(layout));
    if (embedding)
        header.e_entry = elf_embedding_start(embedding);
    elf_sections_build(layout, functions, &tail, tail_offset, &header);
    memcpy(image->bytes, &header, sizeof(header));
    is_written =
        output_file_write(output, 0, image->bytes, image->size, failure) &&
        output_file_write(output, layout->tables_address - layout->delta, layout->tables.bytes,
                          layout->tables.size, failure) &&
        output_file_write(output, layout->stubs.address - layout->delta, layout->stubs.code.bytes,
                          layout->stubs.code.size, failure) &&
        output_file_write(output, layout->data_address - layout->delta, layout->data.bytes,
                          layout->data.size, failure) &&
        (!embedding || output_file_write(output, embedding->address - layout->delta,
                                         embedding->bytes.bytes, embedding->bytes.size, failure)) &&
        output_file_write(output, tail_offset, tail.bytes, tail.size, failure);
    free(tail.bytes);
    return is_written;
}

static bool check_size(const struct elf_layout *layout, uint64_t end, struct failure *failure)
{
    return end - layout->image->base <= INT32_MAX - (64u << 20) ||
           fail(failure, layout->image->path, "expected less than 2 GB of address space");
}

static void set_image_size(struct elf_layout *layout, uint64_t end)
{
    uint32_t size = (uint32_t)(end - layout->image->base);

    memcpy(layout->data.bytes + layout->image_header + offsetof(struct image_header, image_size),
           &size, sizeof(size));
}

/* The agent follows the page of the hook word. */
static bool embed(struct elf_layout *layout, struct failure *failure)
{
    struct elf_embedding *embedding = layout->embedding;
    struct elf_embedding_place place = {
        .address = elf_layout_hook_page(layout) + IMAGE_HOOK_PAGE,
        .delta = layout->delta,
        .entry = layout->image->header.e_entry,
        .hook_word = elf_layout_hook(layout),
    };

    if (!check_size(layout, place.address + embedding->image.end, failure) ||
        !elf_embedding_bind(embedding, &place, &layout->data, failure))
        return false;
    set_image_size(layout, place.address + embedding->image.end);
    elf_unwind_bind(layout);
    return true;
}

/* The RW segment; its address is known. */
static bool build_data(struct elf_layout *layout, struct failure *failure)
{
    if (!check_size(layout, layout->data_address, failure))
        return false;
    if (!layout->embedding) {
        elf_dynamic_build(layout);
        append_header(layout);
        elf_tables_bind(layout);
        return true;
    }
    if (!elf_embedding_append(layout->embedding, layout->image, &layout->data, layout->data_address,
                              failure))
        return false;
    append_header(layout);
    return embed(layout, failure);
}

/* Notes what of the original will be overwritten, and plans what its tables grow into. */
static bool note_changes(struct elf_layout *layout, const struct elf_writer_source *source,
                         struct change_list *changes, struct failure *failure)
{
    const struct elf_code *elf = source->elf;
    const struct patched_file file = {source->image->path, source->image->bytes};

    if (!elf_changes_collect(changes, source->image, source->plan, failure) ||
        !copies_note(changes, source->copies, source->plan, &file, failure) ||
        !elf_probes_note_moves(changes, &elf->probes, source->image, &elf->functions,
                               source->copies, failure) ||
        !import_sites_note(changes, &elf->functions, &elf->code, &elf->map, &file, failure) ||
        !elf_memory_locks_note(changes, &elf->locks, &elf->code, &file, failure))
        return false;
    elf_copy_exports_find(layout, &elf->functions, source->copies);
    if (!layout->embedding)
        elf_tables_plan(layout, source->agent);
    return check_code(layout, source, failure) && check_copies(layout, source->copies, failure) &&
           elf_copy_words_note(changes, layout, source->copies, failure) &&
           elf_tables_note(layout, changes, failure) &&
           elf_redirect_note(changes, layout, source->plan, failure);
}

/* The copies of bodies, if there are to be any. */
static bool append_copies(struct elf_layout *layout, const struct elf_writer_source *source,
                          struct copy_writer *writer, struct failure *failure)
{
    layout->stubs_size = layout->stubs.code.size;
    layout->has_copies = source->copies->count != 0;
    if (!layout->has_copies)
        return true;
    return copies_append(writer, source->copies, source->plan, layout->image->path, failure);
}

/* The new segments. */
static bool build(struct elf_layout *layout, const struct elf_writer_source *source,
                  struct manifest_source *manifest, struct stub_moves *moves,
                  struct copy_writer *writer, struct failure *failure)
{
    place_segments(layout);
    if (!patch_stubs_append(&layout->stubs, source->plan, source->image->path, moves, failure))
        return false;
    layout->locks = elf_memory_locks_append(&layout->stubs, &source->elf->locks);
    if (!append_copies(layout, source, writer, failure))
        return false;
    manifest->stubs = layout->stubs.address;
    layout->tables_address = page_up(layout->stubs.address + layout->stubs.code.size);
    elf_headers_build(layout);
    if (!layout->embedding)
        elf_tables_build(layout, source->agent);
    if (!elf_unwind_build(layout, source->elf, moves, failure))
        return false;
    buffer_align(&layout->tables, 64, 0);
    layout->manifest.size = manifest_size(manifest);
    layout->manifest.offset = buffer_append_zeros(&layout->tables, layout->manifest.size);
    manifest_write(manifest, layout->tables.bytes + layout->manifest.offset);
    layout->data_address = page_up(layout->tables_address + layout->tables.size);
    if (!build_data(layout, failure))
        return false;
    elf_segments_build(layout);
    return true;
}

/* Patches the original, and writes it with what was built. */
static bool write_layout(struct elf_layout *layout, const struct elf_writer_source *source,
                         const struct stub_moves *moves, const struct copy_writer *writer,
                         struct output_file *output, struct failure *failure)
{
    const struct elf_code *elf = source->elf;
    const struct stub_targets targets = {elf_layout_header(layout), elf_layout_hook(layout)};
    uint64_t manifest = layout->tables_address - layout->delta + layout->manifest.offset;

    patch_write(source->plan, &layout->stubs, &targets);
    if (source->copies->count) {
        copies_store(writer, source->copies, source->plan, &targets);
        elf_copy_words_store(layout, source->copies, &elf->functions);
        elf_probes_move(&elf->probes, layout->image, &elf->functions, &layout->copies);
    }
    import_sites_redirect(&elf->functions, &elf->code, &elf->map, &layout->stubs, moves);
    if (layout->embedding)
        elf_memory_locks_store(&layout->stubs, layout->locks, &elf->locks, &elf->code,
                               elf_embedding_lock(layout->embedding));
    elf_redirect_store(layout, source->plan, moves);
    elf_tables_store(layout);
    return write_all(layout, &elf->functions, output, failure) &&
           seal_output(output, manifest + offsetof(struct image_manifest, seal), failure);
}

bool elf_write(const struct elf_writer_source *source, struct output_file *output,
               struct failure *failure)
{
    struct elf_layout layout = {.image = source->image,
                                .embedding = source->embedding,
                                .generated = source->elf->generated};
    struct change_list changes = {0};
    struct elf_table build_id = elf_build_id(source->image);
    struct manifest_source manifest = {
        .code = &source->elf->code,
        .functions = &source->elf->functions,
        .changes = &changes,
        .copies = &layout.copies,
        .original_path = source->original_path,
        .agent_path = source->agent,
        .original_size = source->image->size,
        .original_hash = source->original_hash,
        .base = source->image->base,
        .build_id = build_id.bytes,
        .build_id_size = build_id.count,
    };
    struct stub_moves *moves = memory_zeroed(source->elf->functions.count, sizeof(*moves));
    struct copy_writer writer = {.stubs = &layout.stubs, .set = &layout.copies};
    bool is_written;

    for (size_t i = 0; i < source->elf->functions.count; i++)
        moves[i].is_copied = copy_plan_has(source->copies, i);
    is_written = note_changes(&layout, source, &changes, failure) &&
                 build(&layout, source, &manifest, moves, &writer, failure) &&
                 write_layout(&layout, source, moves, &writer, output, failure);
    copy_fields_free(&writer.fields);
    copy_set_free(&layout.copies);
    free(changes.items);
    free(moves);
    free(layout.exports);
    free(layout.overwriting.bytes);
    free(layout.debug_frames.bytes);
    free(layout.tables.bytes);
    free(layout.data.bytes);
    free(layout.stubs.code.bytes);
    return is_written;
}
