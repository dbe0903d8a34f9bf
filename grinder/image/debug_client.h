/*
 * A process that asks debuginfod servers, by libdebuginfod. What a server sends is written by it,
 * so its limits, and as root its empty environment, are no matter of the grinder's: proxies, keys,
 * headers and certificates that variables name would be those of whoever made the environment.
 *
 *      grinder                                   client
 *        | -- struct debug_wish ------------------> |   loads the library at the first
 *        | <- struct debug_answer ----------------- |
 *        |    ... the next wish, or its end         |   ends with the grinder
 */
#ifndef UMBRA_GRINDER_DEBUG_CLIENT_H
#define UMBRA_GRINDER_DEBUG_CLIENT_H

#include <limits.h>
#include <stdint.h>

#define DEBUG_CLIENT_ID_MOST 64
#define DEBUG_CLIENT_NAME    64

struct debug_wish {
    unsigned char id[DEBUG_CLIENT_ID_MOST]; /* a build-id */
    int32_t id_size;
    int32_t seconds;              /* in which it must have come */
    uint64_t bytes;               /* that it may have */
    char name[DEBUG_CLIENT_NAME]; /* of the image, for the line of progress */
};

struct debug_answer {
    int32_t error;  /* errno; 0: there is a file at path. ENOPKG: why says what is wrong with the
                       library; EFBIG, ETIME: more than bytes or seconds */
    uint64_t bytes; /* that were fetched, also of a file that did not come whole */
    char path[PATH_MAX];
    char why[128];
};

/* Starts it, in the calling process: serves wishes that come by socket until its other end is
   closed. servers, cache: debug_trust.h. */
_Noreturn void debug_client_run(int socket, const char *servers, const char *cache);

#endif
