#include "service/stacks/linux/stack_events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "service/base/system_clock.h"
#include "service/sampling/linux/perf_refusal.h"
#include "trace/trace_format.h"

#define LARGEST_RING  (4u << 20)
#define SMALLEST_RING (64u << 10)
#define TOLD_RING     (64u << 10)
#define FEW_BYTES                                                                                  \
    (16u << 10) /* of a stack, where the ring can have few of them: room is made for all */
#define LATEST_NS     2000000 /* records of one ring may be seen before earlier ones of another */
#define PAUSE_MS      50      /* between looks at rings that are not full enough to be told of */
#define MMAP_BUILD_ID (1u << 14)

/* asm/perf_regs.h: all but segments, in the kernel's order ax bx cx dx si di bp sp ip, r8 to r15.
 */
#define REGISTERS_WANTED 0xff01ffull

/* Where each register of a sample is in DWARF's order. */
static const uint8_t dwarf_place[STACKS_REGISTERS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                      8, 9, 10, 11, 12, 13, 14, 15};

struct ring {
    struct event_source source;
    struct stack_events *events;
    struct perf_event_mmap_page *control; /* mapped, with the ring behind it */
    const unsigned char *bytes;
    uint64_t size;
    int cpu;
    bool has_samples;
};

/* A record, until those before it have been seen. */
struct waiting {
    uint64_t time, number;
    char *command; /* of exec; or null */
    struct perf_event_header *record;
};

struct stack_events {
    struct event_loop *loop;
    struct event_timer timer;
    struct stack_events_receiver receiver;
    struct perf_event_attr sampled, told;
    struct ring *rings[2 * CPU_SETSIZE];
    size_t ring_count;
    int *added; /* events of threads that ran already */
    size_t added_count, added_room;
    struct waiting *waiting;
    size_t waiting_count, waiting_room;
    uint64_t number;
};

