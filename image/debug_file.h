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

#include <stdint.h>

#define DEBUG_NOTE_SECTION ".note.gnu.build-id"
#define DEBUG_LINK_SECTION ".gnu_debuglink"

/* What an image has of these sections, which may be anything; null and 0: none. */
struct debug_marks {
    void *note, *link;
    uint64_t note_size, link_size;
};

/* The path of the debug file of the image at image_path; to be freed, or null. debug_dirs ends
   with null. */
char *debug_file_find(const char *const *debug_dirs, const char *image_path,
                      const struct debug_marks *marks);

#endif
