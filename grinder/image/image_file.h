/*
 * An image file of either system, told by its first bytes.
 *
 *      7f 45 4c 46   ELF    elf_file.c  elf_symbols.c
 *      4d 5a         PE     pe_file.c  coff_symbols.c  pe_exports.c  pe_imports.c
 */
#ifndef UMBRA_GRINDER_IMAGE_FILE_H
#define UMBRA_GRINDER_IMAGE_FILE_H

#include "grinder/image/pe_file.h"
#include "grinder/image/symbols.h"
#include "image/elf_file.h"
#include "image/loaded_ranges.h"
#include "image/manifest.h"
#include "support/failure.h"

enum image_format {
    IMAGE_NONE, /* not open */
    IMAGE_ELF,
    IMAGE_PE,
};

struct image_file {
    enum image_format format;
    union {
        struct elf_file elf;
        struct pe_file pe;
    };
};

/* False: nothing is to be closed, and the text is without the path. */
bool image_file_open(struct image_file *image, const char *path, struct failure *failure);
void image_file_close(struct image_file *image);

/* The content of the section, to be freed, with a zero behind its *size bytes; null if there is
   none in the file. */
void *image_file_section(const struct image_file *image, const char *name, uint64_t *size);
int image_file_has_section(const struct image_file *image, const char *name);

/* The path of its separate debug file, as image/debug_file.h has it; image_path is where it is. */
char *image_file_debug_path(const struct image_file *image, const char *const *debug_dirs,
                            const char *image_path);

/* The path of the one that a server has (debug_server.h); to be freed, or null. name: for the line
   of progress. */
char *image_file_fetch_debug(const struct image_file *image, const char *name);

/* False: nothing is to be freed, and the text is without the path ("has no instrumentation
   manifest"). */
bool image_file_manifest(const struct image_file *image, struct manifest *manifest,
                         struct failure *failure);

/* False, with nothing to free, if its headers make no sense. */
bool image_file_ranges(const struct image_file *image, struct loaded_ranges *ranges);

/* Adds the functions that the file has names for, on Windows also slots of imports. Exports without
   one are called by number, with the module's name in front. */
void image_file_symbols(const struct image_file *image, const char *module,
                        struct symbol_table *table);

#endif
