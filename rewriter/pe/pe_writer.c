#include "rewriter/pe/pe_writer.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rewriter/manifest/manifest_writer.h"
#include "rewriter/manifest/seal.h"
#include "rewriter/patch/import_sites.h"
#include "rewriter/patch/patch_write.h"
#include "rewriter/pe/pe_apart.h"
#include "rewriter/pe/pe_checksum.h"
#include "rewriter/pe/pe_headers.h"
#include "rewriter/pe/pe_relocations.h"
#include "support/memory.h"

static uint32_t page_up(const struct pe_layout *layout, uint64_t rva)
{
    uint32_t page = layout->image->header.section_alignment;

    return (uint32_t)((rva + page - 1) / page * page);
}

/* Bytes of the original behind its sections and symbols, but for the certificates at the end. */
static struct pe_table overlay_of(const struct pe_image *image)
{
    const struct pe_directory *certificates = &image->directory[PE_CERTIFICATES];
    struct pe_table strings = pe_symbol_strings(image);
    uint64_t start = pe_raw_end(image), end = image->size;

    if (strings.bytes && (uint64_t)(strings.bytes - image->bytes) + strings.count > start)
        start = (uint64_t)(strings.bytes - image->bytes) + strings.count;
    if (certificates->rva >= start && certificates->rva < end && certificates->size &&
        certificates->rva + (uint64_t)certificates->size >= end)
        end = certificates->rva;
    return start < end ? (struct pe_table){image->bytes + start, end - start}
                       : (struct pe_table){0};
}

static bool check_size(const struct pe_layout *layout, struct failure *failure)
{
    uint64_t end = layout->stubs_rva + (uint64_t)layout->stubs.code.size + layout->tables.size;

    return (end < INT32_MAX - (64u << 20) && layout->image->size < INT32_MAX - end) ||
           fail(failure, layout->image->path, "expected less than 2 GB of address space");
}

static bool build(struct pe_layout *layout, const struct pe_writer_source *source,
                  struct manifest_source *manifest, struct stub_moves *moves,
                  struct failure *failure)
{
    const struct pe_image *image = layout->image;

    layout->stubs_rva = (uint32_t)(image->end - image->base);
    layout->stubs.address = image->end;
    if (!patch_stubs_append(&layout->stubs, source->plan, image->path, moves, failure) ||
        !check_size(layout, failure))
        return false;
    layout->tables_rva = page_up(layout, layout->stubs_rva + layout->stubs.code.size);
    if (!pe_imports_build(layout, source->agent, failure))
        return false;
    if (!pe_is_32(image))
        pe_exceptions_build(layout, source->pe, moves);
    pe_relocations_build(layout, source->pe, source->plan, moves);
    manifest->stubs = layout->stubs.address;
    buffer_align(&layout->tables, 64, 0);
    layout->manifest.size = manifest_size(manifest);
    layout->manifest.offset = buffer_append_zeros(&layout->tables, layout->manifest.size);
    manifest_write(manifest, layout->tables.bytes + layout->manifest.offset);
    layout->header_rva = page_up(layout, (uint64_t)layout->tables_rva + layout->tables.size);
    pe_imports_bind(layout);
    return check_size(layout, failure);
}

static struct image_header header_of(const struct pe_layout *layout, struct pe_span generated)
{
    return (struct image_header){
        .magic = IMAGE_MAGIC,
        .version = IMAGE_VERSION,
        .header_rva = layout->header_rva,
        .manifest_rva = layout->tables_rva + (uint32_t)layout->manifest.offset,
        .image_size = layout->header_rva + layout->image->header.section_alignment,
        .hook_rva = layout->header_rva + offsetof(struct image_header, entry_hook),
        .generated_rva = generated.rva,
        .generated_size = generated.size,
    };
}

