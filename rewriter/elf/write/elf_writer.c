#include "rewriter/elf/write/elf_writer.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_write.h"
#include "rewriter/elf/code/elf_imports.h"
#include "rewriter/elf/copies/elf_copy_exports.h"
#include "rewriter/elf/write/elf_changes.h"
#include "rewriter/elf/write/elf_copy_words.h"
#include "rewriter/elf/write/elf_dynamic.h"
#include "rewriter/elf/write/elf_grown.h"
#include "rewriter/elf/write/elf_growth.h"
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
 * hole where the file is longer. Returns its address; offset: in the file.
 */
static uint64_t place_segments(const struct elf_growth *growth, bool is_embedding, uint64_t away,
                               uint64_t *offset)
{
    const struct elf_image *image = growth->image;
    uint64_t address = page_up(image->end), aligned;

    *offset = aligned = page_up(image->size);
    if (away)
        return away;
    if (is_embedding && image->end - image->base < *offset && *offset <= HOLE_MEMORY_LIMIT)
        address = image->base + *offset;
    for (size_t i = 0; i < image->segment_count; i++) {
        if (image->segments[i].p_type != PT_LOAD)
            continue;
        aligned = address - image->segments[i].p_vaddr + image->segments[i].p_offset;
        break;
    }
    if ((elf_segment(image, PT_INTERP) || is_embedding) && !growth->headers.address &&
        aligned >= *offset && aligned - *offset <= HOLE_LIMIT)
        *offset = aligned;
    return address;
}

static void append_header(struct elf_data *data, const struct elf_layout *layout,
                          const struct elf_span *generated)
{
    struct image_header header = {.magic = IMAGE_MAGIC, .version = IMAGE_VERSION};
    const struct copy_set *copies = &layout->stubs.copies;
    uint64_t base = layout->image->base;

    data->header = data->segment.address + buffer_align(&data->segment.bytes, sizeof(header), 0);
    data->hook_page = page_up(data->header + sizeof(header));
    data->hook = data->hook_page + IMAGE_HOOK_IN_PAGE;
    header.header_rva = (uint32_t)(data->header - base);
    header.manifest_rva = (uint32_t)(layout->manifest.address - base);
    header.hook_rva = (uint32_t)(data->hook - base);
    header.added_rva = (uint32_t)(layout->stubs.segment.address - base);
    header.cover_size = (uint32_t)(layout->stubs.counts_blocks ? copies->counted * sizeof(uint64_t)
                                                               : copies->block_count);
    header.block_hash = IMAGE_NO_BLOCK_HASH;
    for (size_t i = 0; i < copies->block_count; i++)
        header.block_hash =
            image_block_hash(header.block_hash, (uint32_t)(copies->blocks[i].original - base),
                             copies->blocks[i].size);
    for (size_t i = 0; copies->counted && i < copies->block_count; i++)
        header.block_hash =
            image_block_hash(header.block_hash, copies->blocks[i].from, copies->blocks[i].to);
    header.flags = (layout->stubs.counts_no_calls ? IMAGE_COUNTS_NO_CALLS : 0) |
                   (layout->stubs.counts_instructions ? IMAGE_COUNTS_INSTRUCTIONS : 0) |
                   (copies->has_lanes ? IMAGE_HAS_LANES : 0);
    data->end = data->hook_page + IMAGE_HOOK_PAGE +
                (copies->has_lanes ? (uint64_t)IMAGE_LANES * IMAGE_LANE_SIZE
                                   : (uint64_t)image_cover_pages(header.cover_size) * ELF_PAGE);
    header.image_size = (uint32_t)(data->end - base);
    if (generated->size) {
        header.generated_rva = (uint32_t)(generated->address - base);
        header.generated_size = (uint32_t)generated->size;
    }
    buffer_append(&data->segment.bytes, &header, sizeof(header));
}

/* Refuses files in which code lies where no linker puts any. */
static bool check_code(const struct elf_growth *growth, const struct function_list *functions,
                       struct failure *failure)
{

    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        if (!patch_reason_is_hooked(function->reason) || function->patch_size == 0)
            continue;
        if (elf_growth_takes(growth, function->address + function->patch_offset,
                             function->patch_size) ||
            (function->hole && elf_growth_takes(growth, function->hole, PATCH_JUMP_SIZE)))
            return fail(failure, growth->image->path,
                        "expected code apart from headers and tables, found the function at %#llx "
                        "among them",
                        (unsigned long long)function->address);
    }
    return true;
}