static int open_event(const struct perf_event_attr *attributes, pid_t tid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Reads what is left of a record, whose ends are checked. */
struct rest {
    const unsigned char *at, *end;
};

static bool take(struct rest *rest, void *bytes, size_t size)
{
    if ((size_t)(rest->end - rest->at) < size)
        return false;
    memcpy(bytes, rest->at, size);
    rest->at += size;
    return true;
}

static const char *take_string(struct rest *rest)
{
    const char *string = (const char *)rest->at;
    const void *zero = memchr(rest->at, 0, (size_t)(rest->end - rest->at));

    return zero ? string : NULL;
}

/* All but samples end with pid, tid and time. */
static uint64_t time_of(const struct perf_event_header *record)
{
    const unsigned char *bytes = (const unsigned char *)record;
    size_t at = record->type == PERF_RECORD_SAMPLE ? sizeof(*record) + 8u
                                                   : (size_t)record->size - sizeof(uint64_t);
    uint64_t time = 0;

    if (at + sizeof(time) <= record->size)
        memcpy(&time, bytes + at, sizeof(time));
    return time;
}

char *stack_events_command(uint32_t pid)
{
    char path[64], text[TRACE_COMMAND_SIZE];
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return NULL;
    while (length > 0 && !text[length - 1])
        length--;
    for (ssize_t i = 0; i < length; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[length] = 0;
    return strdup(text);
}

static uint32_t pid_of(const struct perf_event_header *record)
{
    uint32_t pid = 0;

    if (record->size >= sizeof(*record) + sizeof(pid))
        memcpy(&pid, record + 1, sizeof(pid));
    return pid;
}

static bool is_exec(const struct perf_event_header *record)
{
    return record->type == PERF_RECORD_COMM && record->misc & PERF_RECORD_MISC_COMM_EXEC;
}

/* The arguments are there a little later than the program: asked for again while it is loaded. */
static void look_for_commands(struct stack_events *events)
{
    for (size_t i = 0; i < events->waiting_count; i++) {
        struct waiting *waiting = &events->waiting[i];

        if (is_exec(waiting->record) && !waiting->command)
            waiting->command = stack_events_command(pid_of(waiting->record));
    }
}

static bool keep(struct stack_events *events, struct perf_event_header *record)
{
    if (events->waiting_count == events->waiting_room) {
        size_t room = events->waiting_room ? 2 * events->waiting_room : 256;
        struct waiting *grown = realloc(events->waiting, room * sizeof(*grown));

        if (!grown)
            return false;
        events->waiting = grown;
        events->waiting_room = room;
    }
    events->waiting[events->waiting_count++] =
        (struct waiting){.time = time_of(record), .number = events->number++, .record = record};
    return true;
}

static void copy_out(const struct ring *ring, uint64_t at, void *bytes, size_t size)
{
    uint64_t begin = at & (ring->size - 1);
    size_t before_end = ring->size - begin < size ? (size_t)(ring->size - begin) : size;

    memcpy(bytes, ring->bytes + begin, before_end);
    memcpy((unsigned char *)bytes + before_end, ring->bytes, size - before_end);
}

/* Where there can be no record, the rest is given up. */
static void read_ring(struct ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->control->data_tail;

    while (head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header header, *record;

        copy_out(ring, tail, &header, sizeof(header));
        if (header.size < sizeof(header) || header.size > head - tail)
            break;
        record = malloc(header.size);
        if (record) {
            copy_out(ring, tail, record, header.size);
            if (!keep(ring->events, record))
                free(record);
        }
        tail += header.size;
    }
    __atomic_store_n(&ring->control->data_tail, head, __ATOMIC_RELEASE);
}

static int compare(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool read_fork(struct rest *rest, struct stack_event *event)
{
    uint32_t ids[4]; /* pid, ppid, tid, ptid */

    if (!take(rest, ids, sizeof(ids)))
        return false;
    event->pid = ids[0];
    event->parent = ids[1];
    event->tid = ids[2];
    event->parent_tid = ids[3];
    return true;
}

static bool read_ids(struct rest *rest, struct stack_event *event)
{
    return take(rest, &event->pid, sizeof(event->pid)) &&
           take(rest, &event->tid, sizeof(event->tid));
}

static bool read_map(struct rest *rest, struct stack_event *event, bool has_build_id)
{
    unsigned char identity[24], protection[8];

    if (!read_ids(rest, event) || !take(rest, &event->address, sizeof(event->address)) ||
        !take(rest, &event->length, sizeof(event->length)) ||
        !take(rest, &event->offset, sizeof(event->offset)) ||
        !take(rest, identity, sizeof(identity)) || !take(rest, protection, sizeof(protection)))
        return false;
    if (has_build_id && identity[0] <= sizeof(event->build_id)) {
        event->build_id_size = identity[0];
        memcpy(event->build_id, identity + 4, event->build_id_size);
    }
    event->name = take_string(rest);
    return event->name != NULL;
}

/* What is of the stack of a kernel's thread, or could not be read, is none. */
static bool read_sample(struct rest *rest, struct stack_event *event,
                        uint64_t registers[STACKS_REGISTERS])
{
    uint64_t abi, value, size = 0, read = 0;

    if (!read_ids(rest, event) || !take(rest, &event->time, sizeof(event->time)) ||
        !take(rest, &abi, sizeof(abi)) || abi == PERF_SAMPLE_REGS_ABI_NONE)
        return false;
    for (int i = 0; i < STACKS_REGISTERS; i++) {
        if (!take(rest, &value, sizeof(value)))
            return false;
        registers[dwarf_place[i]] = value;
    }
    event->registers = registers;
    if (abi == PERF_SAMPLE_REGS_ABI_32) /* whose frames nobody here knows: where it was is all */
        return true;
    if (!take(rest, &size, sizeof(size)) || size > (uint64_t)(rest->end - rest->at))
        return true;
    event->stack = rest->at;
    rest->at += size;
    if (take(rest, &read, sizeof(read)) && read <= size)
        event->stack_size = (size_t)read / sizeof(uint64_t) * sizeof(uint64_t);
    return true;
}

static bool read_record(struct stack_event *event, const struct waiting *waiting,
                        uint64_t registers[STACKS_REGISTERS])
{
    const struct perf_event_header *record = waiting->record;
    struct rest rest = {(const unsigned char *)(record + 1),
                        (const unsigned char *)record + record->size};
    uint64_t unused;

    *event = (struct stack_event){.time = waiting->time, .command = waiting->command};
    switch (record->type) {
    case PERF_RECORD_FORK:
        event->kind = STACK_EVENT_BEGIN;
        return read_fork(&rest, event);
    case PERF_RECORD_EXIT:
        event->kind = STACK_EVENT_END;
        return read_fork(&rest, event);
    case PERF_RECORD_COMM:
        event->kind = is_exec(record) ? STACK_EVENT_EXEC : STACK_EVENT_NAME;
        return read_ids(&rest, event) && (event->name = take_string(&rest));
    case PERF_RECORD_MMAP2:
        event->kind = STACK_EVENT_MAP;
        return read_map(&rest, event, record->misc & MMAP_BUILD_ID);
    case PERF_RECORD_READ:
        event->kind = STACK_EVENT_TIME;
        return read_ids(&rest, event) && take(&rest, &event->amount, sizeof(event->amount));
    case PERF_RECORD_LOST:
        event->kind = STACK_EVENT_LOST;
        return take(&rest, &unused, sizeof(unused)) &&
               take(&rest, &event->amount, sizeof(event->amount));
    case PERF_RECORD_SAMPLE:
        event->kind = STACK_EVENT_SAMPLE;
        event->is_in_kernel =
            (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        return read_sample(&rest, event, registers);
    }
    return false;
}

static void hand_over(struct stack_events *events, uint64_t latest)
{
    uint64_t registers[STACKS_REGISTERS];
    struct stack_event event;
    size_t done = 0;

    qsort(events->waiting, events->waiting_count, sizeof(*events->waiting), compare);
    for (; done < events->waiting_count && events->waiting[done].time <= latest; done++) {
        struct waiting *waiting = &events->waiting[done];

        if (read_record(&event, waiting, registers))
            events->receiver.happened(events->receiver.owner, &event);
        free(waiting->command);
        free(waiting->record);
    }
    events->waiting_count -= done;
    memmove(events->waiting, events->waiting + done,
            events->waiting_count * sizeof(*events->waiting));
}

static void read_rings(struct stack_events *events)
{
    for (size_t i = 0; i < events->ring_count; i++)
        read_ring(events->rings[i]);
    look_for_commands(events);
}

static void look(struct stack_events *events)
{
    uint64_t now = system_clock_steady_ns();

    read_rings(events);
    if (events->waiting_count)
        hand_over(events, now - LATEST_NS);
}

static void ring_ready(void *owner)
{
    look(((struct ring *)owner)->events);
}

static void time_to_look(void *owner)
{
    struct stack_events *events = owner;

    look(events);
    event_timer_set(events->loop, &events->timer, PAUSE_MS);
}

void stack_events_finish(struct stack_events *events)
{
    for (size_t i = 0; i < events->added_count; i++)
        ioctl(events->added[i], PERF_EVENT_IOC_DISABLE, 0);
    read_rings(events);
    hand_over(events, UINT64_MAX);
}

static void close_ring(struct ring *ring)
{
    if (ring->control) {
        event_loop_remove(ring->events->loop, &ring->source);
        munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
    }
    if (ring->source.fd >= 0)
        close(ring->source.fd);
    free(ring);
}

/* As large as it may be: what a user may lock is bounded. */
static bool map_ring(struct ring *ring, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (; size >= SMALLEST_RING; size /= 2) {
        void *mapped =
            mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->source.fd, 0);
        if (mapped == MAP_FAILED)
            continue;
        ring->control = mapped;
        ring->bytes = (const unsigned char *)mapped + page;
        ring->size = size;
        return true;
    }
    return false;
}

static bool open_ring(struct stack_events *events, const struct perf_event_attr *attributes,
                      int cpu, size_t size)
{
    struct ring *ring = calloc(1, sizeof(*ring));
    int error;

    if (!ring)
        return false;
    ring->events = events;
    ring->cpu = cpu;
    ring->has_samples = attributes == &events->sampled;
    ring->source = (struct event_source){
        .fd = open_event(attributes, 0, cpu), .ready = ring_ready, .owner = ring};
    if (ring->source.fd >= 0 && map_ring(ring, size) &&
        event_loop_add(events->loop, &ring->source)) {
        events->rings[events->ring_count++] = ring;
        return true;
    }
    error = errno;
    if (ring->control)
        munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
    ring->control = NULL;
    close_ring(ring);
    errno = error;
    return false;
}

/* One that was taken offline has none, and needs none. */
static bool open_rings(struct stack_events *events)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &cpus))
            continue;
        if (!open_ring(events, &events->told, cpu, TOLD_RING) ||
            !open_ring(events, &events->sampled, cpu, LARGEST_RING)) {
            if (errno != ENODEV)
                return false;
        }
    }
    return true;
}

