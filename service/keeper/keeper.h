/*
 * The keeper: a process beside the service that sees to it that nothing is lost when the service
 * is killed (Linux).
 *
 *      service                         keeper                       trace directory
 *        | -- hold: trace, ring -------> |  maps nothing, waits
 *        |                               |  each 5 s or more -------> NAME.bin, a snapshot
 *        | -- release -----------------> |  forgets it
 *        |  (completes the trace itself) |
 *        x  gone, with sessions held     |
 *                                        |  resumes what was paused
 *                                        |  a program ends ---------> NAME.bin, complete
 *      next service of the instance      |
 *        | <- hold, hold, … end -------- |  by INSTANCE.keeper
 *        | -- taken -------------------> x
 *
 * What programs record into is memory without a name (memory_file.h), which is there as long as
 * somebody has it: the program, the service, the keeper. The keeper is a child of nobody, in a
 * session of its own, named umbra-keeper; it ends when there is nothing left to keep. SIGTERM has
 * it write out what it has, as it is, and end.
 */
#ifndef UMBRA_SERVICE_KEEPER_H
#define UMBRA_SERVICE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

struct keeper;
struct recorder;
struct session;

/*
 * Begins a keeper for the service, which then has the lock of its instance and no descriptors yet
 * that a keeper must not have. socket_path: of the instance; the keeper's is beside it. Null, after
 * one message: sessions are not kept.
 */
struct keeper *keeper_open(const struct recorder *recorder, const char *socket_path);

/*
 * Takes over the sessions that the keeper of an earlier service of this instance has: calls adopt
 * for each, which owns the descriptors from then on.
 */
struct kept_session {
    const char *directory; /* of its trace */
    bool is_fixed;         /* trace_dir.h */
    const char *name;      /* of the trace */
    uint32_t pid;
    int trace;
    int directory_file; /* the directory, opened */
    int ring;           /* -1: none */
    int watch;          /* process_watch; -1: none */
};
void keeper_adopt(struct recorder *recorder, const char *socket_path,
                  void (*adopt)(struct recorder *recorder, const struct kept_session *kept));

/* The session has begun; its program may have the trace from here on. */
void keeper_hold(struct keeper *keeper, const struct session *session);

/* The session is over, its trace complete or removed. */
void keeper_release(struct keeper *keeper, const struct session *session);

/* What is held now remains with the keeper. */
void keeper_close(struct keeper *keeper);

#endif