/* The last section ends where its raw data does, even if that is more than it holds. */
static bool write_all(const struct pe_layout *layout, const struct pe_files *files,
                      struct pe_span generated, struct output_file *output, struct failure *failure)
{
    const struct pe_image *image = layout->image;
    struct image_header header = header_of(layout, generated);
    struct pe_table overlay = overlay_of(image);
    uint32_t room = files->end - files->header;
    uint8_t *padded = memory_zeroed(room, 1);
    bool is_written;

    memcpy(padded, &header, sizeof(header));
    is_written = output_file_write(output, 0, image->bytes, image->size, failure) &&
                 output_file_write(output, files->stubs, layout->stubs.code.bytes,
                                   layout->stubs.code.size, failure) &&
                 output_file_write(output, files->tables, layout->tables.bytes, layout->tables.size,
                                   failure) &&
                 output_file_write(output, files->header, padded, room, failure) &&
                 (overlay.count == 0 ||
                  output_file_write(output, files->end, overlay.bytes, overlay.count, failure));
    free(padded);
    return is_written;
}

/* Reads the file back. The seal counts the checksum as 0, so it comes first. */
static bool write_checksum(const struct pe_image *image, struct output_file *output,
                           struct failure *failure)
{
    size_t field = image->optional + offsetof(struct pe_optional_header, checksum), size;
    void *bytes = MAP_FAILED;
    struct stat status;
    uint32_t sum;

    if (image->header.checksum == 0)
        return true;
    if (fstat(output->descriptor, &status) == 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, output->descriptor, 0);
    if (bytes == MAP_FAILED)
        return fail(failure, output->path, "cannot read what was written: %s", strerror(errno));
    size = (size_t)status.st_size;
    sum = pe_checksum(bytes, size, field);
    munmap(bytes, size);
    return output_file_write(output, field, &sum, sizeof(sum), failure);
}

static bool write_layout(struct pe_layout *layout, const struct pe_writer_source *source,
                         const struct stub_moves *moves, struct output_file *output,
                         struct failure *failure)
{
    const struct pe_image *image = layout->image;
    struct pe_files files = pe_headers_place(layout);
    uint64_t header = image->base + layout->header_rva;
    uint64_t seal = files.tables + layout->manifest.offset + offsetof(struct image_manifest, seal);

    pe_shadow_stack_clear(image);
    patch_write(source->plan, &layout->stubs,
                &(struct stub_targets){header, header + offsetof(struct image_header, entry_hook)});
    import_sites_redirect(&source->pe->functions, &source->pe->code, &source->pe->map,
                          &layout->stubs, moves);
    pe_headers_write(layout, &files);
    return write_all(layout, &files, source->pe->generated, output, failure) &&
           seal_output(output, seal, failure) && write_checksum(image, output, failure);
}

bool pe_write(const struct pe_writer_source *source, struct output_file *output,
              struct failure *failure)
{
    const struct pe_image *image = source->image;
    struct patched_file file = {image->path, image->bytes};
    struct pe_layout layout = {.image = image};
    struct pe_table build_id = pe_build_id(image);
    struct manifest_source manifest = {
        .code = &source->pe->code,
        .functions = &source->pe->functions,
        .changes = source->changes,
        .original_path = source->original_path,
        .agent_path = source->agent,
        .original_size = source->original_size,
        .original_hash = source->original_hash,
        .base = image->base,
        .build_id = build_id.bytes,
        .build_id_size = build_id.count,
    };
    size_t others = source->changes->count;
    struct stub_moves *moves = memory_zeroed(source->pe->functions.count, sizeof(*moves));
    bool is_written = patch_note_all(source->changes, source->plan, &file, failure) &&
                      import_sites_note(source->changes, &source->pe->functions, &source->pe->code,
                                        &source->pe->map, &file, failure) &&
                      pe_changes_check_apart(source->pe, source->changes, others, failure) &&
                      build(&layout, source, &manifest, moves, failure) &&
                      write_layout(&layout, source, moves, output, failure);

    free(moves);
    free(layout.tables.bytes);
    free(layout.stubs.code.bytes);
    return is_written;
}