static bool try_sampled(struct perf_event_attr *attributes)
{
    int event = open_event(attributes, 0, -1);

    if (event >= 0)
        close(event);
    return event >= 0;
}

/* What the kernel knows of them, and allows. */
static bool choose_attributes(struct stack_events *events, uint32_t period_ns)
{
    struct perf_event_attr *sampled = &events->sampled, *told = &events->told;

    *sampled = (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(*sampled),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = period_ns,
        .sample_type =
            PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = REGISTERS_WANTED,
        .sample_stack_user = STACKS_MOST_STACK,
        .disabled = 1,
        .enable_on_exec = 1,
        .inherit = 1,
        .inherit_stat = 1,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW, /* as system_clock_steady_ns */
        .watermark = 1,
    };
    if (!try_sampled(sampled)) {
        sampled->exclude_kernel = 1;
        sampled->sample_stack_user = FEW_BYTES;
        if (!try_sampled(sampled))
            return false;
    }
    *told = *sampled;
    told->config = PERF_COUNT_SW_DUMMY;
    told->sample_period = 0;
    told->sample_regs_user = 0;
    told->sample_stack_user = 0;
    told->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    told->inherit_stat = 0;
    told->mmap = told->mmap2 = told->comm = told->comm_exec = told->task = told->build_id = 1;
    told->wakeup_watermark = 1;
    if (!try_sampled(told))
        told->build_id = 0; /* before Linux 5.12 */
    return try_sampled(told);
}

