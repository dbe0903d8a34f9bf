/*
 * An image that a process has mapped, and the hooks for it: the file that `instrument --away` has made of it. The
 * image's bytes are hooked in the process; what was added is mapped from the file, out of the way.
 *
 *      process     base                                     stubs      manifest   data
 *                  | image as it is, but for the hooks |  …  | range 0 | range 1 | range 2 | hook word |
 *                    ^ hook: `after` in place of `before`
 */
#ifndef UMBRA_SERVICE_HOOKED_IMAGE_H
#define UMBRA_SERVICE_HOOKED_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/attach/linux/address_space.h"

#define HOOK_SIZE   16
#define HOOK_RANGES 3

enum hook_state {
    HOOK_OUT,     /* to be written */
    HOOK_IN,      /* written */
    HOOK_WAITS,   /* a thread was amid these bytes: not now */
    HOOK_CHANGED, /* the bytes are not the file's: never */
};

/* Who decides about hooks while the program runs. */
enum hook_owner {
    HOOK_OF_USER = 1,     /* by hook and unhook */
    HOOK_OF_OVERHEAD = 2, /* by what they cost */
};

/* Addresses in the process. */
struct hook {
    uint64_t at;
    uint64_t moved; /* where the instructions are that `after` takes the place of, as long and as far from each
                       other as they were; 0: they are not */
    uint64_t hole_target; /* of a jump in a hole: where it goes; 0: it is none */
    uint8_t size;
    uint8_t behind;   /* the first byte of its function: that many bytes */
    uint8_t unwanted; /* set of enum hook_owner; not 0: not to be written, and taken out if it is */
    enum hook_state state;
    uint32_t place;   /* of its function in the manifest */
    uint8_t before[HOOK_SIZE], after[HOOK_SIZE];
};

struct added_range {
    uint64_t address, size; /* size: of whole pages, in the process */
    uint64_t offset, file_size;
    bool is_writable, is_executable;
    bool is_mapped; /* in the process, by us */
};

struct hooked_image {
    char *path; /* of the instrumented file */
    uint64_t base;
    uint64_t hook_word, header; /* its struct image_header */
    struct hook *hooks; /* ascending by `at` */
    size_t hook_count;
    uint32_t *hook_of; /* by place of a function: its hook's, plus 1; 0: it has none */
    uint32_t function_count;
    uint64_t low, high; /* all of `at` to at + size lies in between */
    unsigned long functions;
    bool is_unwinder; /* hooked in how it finds unwind information, and nowhere else: */
    uint64_t unwinder_low, unwinder_high; /* its functions */
    struct added_range added[HOOK_RANGES];
    size_t added_count;
};

/* base: where the process has the image's first byte; away: where it gets what is added. */
bool hooked_image_read(struct hooked_image *image, const char *path, uint64_t base, uint64_t away,
                       struct failure *failure);
void hooked_image_free(struct hooked_image *image);

/* The process has closed it: no byte of it is there any more. What was added stays. */
void hooked_image_close(struct hooked_image *image);

/* The hook of a function, by its place in the manifest; null: it has none. */
struct hook *hooked_image_hook_of(const struct hooked_image *image, uint32_t place);

/* The hook of the function that begins there; null: it has none. */
struct hook *hooked_image_hook_at(const struct hooked_image *image, uint64_t function);

/* The hook whose first byte is there; null: there is none. */
struct hook *hooked_image_at(const struct hooked_image *image, uint64_t address);

/* Where a hook that is a short jump leads to: the first byte of another. 0: it is none. */
uint64_t hook_hole(const struct hook *hook);

/* The hook amid whose bytes the address is: behind the first of them. Null: there is none. */
struct hook *hooked_image_amid(const struct hooked_image *image, uint64_t address);

#endif
