/*
 * Separate debug files, as gdb looks for them:
 *
 *      DIR/.build-id/ab/cdef….debug         DIR: debug_dirs, then /usr/lib/debug
 *      folder of the image/NAME             NAME: from .gnu_debuglink, CRC checked
 *      folder of the image/.debug/NAME
 *      DIR/folder of the image/NAME
 */
#ifndef UMBRA_IMAGE_DEBUG_FILE_H
#define UMBRA_IMAGE_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_NOTE_SECTION ".note.gnu.build-id"
#define DEBUG_LINK_SECTION ".gnu_debuglink"

/* What an image has of these sections, which may be anything; null and 0: none. */
struct debug_marks {
    void *note, *link;
    uint64_t note_size, link_size;
};

#define BUILD_ID_MOST 64

struct build_id {
    unsigned char bytes[BUILD_ID_MOST];
    size_t size; /* 0 if there is none */
};

/* From the content of a .note.gnu.build-id, which may be anything or null. */
struct build_id build_id_read(const unsigned char *bytes, uint64_t size);

/* Is there an ELF file at path that has it? */
bool build_id_is_of(const char *path, const struct build_id *wanted);

/* The path of the debug file of the image at image_path; to be freed, or null. debug_dirs ends
   with null. */
char *debug_file_find(const char *const *debug_dirs, const char *image_path,
                      const struct debug_marks *marks);

#endif
