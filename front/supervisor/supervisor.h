/*
 * Instruments what the processes of a recording execute and load, as they come.
 *
 * A process has no say in what it loads before it loads it, and nobody can tell beforehand: plugins
 * and modules of interpreters are chosen at run time, and children are whatever was typed. So the
 * program runs under a seccomp filter (front/calls/call_filter.h). A call that opens, executes or
 * changes a file waits, the supervisor looks, and lets the call go on, as it was meant:
 *
 *      program                     kernel           supervisor
 *        | execve("/usr/bin/perl") |                  |
 *        |------------------------>|- notification -->| which file is that? not instrumented yet:
 *        |                         |                  |   from the cache, or instrument FILE -o KEY
 *        |                         |                  |   KEY is bound over /usr/bin/perl
 *        |                         |<-- continue -----|
 *        x  perl, instrumented     |                  |
 *        | openat("libm.so.6")     |- notification -->| by the dynamic linker: as above
 *        | openat("/usr/bin/perl") |- notification -->| by anybody else: gets the original's
 *        |   of cp, ld, strip, gdb |<-- descriptor ---|   descriptor
 *        | rename, unlink, …       |- notification -->| the original is put back first
 *
 * So what is executed is instrumented, and what is read is what was there: a build that copies,
 * links with, strips or removes a program which it ran before is not disturbed. What differs is
 * what stat says of a file bound over: its size and its inode. Its time is the original's.
 *
 * What it may rely on.
 * - Nothing that a process says is trusted: a path is only looked at, and whatever it leads to is
 *   found by a descriptor that is held (O_PATH) while it is judged and bound. If the process
 * changes the path meanwhile, the kernel executes something else, which is then not instrumented.
 * - No call waits for another: each has a thread and a deadline (front/calls/notifications.h). Who
 * needs a file that another thread instruments waits for that.
 * - The linker is told by the instruction that made the call, which the kernel reports.
 * - Nobody gets what the kernel would refuse: originals are opened with the caller's rights, and
 * who has confined itself (chroot, a container, a sandbox) is let go on (front/calls/rights.h).
 *
 * If the supervisor ended, each of these calls would fail with ENOSYS. So it is two processes: the
 * worker, and one that takes over when the worker dies, and lets every call go on, also those that
 * the worker had in hand. It stays until the last process of the recording has ended, also of those
 * that the program left running.
 *
 *      waiting_call.h          one call: what it names, and whether its caller is served
 *      on_execute.h, on_open.h, on_look.h, on_change.h, on_confine.h
 *                              what is done about each kind of call
 *      placing.h               instruments a file and puts the copy in its place
 *      known_files.h           what was met already
 *
 * docs/front.md has what a watched call costs. Other ways that were considered:
 *
 *      instrumenting beforehand        DT_NEEDED tells no plugins, modules of interpreters or children
 *      LD_AUDIT, LD_PRELOAD            visible to the program, not for static programs, and lost with a
 *                                      new environment
 *      an overlay file system          shows everybody the instrumented file: a build that copies or
 *                                      strips a program that it ran would keep the hooks
 *      ptrace                          stops the program twice at every call, and a debugger in it
 *                                      cannot work
 */
#ifndef UMBRA_FRONT_SUPERVISOR_H
#define UMBRA_FRONT_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "front/base/words.h"
#include "front/cache/cache.h"
#include "front/recording/recording.h"

struct supervisor_wish {
    const struct recording *recording;
    struct cache *cache;
    const struct words *leave; /* patterns: front/files/leave.h */
    bool only_program;         /* what other processes execute is left alone */
    bool is_verbose;           /* keeps standard error for the commands it runs */
    int terminal;              /* front/base/making_line.h; -1: none */
};

/*
 * Starts it. *program is the end of a socket for the program's process (front/tool/inside.h).
 * Returns its pid, or -1 with errno if there can be no process.
 */
pid_t supervisor_start(const struct supervisor_wish *wish, int *program);

#endif
