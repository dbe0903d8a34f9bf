/* The manifest in an instrumented image that may say anything: trace/image_manifest.h draws it. */
#ifndef UMBRA_IMAGE_MANIFEST_READER_H
#define UMBRA_IMAGE_MANIFEST_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "image/loaded_ranges.h"
#include "trace/image_manifest.h"

/* {0} is one of no functions, that was not read. */
struct manifest {
    struct image_manifest *head; /* owned, with all that it leads to */
    const struct manifest_function *functions;
    const struct manifest_change *changes;
    const struct manifest_import *imports; /* ascending by function */
    const struct manifest_copy *copies;    /* ascending by rva and by function */
    const struct manifest_site *sites;     /* ascending by copy */
    const struct manifest_stretch *stretches;
    const struct manifest_block *blocks;
    const struct manifest_way *ways; /* null: blocks are not counted */
    uint32_t function_count, change_count, import_count, copy_count, site_count, stretch_count;
    uint32_t block_count;
    uint32_t hooked; /* functions that are */
    /* Set by manifest_load alone: */
    bool is_away;        /* as IMAGE_IS_AWAY */
    uint32_t stub_frame; /* bytes from a stub to its body */
};

/* Where a manifest is. */
struct manifest_place {
    struct image_header header;
    uint64_t offset; /* of the manifest in the file */
    uint64_t room;   /* bytes from there to the end of what is loaded with it */
};

enum manifest_state {
    MANIFEST_WHOLE,
    MANIFEST_MISSING,
    MANIFEST_OF_OTHER_VERSION,
    MANIFEST_MALFORMED,
};

/*
 * Finds the image header, by its content, and follows it; sections, which strip may have removed,
 * are not needed. An ELF image has it in a writable segment, a PE image at the start of a writable
 * section, and the last one is the likeliest. False if there is none: the image was instrumented by
 * no version.
 */
bool manifest_find(struct manifest_place *place, const struct bounded_file *file,
                   const struct loaded_ranges *ranges);
/* Finds the manifest of an image whose ranges nobody needs. */
bool manifest_locate(struct manifest_place *place, const struct bounded_file *file);
bool manifest_is_in(const struct bounded_file *file);

/*
 * Copies out the manifest at that offset, which has no more bytes than room; manifest_free frees
 * it. If it is whole, each function's patch_size and change's size fits its `original`, each
 * import is of a function and has a name, and copies, sites and stretches are as the manifest's drawing says;
 * what else they refer to is not looked at. Else there is nothing to free.
 */
enum manifest_state manifest_read(struct manifest *manifest, const struct bounded_file *file,
                                  uint64_t offset, uint64_t room);
/* Finds it first. */
enum manifest_state manifest_load(struct manifest *manifest, const struct bounded_file *file);
void manifest_free(struct manifest *manifest);

/* Name of the import at that place among the functions; null if it is none. */
const char *manifest_import_name(const struct manifest *manifest, uint32_t function);
/* The copy that has the byte at rva; null if none has. */
const struct manifest_copy *manifest_copy_at(const struct manifest *manifest, uint32_t rva);
/* The copy of the function at that place; null if there is none. */
const struct manifest_copy *manifest_copy_of(const struct manifest *manifest, uint32_t function);
/* What a return address at rva is in the original: rva itself, if it is none in a copy. */
uint32_t manifest_original_site(const struct manifest *manifest, uint32_t rva);
/* A string that the head names by its offset; null if it does not end within the manifest. */
const char *manifest_string(const struct manifest *manifest, uint32_t offset);
/* Path of the file that was instrumented; null if the manifest has none. */
const char *manifest_original_path(const struct manifest *manifest);

#endif
