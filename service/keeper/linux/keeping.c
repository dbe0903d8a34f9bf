#include "service/keeper/linux/keeping.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>
#include <xxhash.h>

#include "service/base/event_loop.h"
#include "service/base/file.h"
#include "service/base/linux/packet.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/events/linux/event_ring.h"
#include "service/keeper/linux/keeper_packet.h"
#include "service/traces/snapshot.h"
#include "service/traces/trace_file.h"

/* From one snapshot of a program to the next. */
#define SHORTEST_MS 5000
#define LONGEST_MS  60000
#define COST_FACTOR 50          /* the time that one took, until the next */
#define BYTES_A_MS  1024        /* that are written, of one program, in the long run */
#define LOOK_MS     500         /* from one look at processes that cannot be watched to the next */
#define PATIENCE_S  5           /* for a service that takes over */
#define CHUNK_SIZE  (64u << 10) /* read at once */

struct kept {
    struct kept *prev, *next;   /* utlist */
    struct event_source source; /* its process, once the service is gone */
    uint32_t number;
    pid_t pid;
    int files[KEEPER_DESCRIPTORS]; /* `trace` and `directory` own theirs */
    struct trace_dir directory;
    struct trace_file trace;
    char name[TRACE_FILE_NAME_SIZE];
    struct event_timer timer; /* the next snapshot */
    uint64_t hash;            /* of the last snapshot's content */
};

static struct keeping {
    struct event_loop loop;
    struct event_source service, next, signal;
    struct event_timer look; /* at processes that cannot be watched */
    struct kept *kept;
    const char *next_path;
    const struct tick_clock *clock;
    bool is_alone;  /* the service is gone */
    bool is_to_end; /* SIGTERM came */
} keeping;

static void forget(struct kept *kept)
{
    if (kept->source.fd >= 0)
        event_loop_remove(&keeping.loop, &kept->source);
    event_timer_clear(&keeping.loop, &kept->timer);
    DL_DELETE(keeping.kept, kept);
    trace_file_leave(&kept->trace);
    trace_dir_close(&kept->directory);
    for (int i = KEEPER_DIRECTORY + 1; i < KEEPER_DESCRIPTORS; i++)
        file_close(kept->files[i]);
    free(kept);
}

/* The hash of what is in use, less the header, in which the time goes on. 0: it cannot be read. */
static uint64_t hash_of(const struct kept *kept, uint64_t used)
{
    static unsigned char chunk[CHUNK_SIZE];
    XXH3_state_t *state = XXH3_createState();
    bool ok = state && XXH3_64bits_reset(state) == XXH_OK;
    uint64_t hash;

    for (uint64_t at = TRACE_HEADER_SIZE; ok && at < used; at += CHUNK_SIZE) {
        size_t length = used - at < CHUNK_SIZE ? (size_t)(used - at) : CHUNK_SIZE;

        ok = file_read_at(kept->trace.fd, chunk, length, at) &&
             XXH3_64bits_update(state, chunk, length) == XXH_OK;
    }
    hash = ok ? XXH3_64bits_digest(state) : 0;
    XXH3_freeState(state);
    return hash;
}

static bool has_ended(const struct kept *kept)
{
    return __atomic_load_n(&kept->trace.header->end, __ATOMIC_SEQ_CST) != TRACE_END_UNKNOWN;
}

/*
 * The service may complete a trace at the same time, by the same name: it notes the end in the
 * memory first. So a snapshot that came too late is seen here, and is followed by one of the
 * complete trace.
 */
static void take_snapshot(struct kept *kept)
{
    struct failure ignored;
    uint64_t used = trace_file_used(&kept->trace);
    uint64_t hash = hash_of(kept, used);
    bool had_ended;

    if (hash && hash == kept->hash)
        return;
    kept->hash = hash;
    if (has_ended(kept) && !keeping.is_alone)
        return;
    trace_dir_find_again(&kept->directory);
    do {
        had_ended = has_ended(kept);
        if (!snapshot_copy(kept->trace.fd, kept->name, kept->directory.fd, kept->name, &ignored))
            return; /* the next one may find room */
    } while (has_ended(kept) != had_ended);
}

