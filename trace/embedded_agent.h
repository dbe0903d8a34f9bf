/*
 * The agent within a static executable. There is no dynamic linker to load and bind it, so
 * `instrument` copies its segments into the image and fills in what a linker would have:
 *
 *      original segments
 *      RX  stubs                           as in any image (image_manifest.h)
 *      R   program headers, unwind tables, manifest
 *      RW  image of the thread-local storage, pointers[], image_header, the page of the hook word
 *      R   agent's read-only data
 *      RX  agent's code                    e_entry -> umbra_start
 *      RW  agent's data                    umbra_embedding
 *      R   thunk stash                     no bytes in the file
 *
 * umbra_start adds the distance between where the image was linked and where it runs to each of
 * the places in pointers[], sets the hook word, and goes on to the program's own entry point.
 *
 * The agent's thread-local slot precedes the program's own thread-local storage, whose distances
 * from the thread pointer so stay what its code has them for:
 *
 *      thread pointer - tls_slot                                thread pointer
 *      | slot | mark | frame_words | idle ones | zeros up to the alignment | .tdata | .tbss |
 *
 * The mark tells the agent that the C library has set up thread-local storage, and as it was told.
 */
#ifndef UMBRA_EMBEDDED_AGENT_H
#define UMBRA_EMBEDDED_AGENT_H

#include <stdint.h>

#include "trace/frame_format.h"

#define EMBEDDED_START_SYMBOL "umbra_start"
#define EMBEDDED_LOCK_SYMBOL  "umbra_mlockall_call" /* for the system call mlockall */
#define EMBEDDING_SYMBOL      "umbra_embedding"
#define EMBEDDED_TLS_MARK     0x31534c5441524255ull /* "UBRATLS1", little endian */

struct thread;

/* The agent's thread-local storage, all of it. The hooks in assembly, and copies, read and write it, too. */
struct thread_words {
    struct thread *thread; /* the slot */
    uint64_t mark;
    struct frame_words frames, idle; /* the latter are 0 for good */
};

/* In the agent's data. Zero in a libhooks.so that is loaded as a library. Addresses as linked. */
struct embedding {
    uint64_t address;  /* of this very structure */
    uint64_t entry;    /* the program's own entry point */
    uint64_t pointers; /* uint64_t[pointer_count]: addresses of what is to be moved along */
    uint64_t pointer_count;
    uint64_t hook_word; /* of the image, where `hook` belongs: */
    uint64_t hook;      /* the agent's umbra_enter_13 */
};

#endif
