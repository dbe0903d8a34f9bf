/*
 * Between the agent and call_trace_service: one Unix SOCK_SEQPACKET connection at start-up.
 *
 *      agent                                    service
 *        | -- struct protocol_hello -------------> |   who is it: SO_PEERCRED and /proc/PID
 *        | <- struct protocol_welcome + trace fd -- |   SCM_RIGHTS, header page filled in;
 *        |    (call-trace mode: + ring fd)          |
 *        |    + trace fd, for reading alone         |
 *        | close                                    |   watches the process by pidfd
 *
 * Both check the other first: the agent the socket's directory (its user's or root's, mode 0700, no
 * symbolic link), then SO_PEERCRED, then the owners of the descriptors; the service SO_PEERCRED.
 *
 * The agent maps the trace, closes all descriptors and never needs the service again. Its images'
 * hook words are the trace's first page, mapped by the last descriptor: so neither the process nor a
 * child of it, which may become another user, can make them writable (hooks/hook_word.h). The trace
 * is sealed memory, `capacity` bytes long from the start. When the process is gone, the service
 * writes its first trace_header.used bytes to a file.
 *
 * What a recorded call costs is measured by some agents and given to the others: a header may have
 * these costs already (service/recorder/cost_table.h). An agent that finds them there measures
 * nothing at its start. One that does not know of this measures and writes over them; a service
 * that does not know of it leaves them 0. So neither needs another version of the protocol.
 *
 * The command-line tool speaks to the service over the same socket, with protocol_command; the
 * answer is data, a packet a line, ended by an empty packet. What people read is made of it by the
 * tool. But for LIST and OPEN a line is `KEY<tab>VALUE`, numbers are decimal:
 *
 *      STATUS          instance, pid, trace_dir; sessions since the start: running, ended, refused,
 *                      lost; paused (1: programs that begin now are); running_bytes and ended_bytes
 *                      of their traces; resident_bytes, descriptors, descriptor_limit of the
 *                      service; windows_programs that run and, if they are listened for, port;
 *                      ticks_per_second; timing (exact, adaptive or none); samples_per_second and
 *                      how many sessions are sampled or, if none can be, why_no_samples
 *      STOP            when the service has ended: ended, ended_bytes; left, programs that still
 *                      run; instance, pid; not_on_disk, why, if traces could not be synchronised
 *      LIST            sessions from number `session` on, running and ended, in ascending order, a
 *                      line each: fields by tabs (service/server/list.h). No more than some dozens:
 *                      who wants the rest asks again, from the last number + 1 on, until there is
 *                      none
 *      PAUSE, RESUME   sessions, that it was done to. Of session and pid, 0 stands for all; both 0
 *                      is for programs that are yet to begin, too
 *      OPEN            the name of the trace of the running session `session`, and with it the
 *                      trace itself as a descriptor; nothing if there is no such session.
 *                      Not by TCP
 *
 * The socket is DIR/INSTANCE.socket; DIR is $XDG_RUNTIME_DIR/umbra, or /tmp/umbra-UID where
 * XDG_RUNTIME_DIR is not set or empty; INSTANCE is $UMBRA_INSTANCE_ID or "default". UMBRA_RUNTIME_DIR,
 * if set, is taken in place of XDG_RUNTIME_DIR, on Linux.
 * A program that was not given these variables, since its parent gave it an environment of its own,
 * finds the service of `start -- COMMAND` by its ancestors: that service is one of them, and while
 * its command runs there is
 *
 *      /tmp/umbra-UID/commands/PID        symbolic link to the socket; PID is the service's
 *
 * UMBRA_REQUIRED=1 makes a program refuse to start without a service. A program with AT_SECURE
 * reads none of these variables and looks for no service.
 *
 * Windows programs, also those under Wine, speak over TCP on 127.0.0.1, with secrets instead of
 * credentials and a path instead of a descriptor. Port and secrets stand in the rendezvous file,
 * readable by its owner only, which the service writes when it listens and removes at its end:
 *
 *      DIR/INSTANCE.rendezvous            one line: `umbra 2 PORT SECRET PROOF\n`
 *                                         PORT decimal, the others 32 hexadecimal digits each
 *
 * DIR is as above on Linux and, of a native service, under Wine (there below Z:, and with the UID
 * of Z:\proc\self\status); on Windows it is %LOCALAPPDATA%\umbra. UMBRA_RENDEZVOUS, if set, is
 * the path of the file itself, as Windows spells it (`start -- COMMAND` sets it: Z:\tmp\...).
 *
 *      agent                                            service
 *        | -- protocol_tcp_hello up to its secret -------> |   compares the secret
 *        | <- proof -------------------------------------- |
 *        |    compares the proof                           |
 *        | -- the rest of the hello ---------------------> |
 *        | <- struct protocol_tcp_welcome ---------------- |   path of the trace, header filled in
 *        | … the connection stays open …                   |   its end is the process's end
 *
 * After a service was killed, another user may listen at its port. He gets the secret, which is of
 * no use any more, but does not know the proof, so the agent sends him nothing else.
 *
 * All are of fixed size; a TCP stream has no packets, so each side reads exactly that many bytes.
 * The agent opens and maps the file of that path, shared; nothing else is ever sent. Who shows a
 * wrong secret is closed without an answer; who shows the right one in another version's hello gets
 * the proof and a welcome of kind PROTOCOL_REFUSED, so protocol_hello and secret keep their places.
 *
 * Of a service on Windows, the command-line tool asks in the same way: protocol_tcp_hello with a
 * kind of PROTOCOL_COMMAND_ and, in hello.more, 0, session and pid. The answer is the same
 * lines, ended by an empty one.
 */