static void snapshot_due(void *owner)
{
    struct kept *kept = owner;
    int64_t began = event_loop_now(), pause;

    take_snapshot(kept);
    pause = (event_loop_now() - began) * COST_FACTOR;
    if (pause < (int64_t)(trace_file_used(&kept->trace) / BYTES_A_MS))
        pause = (int64_t)(trace_file_used(&kept->trace) / BYTES_A_MS);
    if (pause < SHORTEST_MS)
        pause = SHORTEST_MS;
    event_timer_set(&keeping.loop, &kept->timer, pause > LONGEST_MS ? LONGEST_MS : pause);
}

static void hold(const struct keeper_packet *packet, const int files[KEEPER_DESCRIPTORS])
{
    struct kept *kept = calloc(1, sizeof(*kept));
    bool ok = kept && files[KEEPER_TRACE] >= 0 && files[KEEPER_DIRECTORY] >= 0;

    if (ok) {
        kept->source.fd = -1;
        kept->number = packet->number;
        kept->pid = (pid_t)packet->pid;
        memcpy(kept->files, files, sizeof(kept->files));
        memcpy(kept->name, packet->name, sizeof(kept->name));
        kept->timer = (struct event_timer){.due = snapshot_due, .owner = kept};
        ok = trace_file_adopt(&kept->trace, files[KEEPER_TRACE], packet->name);
    }
    if (ok) {
        kept->directory = (struct trace_dir){.fd = files[KEEPER_DIRECTORY],
                                             .path = strdup(packet->directory),
                                             .is_fixed = packet->is_fixed};
        DL_APPEND(keeping.kept, kept);
        event_timer_set(&keeping.loop, &kept->timer, SHORTEST_MS);
        return;
    }
    for (int i = 0; i < KEEPER_DESCRIPTORS; i++)
        file_close(files[i]);
    free(kept);
}

static void release(uint32_t number)
{
    struct kept *kept, *next;

    DL_FOREACH_SAFE(keeping.kept, kept, next)
    {
        if (kept->number == number)
            forget(kept);
    }
}

static void save_ring(const struct kept *kept)
{
    char stem[TRACE_FILE_NAME_SIZE];

    if (kept->files[KEEPER_RING] < 0)
        return;
    snprintf(stem, sizeof(stem), "%.*s", (int)(strlen(kept->name) - strlen(".bin")), kept->name);
    event_ring_save(kept->files[KEEPER_RING], kept->directory.fd, stem);
}

static void complete(struct kept *kept)
{
    struct trace_file_end end = {
        .kind = TRACE_END_GONE,
        .seen_ticks = tick_clock_now(),
        .ticks_per_second = tick_clock_frequency(keeping.clock),
    };
    char elsewhere[PATH_MAX];

    trace_dir_find_again(&kept->directory);
    process_read_end(kept->pid, kept->files[KEEPER_WATCH], &end.how, &end.code);
    save_ring(kept);
    trace_file_end(&kept->trace, &kept->directory, &end, elsewhere, sizeof(elsewhere));
    forget(kept);
}

static bool is_gone(const struct kept *kept)
{
    return process_is_gone(kept->pid, kept->files[KEEPER_WATCH]);
}

static void process_gone(void *owner)
{
    if (is_gone(owner))
        complete(owner);
}

/* Fills in a packet as it came. */
static bool send_kept(int socket, struct kept *kept)
{
    struct keeper_packet packet = {
        .kind = KEEPER_HOLD,
        .number = kept->number,
        .pid = (uint32_t)kept->pid,
        .is_fixed = kept->directory.is_fixed,
    };

    kept->files[KEEPER_DIRECTORY] = kept->directory.fd;
    memcpy(packet.name, kept->name, sizeof(packet.name));
    snprintf(packet.directory, sizeof(packet.directory), "%s", kept->directory.path);
    return keeper_packet_send(socket, &packet, kept->files);
}

/* A service took all of it: nothing is left to do. If it fails, all remains here. */
static bool hand_over(int socket)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct keeper_packet packet = {.kind = KEEPER_END};
    int files[KEEPER_DESCRIPTORS];
    struct connection_peer peer;
    struct kept *kept;

    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (!packet_read_peer(socket, &peer) || (peer.uid != geteuid() && peer.uid != 0))
        return false;
    DL_FOREACH(keeping.kept, kept)
    {
        if (!send_kept(socket, kept))
            return false;
    }
    return keeper_packet_send(socket, &packet, NULL) &&
           keeper_packet_receive(socket, &packet, files) && packet.kind == KEEPER_TAKEN;
}

