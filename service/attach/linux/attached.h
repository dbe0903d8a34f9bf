/* A process with hooks in it: what the steps of attach.c share. */
#ifndef UMBRA_SERVICE_ATTACHED_H
#define UMBRA_SERVICE_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/attach/linux/attach_stacks.h"
#include "service/attach/linux/attached_agent.h"
#include "service/attach/linux/hooked_image.h"
#include "service/attach/linux/program_files.h"

#define ATTACHED_PAGE       4096u
#define ATTACHED_IMAGES     512
#define LETTER_PATH_SIZE    4096

/*
 * Memory of ours in the process:
 *
 *      | path of a file | environment[3] | struct attached_image[] | strings … |
 *      ^ address         ^ LETTER_PATH_SIZE         1 + ATTACHED_IMAGES       ^ next
 *
 * The first of the images is the agent.
 */
struct letter {
    uint64_t address, size;
    uint64_t next; /* where there is room for a string */
    uint64_t socket_name; /* a string; 0: there is none */
};

/* An image that was looked at. */
struct seen_image {
    uint64_t base, inode; /* base 0: it was closed */
    size_t image;         /* its place among those with hooks; ATTACHED_IMAGES: it has none */
};

struct attached {
    pid_t pid;
    int memory; /* /proc/PID/mem */
    struct program_files files;
    int listener; /* in the program's network namespace, where it cannot reach the service's socket; -1 */
    char socket_name[64]; /* of the listener, behind its first zero */
    struct attached_agent agent;
    struct hooked_image *images; /* room for ATTACHED_IMAGES */
    size_t image_count;
    struct seen_image *seen; /* room for ATTACHED_IMAGES */
    size_t seen_count;
    struct letter letter;
    pid_t *inside;                /* threads that may come to our memory, once the hooks are out */
    size_t inside_count;
    struct taken_stacks stacks; /* when the hooks came */
    bool is_sampled; /* by its threads */
    bool is_hooked;
    bool has_filters; /* a thread of it, when it was last looked at (attach_filters.h) */
    bool is_confined; /* by seccomp filters that forbid what is needed */
    double stopped_ms; /* the longest time */
};

/* What is at an address of the process becomes `size` bytes. */
bool attached_put(const struct attached *attached, uint64_t address, const void *bytes, size_t size);

/* What follows the last slash. */
const char *attached_base_name(const char *path);

/* libgcc_s.so.1, by its name alone. */
bool attached_is_unwinder(const char *name);

#endif