#ifndef UMBRA_PROTOCOL_H
#define UMBRA_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define PROTOCOL_MAGIC            0x41524255u /* "UBRA" */
#define PROTOCOL_VERSION          2
#define PROTOCOL_DEFAULT_INSTANCE "default"
#define PROTOCOL_PATH_SIZE        108 /* sun_path */

enum protocol_kind {
    PROTOCOL_HELLO = 1,
    PROTOCOL_WELCOME = 2,
    PROTOCOL_REFUSED = 3,
    /* 16 to 21 were commands whose answers were sentences: they are refused. */
    PROTOCOL_COMMAND_STATUS = 32,
    PROTOCOL_COMMAND_STOP = 33,
    PROTOCOL_COMMAND_LIST = 34,
    PROTOCOL_COMMAND_PAUSE = 35,
    PROTOCOL_COMMAND_RESUME = 36,
    PROTOCOL_COMMAND_OPEN = 37,
    PROTOCOL_COMMAND_HOOK = 38, /* these two are a struct protocol_change */
    PROTOCOL_COMMAND_UNHOOK = 39,
};

struct protocol_hello {
    uint32_t magic;
    uint32_t version;
    uint32_t kind;        /* PROTOCOL_HELLO */
    uint32_t pid;         /* own pid as seen by itself; the service trusts SO_PEERCRED */
    uint32_t fork_of_pid; /* the recording process this one was forked from, or 0 */
    /* HELLO: 64 bits that tell the agent from all others, low word first, or 0; and 0. A command by
       TCP: 0, session and pid. */
    uint32_t more[3];
};

struct protocol_welcome {
    uint32_t magic;
    uint32_t version;
    uint32_t kind; /* PROTOCOL_WELCOME; PROTOCOL_REFUSED comes without a descriptor */
    uint32_t node_limit;
    uint64_t capacity;  /* bytes of the trace, to map */
    uint64_t ring_size; /* call-trace mode: bytes of the ring (trace/event_format.h), the second
                           descriptor, to map; else 0 */
};

#define PROTOCOL_DESCRIPTORS 3 /* that may come with it; the last is for reading alone */

#define PROTOCOL_SECRET_SIZE 16 /* and a proof's */
#define PROTOCOL_TCP_PATH    1024

struct protocol_tcp_hello {
    struct protocol_hello hello; /* pid: the Windows one; trusted, for it is only shown */
    uint8_t secret[PROTOCOL_SECRET_SIZE];
    uint32_t ppid; /* 0 if not known */
    uint32_t reserved[3];
    char exe[1024];     /* full path, UTF-8, zero-terminated, cut if longer */
    char command[2048]; /* the command line, UTF-8, zero-terminated, cut if longer */
};

/* What is sent before the proof has come. */
#define PROTOCOL_TCP_OPENING offsetof(struct protocol_tcp_hello, ppid)

struct protocol_tcp_welcome {
    struct protocol_welcome welcome;
    uint32_t system; /* enum trace_system of the service: LINUX means Z: is to be put before path */
    uint32_t reserved[7];
    char path[PROTOCOL_TCP_PATH]; /* of the trace, absolute, UTF-8, zero-terminated */
};

struct protocol_command {
    uint32_t magic;
    uint32_t version;
    uint32_t kind;
    uint32_t reserved;
    uint32_t session; /* LIST: the first one; OPEN: the one; PAUSE, RESUME: the one, 0 for all */
    uint32_t pid;     /* PAUSE, RESUME: of this process alone; 0 for all */
};

#define PROTOCOL_CHANGE_MOST 1024

/* To whoever has attached to a process. As much is sent as there are addresses. */
struct protocol_change {
    struct protocol_command command;
    uint32_t more; /* follow: nothing changes before the last has come */
    uint32_t count;
    uint64_t functions[PROTOCOL_CHANGE_MOST]; /* addresses in the process */
};

#define PROTOCOL_CHANGE_SIZE(count) (offsetof(struct protocol_change, functions) + (count) * sizeof(uint64_t))

/*
 * Writes the socket's path into path, from values of the environment (null if unset; runtime_dir is
 * that of UMBRA_RUNTIME_DIR, else of XDG_RUNTIME_DIR).
 * instance null or empty means PROTOCOL_DEFAULT_INSTANCE; it may hold letters, digits, '-', '_'
 * and '.', not first. Returns the length, or 0 if it does not fit or the instance is malformed.
 * Uses no library: the agent calls it.
 */
size_t protocol_socket_path(char path[PROTOCOL_PATH_SIZE], const char *runtime_dir,
                            const char *instance, unsigned uid);

/* Writes the path of the link of the service of that pid. Returns its length, which is never 0. */
size_t protocol_command_link(char path[PROTOCOL_PATH_SIZE], unsigned pid, unsigned uid);

#endif