/* Refuses files in which the tables or labels of copies lie where no linker puts any. */
static bool check_copies(const struct elf_growth *growth, const struct copy_plan *copies,
                         struct failure *failure)
{
    for (size_t i = 0; i < copies->trampoline_count; i++) {
        const struct copy_trampoline *trampoline = &copies->trampolines[i];

        if (elf_growth_takes(growth, trampoline->address, copy_trampoline_size(trampoline)) ||
            (trampoline->hole && elf_growth_takes(growth, trampoline->hole, PATCH_JUMP_SIZE)))
            return fail(failure, growth->image->path,
                        "expected code apart from headers and tables, found %#llx among them",
                        (unsigned long long)trampoline->address);
    }
    for (size_t i = 0; i < copies->word_count; i++)
        if (elf_growth_takes(growth, copies->words[i].slot, copies->words[i].size))
            return fail(failure, growth->image->path,
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
    return elf_new_segment_end(&layout->data.segment);
}

static bool write_segment(const struct elf_layout *layout, struct output_file *output,
                          uint64_t address, const struct buffer *bytes, struct failure *failure)
{
    return output_file_write(output, address - layout->delta, bytes->bytes, bytes->size, failure);
}

static bool write_all(const struct elf_layout *layout, const struct function_list *functions,
                      struct output_file *output, struct failure *failure)
{
    const struct elf_image *image = layout->image;
    const struct elf_embedding *embedding = layout->embedding;
    const struct stub_segment *stubs = &layout->stubs.segment;
    const struct elf_new_segment *constant = &layout->constant, *data = &layout->data.segment;
    struct buffer tail = {0};
    Elf64_Ehdr header = image->header;
    uint64_t tail_offset = (loaded_end(layout) - layout->delta + 7) / 8 * 8;
    bool is_written;

    header.e_phoff = elf_layout_offset(layout, layout->grown.headers.address);
    header.e_phnum =
        (Elf64_Half)(layout->grown.headers.size / elf_record_size(image->class, ELF_SEGMENT));
    if (embedding)
        header.e_entry = elf_embedding_start(embedding);
    elf_sections_build(layout, functions, &tail, tail_offset, &header);
    elf_record_write(image->class, ELF_HEADER, &header, image->bytes);
    is_written = output_file_write(output, 0, image->bytes, image->size, failure) &&
                 write_segment(layout, output, constant->address, &constant->bytes, failure) &&
                 write_segment(layout, output, stubs->address, &stubs->code, failure) &&
                 write_segment(layout, output, data->address, &data->bytes, failure) &&
                 (!embedding ||
                  write_segment(layout, output, embedding->address, &embedding->bytes, failure)) &&
                 output_file_write(output, tail_offset, tail.bytes, tail.size, failure);
    free(tail.bytes);
    return is_written;
}

static bool check_size(const struct elf_image *image, uint64_t end, struct failure *failure)
{
    return (end - image->base <= INT32_MAX - (64u << 20) &&
            end <= image->class->highest_address - (64u << 20)) ||
           fail(failure, image->path, "expected less than 2 GB of address space");
}

static void set_image_size(struct elf_data *data, uint32_t size)
{
    memcpy(data->segment.bytes.bytes + (data->header - data->segment.address) +
               offsetof(struct image_header, image_size),
           &size, sizeof(size));
}

/* What lies between the image and what was added is not the image's. */
static void set_away(struct elf_data *data, const struct elf_image *image)
{
    uint8_t *place = data->segment.bytes.bytes + (data->header - data->segment.address);
    struct image_header header;

    memcpy(&header, place, sizeof(header));
    header.image_size = (uint32_t)(image->end - image->base);
    header.flags |= IMAGE_IS_AWAY;
    memcpy(place, &header, sizeof(header));
}

/* The agent follows the pages of the hook word and of the cover. */
static bool embed(struct elf_embedding *embedding, struct elf_layout *layout,
                  struct failure *failure)
{
    struct elf_data *data = &layout->data;
    struct elf_embedding_place place = {
        .address = data->end,
        .delta = layout->delta,
        .entry = layout->image->header.e_entry,
        .hook_word = data->hook,
    };
    uint64_t end = place.address + embedding->image.end;

