/*
 * Separate debug files, as gdb looks for them:
 *
 *      DIR/.build-id/ab/cdef….debug         DIR: --debug-dir, then /usr/lib/debug
 *      folder of the image/NAME             NAME: from .gnu_debuglink, CRC checked
 *      folder of the image/.debug/NAME
 *      DIR/folder of the image/NAME
 *      the servers of DEBUGINFOD_URLS, by build-id
 */
#ifndef UMBRA_GRINDER_DEBUG_FILE_H
#define UMBRA_GRINDER_DEBUG_FILE_H

#include "grinder/image/image_file.h"

/* The path of the debug file of the image at image_path; to be freed, or null. debug_dirs ends
   with null. */
char *debug_file_find(const char *const *debug_dirs, const char *image_path,
                      const struct image_file *image);

/* The path of one that a server has; to be freed, or null. */
char *debug_file_fetch(const char *image_path, const struct image_file *image);

#endif