struct stack_events *stack_events_open(struct event_loop *loop, uint32_t period_ns,
                                       const struct stack_events_receiver *receiver,
                                       struct failure *failure)
{
    struct stack_events *events = calloc(1, sizeof(*events));
    const char *what = "memory";

    if (!events)
        goto err;
    events->loop = loop;
    events->receiver = *receiver;
    events->timer = (struct event_timer){.due = time_to_look, .owner = events};
    what = "perf_event_open";
    if (!choose_attributes(events, period_ns))
        goto err;
    what = "a ring in locked memory (ulimit -l)";
    if (!open_rings(events))
        goto err;
    event_timer_set(loop, &events->timer, PAUSE_MS);
    return events;
err:
    perf_refusal_write(failure, what, "; or record as root");
    stack_events_close(events);
    return NULL;
}

static bool keep_added(struct stack_events *events, int event)
{
    if (events->added_count == events->added_room) {
        size_t room = events->added_room ? 2 * events->added_room : 64;
        int *grown = realloc(events->added, room * sizeof(*grown));

        if (!grown)
            return false;
        events->added = grown;
        events->added_room = room;
    }
    events->added[events->added_count++] = event;
    return true;
}

/* Into the ring that our own events have, which count nothing. */
static bool add_to_ring(struct stack_events *events, const struct ring *ring, pid_t tid)
{
    struct perf_event_attr attributes = ring->has_samples ? events->sampled : events->told;
    int event, error;

    attributes.disabled = attributes.enable_on_exec = 0;
    event = open_event(&attributes, tid, ring->cpu);
    if (event < 0)
        return errno == ENODEV;
    if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring->source.fd) == 0 && keep_added(events, event))
        return true;
    error = errno;
    close(event);
    errno = error;
    return false;
}

bool stack_events_add_thread(struct stack_events *events, pid_t tid)
{
    for (size_t i = 0; i < events->ring_count; i++)
        if (!add_to_ring(events, events->rings[i], tid))
            return false;
    return true;
}

bool stack_events_are_of_user(const struct stack_events *events)
{
    return events->sampled.exclude_kernel;
}

void stack_events_close(struct stack_events *events)
{
    if (!events)
        return;
    event_timer_clear(events->loop, &events->timer);
    for (size_t i = 0; i < events->added_count; i++)
        close(events->added[i]);
    free(events->added);
    for (size_t i = 0; i < events->ring_count; i++)
        close_ring(events->rings[i]);
    for (size_t i = 0; i < events->waiting_count; i++) {
        free(events->waiting[i].command);
        free(events->waiting[i].record);
    }
    free(events->waiting);
    free(events);
}