    if (!check_size(layout->image, end, failure) ||
        !elf_embedding_bind(embedding, &place, &data->segment.bytes, failure))
        return false;
    set_image_size(data, (uint32_t)(end - layout->image->base));
    elf_unwind_bind(&layout->unwind, &layout->constant, &embedding->frame, place.address);
    return true;
}

/* The RW segment; all others have their addresses. */
static bool build_data(struct elf_layout *layout, const struct elf_writer_source *source,
                       struct failure *failure)
{
    struct elf_data *data = &layout->data;
    struct elf_embedding *embedding = source->embedding;

    data->segment.address = page_up(elf_new_segment_end(&layout->constant));
    if (source->away && source->away < layout->image->end)
        return fail(failure, layout->image->path,
                    "--away: expected an address behind the image's end, %#llx",
                    (unsigned long long)layout->image->end);
    if (!check_size(layout->image, data->segment.address, failure))
        return false;
    if (!embedding) {
        data->dynamic = elf_dynamic_build(&data->segment, &layout->grown);
        append_header(data, layout, &source->elf->generated);
        if (source->away)
            set_away(data, layout->image);
        elf_grown_bind(&layout->grown, data->hook);
        return true;
    }
    if (!elf_embedding_append(embedding, layout->image, &data->segment.bytes, data->segment.address,
                              failure))
        return false;
    append_header(data, layout, &source->elf->generated);
    return embed(embedding, layout, failure);
}

static void find_exports(struct elf_exports *exports, const struct elf_writer_source *source)
{
    const struct elf_image *image = source->image;

    *exports = (struct elf_exports){.image = image};
    if (!source->embedding && image->section_count + ELF_STUBS_SECTION < SHN_LORESERVE)
        elf_exports_find(exports, image, &source->elf->functions, source->copies);
}

/* How many program headers there will be. */
static size_t count_headers(const struct elf_writer_source *source)
{
    size_t count = source->image->segment_count + ELF_NEW_SEGMENTS;

    if (source->embedding)
        count += elf_embedding_segments(source->embedding, source->image);
    return count;
}

/* Plans what the original's tables grow into. */
static void plan(struct elf_layout *layout, const struct elf_writer_source *source)
{
    find_exports(&layout->exports, source);
    elf_growth_plan(&layout->growth, &layout->exports, source->embedding ? NULL : source->agent,
                    count_headers(source));
}

/* Notes what of the original will be overwritten. */
static bool note_changes(const struct elf_growth *growth, const struct elf_writer_source *source,
                         struct change_list *changes, struct failure *failure)
{
    const struct elf_code *elf = source->elf;
    const struct patched_file file = {source->image->path, source->image->bytes};

    return elf_changes_collect(changes, source->image, source->plan, failure) &&
           copies_note(changes, source->copies, source->plan, &file, failure) &&
           elf_probes_note_moves(changes, &elf->probes, source->image, &elf->functions,
                                 source->copies, failure) &&
           import_sites_note(changes, &elf->functions, &elf->code, &elf->map, &file, failure) &&
           elf_memory_locks_note(changes, &elf->locks, &elf->code, &file, failure) &&
           check_code(growth, &elf->functions, failure) &&
           check_copies(growth, source->copies, failure) &&
           elf_copy_words_note(changes, growth, source->copies, failure) &&
           elf_growth_note(growth, changes, failure) &&
           elf_redirect_note(changes, growth, source->plan, failure);
}

/* The RX segment, whose address is known. */
static bool build_stubs(struct elf_stubs *stubs, const struct elf_writer_source *source,
                        struct stub_moves *moves, struct copy_writer *writer,
                        struct failure *failure)
{
    const char *path = source->image->path;

    if (!patch_stubs_append(&stubs->segment, source->plan, path, moves, failure))
        return false;
    stubs->locks = elf_memory_locks_append(&stubs->segment, &source->elf->locks);
    stubs->copies_at = stubs->segment.code.size;
    stubs->has_copies = source->copies->count != 0;
    stubs->counts_no_calls = source->copies->counts_no_calls;
    stubs->counts_instructions = source->copies->counts_instructions;
    stubs->counts_blocks = source->copies->counts_blocks;
    return !stubs->has_copies || copies_append(writer, source->copies, source->plan, path, failure);
}

/* The R segment, behind the stubs. */
static bool build_constant(struct elf_layout *layout, const struct elf_writer_source *source,
                           const struct manifest_source *manifest, const struct stub_moves *moves,
                           struct failure *failure)
{
    const struct stub_segment *stubs = &layout->stubs.segment;
    struct elf_new_segment *constant = &layout->constant;
    const struct elf_unwind_source unwind = {
        .image = layout->image,
        .elf = source->elf,
        .stubs = &layout->stubs,
        .moves = moves,
        .agent = source->embedding ? &source->embedding->frame : NULL,
    };
    size_t offset;

