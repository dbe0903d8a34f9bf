/*
 * The agent within a process that runs. No dynamic linker loads it: the service maps libattach.so there, fills
 * in what a linker would have, and struct attachment, and sets the hook words of the images to IMAGE_HOOK_SYMBOL.
 *
 * Each thread's gs leads to its words (struct thread_words), whose `mark` is the thread's own pointer, fs:[0].
 * A thread begins with its maker's gs. So that is compared each time, and all threads begin with the words of
 * nobody, ATTACHED_NOBODY_SYMBOL, whose mark is 0.
 *
 * Exceptions pass thunks and the agent's own functions, as libgcc finds their unwind information: its _Unwind_Find_FDE
 * has a hook, whose word leads to ATTACHED_FINDER_SYMBOL.
 * The thunks are pages of the agent, mapped often. The service maps them once more, shared, as a program with other
 * files than ours cannot open the agent's. Such a program cannot reach the service's socket either: the service
 * listens at an abstract one in the program's network namespace, too.
 *
 * For the service to take it all out again, ATTACHED_MEMORY_SYMBOL says what memory the agent has taken since, and
 * where the records of calls are. While a call is under way, the stack has the address of its thunk in place of the
 * return address, which is in the record (thunkstash/layout.h):
 *
 *      stash    | thunks | records | thunks | records | …     ATTACHED_BLOCK_SIZE for both, half and half
 *      record   | ret | body | t0 | slot | node | weight | mark | parked |
 */
#ifndef UMBRA_ATTACHED_AGENT_H
#define UMBRA_ATTACHED_AGENT_H

#include <stdint.h>

#define ATTACHED_AGENT_NAME    "libattach.so"
#define ATTACHMENT_SYMBOL      "umbra_attachment"
#define ATTACHED_NOBODY_SYMBOL "umbra_nobody"
#define ATTACHED_MEMORY_SYMBOL "umbra_memory"
#define ATTACHED_FINDER_SYMBOL "umbra_find_frame"

#define ATTACHED_TIMER_VALUE   0x756d627261 /* what the signals of its timers say, by which threads sample themselves */
#define ATTACHED_MOST_OPEN     16           /* signals that a mask leaves open, if the agent opens it for its own */

#define ATTACHED_AREA_SIZE_BITS 28 /* an area: the number of its first page, and its pages in the low bits */
#define ATTACHED_BLOCK_SIZE     65536
#define ATTACHED_THUNK_RETURN   6 /* from a thunk to the address that a stack has of it */

/* Addresses in the process. */
struct attached_image {
    uint64_t base; /* 0: nothing is to be known of it */
    uint64_t path; /* of the file that has the manifest: zero-terminated, absolute */
    uint64_t header; /* its struct image_header; 0: it has no hooks */
};

struct attachment {
    uint64_t environment; /* of char *[]: what the agent finds the service by; null at the end */
    uint64_t images;      /* of struct attached_image[] */
    uint64_t image_count;
    uint64_t thunks; /* mapped once more, shared */
    uint64_t socket; /* of an abstract socket's name, behind its first zero; 0: it is found by the environment */
};

struct attached_memory {
    uint64_t areas; /* of uint64_t[area_count]; 0: none */
    uint64_t area_count;
    uint64_t stash, stash_size;
    uint64_t thunks, thunks_size; /* in the agent's code: what is to be mapped once more */
};

struct attached_record {
    uint64_t ret;
    uint64_t unused[2];
    uint64_t slot; /* where the thunk's address is, if the call is under way */
    uint64_t unused_too[3];
    uint64_t parked; /* the same, if slot is 0 */
};

#endif
