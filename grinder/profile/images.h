/*
 * The instrumented images of all traces, and one numbering of their functions.
 *
 * An image is a file by path and content, whatever process it ran in and wherever it was loaded:
 * the same function of the same file has the same number in every trace, so figures of several
 * processes add up. Numbers go to functions as they turn up in traces; 0 is none. Image 0 takes
 * functions whose module the trace does not know.
 */
#ifndef UMBRA_GRINDER_IMAGES_H
#define UMBRA_GRINDER_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/base/pair_index.h"
#include "grinder/image/recorded_path.h"
#include "grinder/symbols/jit_map.h"
#include "grinder/symbols/lines.h"
#include "image/loaded_ranges.h"
#include "image/manifest.h"
#include "trace/trace_format.h"

/* A function as a baseline has it (baseline.h). */
struct listed_function {
    uint64_t code; /* 0: not known */
    char *name;    /* owned; null if it has none */
};

struct image {
    char *path;               /* of the file that was mapped */
    char *recorded;           /* as the trace has it: of an attached program's image, the instrumented file's */
    enum trace_system system; /* how that is spelt */
    char *file;               /* where the file lies here; null if it cannot be told */
    uint64_t original_hash;
    uint8_t build_id[32];
    uint32_t build_id_size;
    uint32_t function_count; /* as the trace says */
    char *problem;           /* why there is no manifest, owned; null if there is one */
    struct manifest manifest;
    struct loaded_ranges ranges; /* of the file; empty if there is no manifest */
    bool is_plain;       /* it was not instrumented */
    uint64_t device, inode; /* of the file of a plain one */
    uint32_t counted_as; /* of a plain one: the instrumented image of the same file; 0: there is none, or none
                            is looked for */
    bool is_jit;
    struct jit_map *jit;     /* of code made at run time, owned; else null */
    struct listed_function *listed; /* of an image of a baseline, owned: function_count of them; else null */
    size_t listed_room;
    struct line_table lines; /* symbolize fills it */
    uint32_t first_file;     /* number of lines.files[0] among the files of all images */
};

struct function {
    uint32_t image;
    uint32_t index; /* place in the image's manifest */
    uint32_t rva;   /* 0 if the image has a problem */
    char *name;     /* printable, never null once symbolize was called */
    char *symbol;   /* as the symbol table or the map has it; null if the name was made up */
    char *aliases;  /* its other symbols, each with its zero, a zero behind the last; or null */
    bool has_more_calls; /* than were counted: its hooks were out for a while (unhooked.h) */
};

struct images {
    const char *const *path_maps; /* --path-map (recorded_path.h); null if there are none */
    const char *const *jit_maps;  /* --jit-map; null if there are none */
    bool joins; /* plain images that are added are looked for among the instrumented ones */
    struct image *images;         /* [0] is the unknown one */
    size_t count, room;
    struct function *functions; /* [0] is none */
    size_t function_room;
    struct pair_index numbers; /* (image + 1, index), (0, 0) for number 0 */
};

void images_begin(struct images *images);
void images_free(struct images *images);

/* The image a module record speaks of, from a process on that system; reads its manifest the first
 * time. */
uint32_t images_add(struct images *images, const char *path, enum trace_system system,
                    const struct trace_module *module);

/* One that was not instrumented, as it was mapped; finds its functions (function_starts.h) the first time. It has
   a problem, said once, where its file is not that one, or is none. A file is one image, whatever it is called.
   build_id: of build_id_size bytes, 0 where it is not known. */
uint32_t images_add_plain(struct images *images, const char *path, const uint8_t *build_id,
                          uint32_t build_id_size);

/* The code made at run time that a map tells about; reads it the first time. image.jit is null if
   it cannot be read. name is a descriptor of it, opened with O_PATH at path; -1: whatever lies at
   path. */
uint32_t images_add_jit(struct images *images, const char *path, int name);

/* An image that a baseline tells about. images_list adds a function to it, behind the others, and returns its place;
   the name is copied, null if there is none. */
uint32_t images_add_listed(struct images *images, const char *name);
uint32_t images_list(struct images *images, uint32_t image, uint64_t code, const char *name);

/* Whether images of two lists are of the same file. */
bool images_are_same(const struct image *left, const struct image *right);

/* The number of the function at index in the image's manifest. */
uint32_t images_function(struct images *images, uint32_t image, uint32_t index);

/* The number of the function at index, as images_function gives it; 0 if no trace so far has
   recorded it. */
uint32_t images_recorded(const struct images *images, uint32_t image, uint32_t index);

size_t images_function_count(const struct images *images);

/* Name of the image's file without its folders. */
const char *image_name(const struct image *image);

#endif