    constant->address = page_up(stubs->address + stubs->code.size);
    elf_grown_build(&layout->grown, &layout->growth, constant, &layout->stubs.copies);
    if (!elf_unwind_build(&layout->unwind, constant, &unwind, failure))
        return false;
    buffer_align(&constant->bytes, 64, 0);
    layout->manifest.size = manifest_size(manifest);
    offset = buffer_append_zeros(&constant->bytes, layout->manifest.size);
    layout->manifest.address = constant->address + offset;
    manifest_write(manifest, constant->bytes.bytes + offset);
    return true;
}

/* The new segments. */
static bool build(struct elf_layout *layout, const struct elf_writer_source *source,
                  struct manifest_source *manifest, struct stub_moves *moves,
                  struct copy_writer *writer, struct failure *failure)
{
    uint64_t offset;

    layout->stubs.segment.address =
        place_segments(&layout->growth, source->embedding, source->away, &offset);
    layout->delta = layout->stubs.segment.address - offset;
    manifest->stubs = layout->stubs.segment.address;
    if (!build_stubs(&layout->stubs, source, moves, writer, failure) ||
        !build_constant(layout, source, manifest, moves, failure) ||
        !build_data(layout, source, failure))
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
    struct elf_stubs *stubs = &layout->stubs;
    const struct stub_targets targets = {layout->data.header, layout->data.hook};
    uint64_t manifest = layout->manifest.address - layout->delta;

    patch_write(source->plan, &stubs->segment, &targets);
    if (stubs->has_copies) {
        copies_store(writer, source->copies, source->plan, &targets);
        elf_copy_words_store(&layout->grown, source->copies, &stubs->copies, &elf->functions);
        elf_probes_move(&elf->probes, layout->image, &elf->functions, &stubs->copies);
    }
    import_sites_redirect(&elf->functions, &elf->code, &elf->map, &stubs->segment, moves);
    if (layout->embedding)
        elf_memory_locks_store(&stubs->segment, stubs->locks, &elf->locks, &elf->code,
                               elf_embedding_lock(layout->embedding));
    elf_redirect_store(&layout->grown, &stubs->segment, source->plan, moves);
    elf_grown_store(&layout->grown);
    return write_all(layout, &elf->functions, output, failure) &&
           seal_output(output, manifest + offsetof(struct image_manifest, seal), failure);
}

static void layout_free(struct elf_layout *layout)
{
    free(layout->exports.items);
    copy_set_free(&layout->stubs.copies);
    free(layout->stubs.segment.code.bytes);
    elf_grown_free(&layout->grown);
    free(layout->unwind.debug_frames.bytes);
    free(layout->constant.bytes.bytes);
    free(layout->data.segment.bytes.bytes);
}

bool elf_write(const struct elf_writer_source *source, struct output_file *output,
               struct failure *failure)
{
    struct elf_layout layout = {.image = source->image, .embedding = source->embedding};
    struct change_list changes = {0};
    struct elf_table build_id = elf_build_id(source->image);
    struct manifest_source manifest = {
        .code = &source->elf->code,
        .functions = &source->elf->functions,
        .changes = &changes,
        .copies = &layout.stubs.copies,
        .original_path = source->original_path,
        .agent_path = source->agent,
        .original_size = source->image->size,
        .original_hash = source->original_hash,
        .base = source->image->base,
        .build_id = build_id.bytes,
        .build_id_size = build_id.count,
    };
    struct stub_moves *moves = memory_zeroed(source->elf->functions.count, sizeof(*moves));
    struct copy_writer writer = {.stubs = &layout.stubs.segment, .set = &layout.stubs.copies};
    bool is_written;

    for (size_t i = 0; i < source->elf->functions.count; i++)
        moves[i].is_copied = copy_plan_has(source->copies, i);
    plan(&layout, source);
    is_written = note_changes(&layout.growth, source, &changes, failure) &&
                 build(&layout, source, &manifest, moves, &writer, failure) &&
                 write_layout(&layout, source, moves, &writer, output, failure);
    copy_fields_free(&writer.fields);
    layout_free(&layout);
    free(changes.items);
    free(moves);
    return is_written;
}
