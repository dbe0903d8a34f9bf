/*
 * The agent within a process that runs. No dynamic linker loads it: the service maps libattach.so there, fills
 * in what a linker would have, and struct attachment, and sets the hook words of the images to IMAGE_HOOK_SYMBOL.
 *
 * Each thread's gs leads to its words (struct thread_words), whose `mark` is the thread's own pointer, fs:[0].
 * A thread begins with its maker's gs. So that is compared each time, and all threads begin with the words of
 * nobody, ATTACHED_NOBODY_SYMBOL, whose mark is 0.
 */
#ifndef UMBRA_ATTACHED_AGENT_H
#define UMBRA_ATTACHED_AGENT_H

#include <stdint.h>

#define ATTACHED_AGENT_NAME    "libattach.so"
#define ATTACHMENT_SYMBOL      "umbra_attachment"
#define ATTACHED_NOBODY_SYMBOL "umbra_nobody"

/* Addresses in the process. */
struct attached_image {
    uint64_t base;
    uint64_t path; /* of the file that has the manifest: zero-terminated, absolute */
    uint64_t header; /* its struct image_header */
};

struct attachment {
    uint64_t environment; /* of char *[]: what the agent finds the service by; null at the end */
    uint64_t images;      /* of struct attached_image[] */
    uint64_t image_count;
};

#endif