static _Noreturn void end(void)
{
    if (keeping.is_alone)
        unlink(keeping.next_path);
    _exit(0);
}

static void next_service_connects(void *owner)
{
    int socket = accept4(keeping.next.fd, NULL, NULL, SOCK_CLOEXEC);
    bool taken = socket >= 0 && hand_over(socket);

    (void)owner;
    if (taken)
        end();
    file_close(socket);
}

static void listen_for_next(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", keeping.next_path);
    unlink(keeping.next_path);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    keeping.next = (struct event_source){.fd = listener, .ready = next_service_connects};
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(listener, 1) < 0 || !event_loop_add(&keeping.loop, &keeping.next))
        message("%s: cannot listen: %s", keeping.next_path, strerror(errno));
}

/* A pause ends with the service that was asked for it: nobody could end it later. */
static void take_over(struct kept *kept)
{
    if (kept->trace.header->paused)
        trace_file_pause(&kept->trace, false);
    kept->source = (struct event_source){
        .fd = kept->files[KEEPER_WATCH], .ready = process_gone, .owner = kept};
    if (kept->source.fd >= 0 && !event_loop_add(&keeping.loop, &kept->source))
        kept->source.fd = -1;
}

static void complete_ended(void)
{
    struct kept *kept, *next;

    DL_FOREACH_SAFE(keeping.kept, kept, next)
    {
        if (is_gone(kept))
            complete(kept);
    }
}

static void look(void *owner)
{
    const struct kept *kept;

    (void)owner;
    complete_ended();
    DL_FOREACH(keeping.kept, kept)
    {
        if (kept->source.fd < 0) {
            event_timer_set(&keeping.loop, &keeping.look, LOOK_MS);
            return;
        }
    }
}

static void go_on_alone(void)
{
    struct kept *kept;
    unsigned count = 0;

    event_loop_remove(&keeping.loop, &keeping.service);
    file_close(keeping.service.fd);
    if (!keeping.kept)
        end();
    keeping.is_alone = true;
    DL_FOREACH(keeping.kept, kept)
    {
        take_over(kept);
        count++;
    }
    keeping.look = (struct event_timer){.due = look};
    event_timer_set(&keeping.loop, &keeping.look, 0);
    message("the service is gone: the traces of %u programs are completed here as they end", count);
    listen_for_next();
}

static void service_says(void *owner)
{
    struct keeper_packet packet;
    int files[KEEPER_DESCRIPTORS];

    (void)owner;
    if (!keeper_packet_receive(keeping.service.fd, &packet, files))
        go_on_alone();
    else if (packet.kind == KEEPER_HOLD)
        hold(&packet, files);
    else if (packet.kind == KEEPER_RELEASE)
        release(packet.number);
}

static void told_to_end(void *owner)
{
    struct signalfd_siginfo info;

    (void)owner;
    if (read(keeping.signal.fd, &info, sizeof(info)) == sizeof(info))
        keeping.is_to_end = true;
}

/* Writes the traces as they are; the programs go on unrecorded. */
static _Noreturn void write_all_and_end(void)
{
    struct kept *kept;

    complete_ended();
    DL_FOREACH(keeping.kept, kept)
    take_snapshot(kept);
    end();
}

static void turn(void)
{
    event_loop_turn(&keeping.loop);
    if (keeping.is_alone && keeping.is_to_end)
        write_all_and_end();
    if (keeping.is_alone && !keeping.kept)
        end();
}

_Noreturn void keeping_run(int service, const char *next, const char *log_file,
                           const struct tick_clock *clock)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    keeping.clock = clock;
    keeping.next_path = next;
    if (log_file)
        message_open_log(log_file);
    if (chdir("/") < 0)
        errno = 0; /* then that directory is kept, too */
    keeping.service = (struct event_source){.fd = service, .ready = service_says};
    keeping.signal = (struct event_source){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                           .ready = told_to_end};
    process_raise_descriptor_limit();
    if (!event_loop_open(&keeping.loop) || !event_loop_add(&keeping.loop, &keeping.service))
        _exit(1);
    if (keeping.signal.fd >= 0)
        event_loop_add(&keeping.loop, &keeping.signal);
    for (;;)
        turn();
}
