/*
 * An event that is inherited by new threads cannot have a ring unless it is bound to a processor
 * (perf_event_open(2), mmap). So a thread gets an event for each processor; but there is one ring a
 * processor, for the events of all processes, which an event of our own keeps:
 *
 *                      processor 0                processor 1
 *      process A       event of each thread ─┐    event of each thread ─┐
 *      process B       event of each thread ─┤    event of each thread ─┤
 *      the service     event that counts  ───┴─>  event that counts  ───┴─> ring, 256 KB
 *                      nothing, with the ring     nothing
 *
 * So memory does not grow with the processes, nor does what an unprivileged user may lock
 * (perf_event_mlock_kb, 516 KB a processor) bound their number. The loop wakes us when a ring is
 * half full: at 1000 samples of 2 KB a second, 16 times a second while somebody computes, and never
 * while nobody does. 62 ms are left then before any is lost.
 *
 * Kernels before 5.13 do not know inherit_thread and remove_on_exec. There forked children inherit
 * the events, too; their samples are recognised by the pid. An exec is recognised by its record;
 * samples from before it that other rings still hold are lost then. A child that is recorded itself
 * also has events of its own; the event's number in a sample tells them apart.
 */
#include "service/sampling/cpu_sampler.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

#include "service/base/process.h"
#include "service/sampling/linux/perf_refusal.h"
#include "service/sampling/linux/sample_ring.h"

#define RING_SIZE          (256u << 10)
#define SMALLEST_RING_SIZE (32u << 10)
#define MOST_TARGETS       64
#define MOST_THREADS       64 /* that a process has when it is attached to */
#define DESCRIPTORS_SHARE  4  /* of all we may have, one in so many */

/* The ring of one processor. */
struct cpu_ring {
    struct event_source source; /* its event */
    struct cpu_sampler *sampler;
    struct perf_event_mmap_page *control; /* mapped, with the ring behind it */
    struct sample_ring ring;
};

/* The event of one thread and those it begins, on one processor. */
struct thread_event {
    uint64_t number; /* in each record of it */
    int fd;
    struct cpu_sampler_target *target;
    UT_hash_handle hh;         /* in cpu_sampler.events */
    struct thread_event *next; /* of the target */
};

/* A thread's, where its process has a pid namespace of its own. */
struct own_number {
    uint32_t tid, own;
    UT_hash_handle hh;
};

struct cpu_sampler_target {
    pid_t pid;
    bool has_own_numbers;
    struct own_number *numbers; /* by tid, of the threads that were met */
    void *owner;
    struct thread_event *events;
    struct cpu_sampler_target *prev, *next;
};

struct cpu_sampler {
    struct event_loop *loop;
    struct cpu_sampler_receiver receiver;
    struct perf_event_attr attributes; /* of the events of threads */
    cpu_set_t own_cpus;
    struct cpu_ring *rings[CPU_SETSIZE]; /* null: nobody ran there */
    struct cpu_sampler_target *targets;
    struct thread_event *events;
    unsigned target_count;
};

static int open_event(const struct perf_event_attr *attributes, pid_t tid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void stop_at_exec(struct cpu_sampler *sampler, uint32_t pid)
{
    struct cpu_sampler_target *target;

    DL_FOREACH(sampler->targets, target)
    {
        if ((uint32_t)target->pid == pid)
            target->pid = 0; /* as no process has */
    }
}

/* What the thread calls itself, as the agent in it writes; 0: it has ended before it was met. */
static uint32_t own_tid(struct cpu_sampler_target *target, uint32_t tid)
{
    struct own_number *number;

    if (!target->has_own_numbers)
        return tid;
    HASH_FIND(hh, target->numbers, &tid, sizeof(tid), number);
    if (number)
        return number->own;
    number = calloc(1, sizeof(*number));
    if (!number)
        return 0;
    number->tid = tid;
    number->own = process_own_number((pid_t)tid);
    HASH_ADD(hh, target->numbers, tid, sizeof(tid), number);
    return number->own;
}

static void forget_numbers(struct cpu_sampler_target *target)
{
    struct own_number *number, *next;

    HASH_ITER(hh, target->numbers, number, next)
    {
        HASH_DEL(target->numbers, number);
        free(number);
    }
}

static void receive(struct cpu_sampler *sampler, const struct ring_record *record)
{
    struct thread_event *event;
    struct cpu_sampler_target *target;

    if (record->kind == RING_EXEC)
        stop_at_exec(sampler, record->pid);
    if (record->kind != RING_SAMPLE && record->kind != RING_LOST)
        return;
    HASH_FIND(hh, sampler->events, &record->event, sizeof(record->event), event);
    if (!event)
        return;
    target = event->target;
    if (record->kind == RING_LOST)
        sampler->receiver.lost(target->owner, record->lost);
    else if ((uint32_t)target->pid == record->pid)
        sampler->receiver.taken(target->owner, &(struct cpu_sample){
                                                   .tid = own_tid(target, record->tid),
                                                   .address = record->address,
                                                   .stack = record->stack,
                                                   .stack_words = record->stack_words,
                                               });
}

static void gather_ring(struct cpu_ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->control->data_tail;
    struct ring_record record;

    while (sample_ring_next(&ring->ring, head, &tail, &record))
        receive(ring->sampler, &record);
    __atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
}

static void ring_ready(void *owner)
{
    gather_ring(owner);
}

void cpu_sampler_gather(struct cpu_sampler *sampler)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (sampler->rings[cpu])
            gather_ring(sampler->rings[cpu]);
    }
}

static void close_ring(struct cpu_ring *ring)
{
    if (ring->control) {
        event_loop_remove(ring->sampler->loop, &ring->source);
        munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE) + ring->ring.size);
    }
    if (ring->source.fd >= 0)
        close(ring->source.fd);
    free(ring);
}

/* Maps as large a ring as there may be: other users of perf events may have locked memory as well.
 */
static bool map_ring(struct cpu_ring *ring)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (size_t size = RING_SIZE; size >= SMALLEST_RING_SIZE; size /= 2) {
        void *mapped =
            mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->source.fd, 0);
        if (mapped == MAP_FAILED)
            continue;
        ring->control = mapped;
        ring->ring = (struct sample_ring){(const unsigned char *)mapped + page, size};
        return true;
    }
    return false;
}

static struct cpu_ring *open_ring(struct cpu_sampler *sampler, int cpu)
{
    struct perf_event_attr attributes = sampler->attributes;
    struct cpu_ring *ring = calloc(1, sizeof(*ring));
    int error;

    if (!ring)
        return NULL;
    attributes.disabled = 1;
    attributes.inherit = attributes.inherit_thread = attributes.remove_on_exec = 0;
    attributes.watermark = 1;
    attributes.wakeup_watermark = 0; /* half of the ring, whatever size it gets */
    ring->sampler = sampler;
    ring->source = (struct event_source){
        .fd = open_event(&attributes, 0, cpu), .ready = ring_ready, .owner = ring};
    if (ring->source.fd < 0 || !map_ring(ring))
        goto err;
    if (event_loop_add(sampler->loop, &ring->source))
        return sampler->rings[cpu] = ring;
err:
    error = errno;
    close_ring(ring);
    errno = error;
    return NULL;
}

/* Rings for all of these processors. One that was taken offline has none, and needs none. */
static bool open_rings(struct cpu_sampler *sampler, const cpu_set_t *cpus)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, cpus) && !sampler->rings[cpu] && !open_ring(sampler, cpu) &&
            errno != ENODEV)
            return false;
    }
    return true;
}

/* What the kernel knows of the attributes. Returns false, errno set, where it refuses them all. */
static bool choose_attributes(struct perf_event_attr *attributes, uint32_t period_ns)
{
    int event;

    *attributes = (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(*attributes),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = period_ns,
        .sample_type = SAMPLE_RING_TYPE,
        .sample_stack_user = SAMPLE_RING_STACK_WORDS * sizeof(uint64_t),
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .remove_on_exec = 1,
    };
    event = open_event(attributes, 0, -1);
    if (event < 0 && (errno == EINVAL || errno == E2BIG)) {
        attributes->inherit_thread = attributes->remove_on_exec = 0;
        attributes->comm = attributes->comm_exec = 1;
        event = open_event(attributes, 0, -1);
    }
    if (event >= 0)
        close(event);
    return event >= 0;
}

struct cpu_sampler *cpu_sampler_open(struct event_loop *loop, uint32_t period_ns,
                                     const struct cpu_sampler_receiver *receiver,
                                     struct failure *failure)
{
    struct cpu_sampler *sampler = calloc(1, sizeof(*sampler));
    const char *what = "memory";

    if (!sampler)
        goto err;
    sampler->loop = loop;
    sampler->receiver = *receiver;
    what = "perf_event_open";
    if (!choose_attributes(&sampler->attributes, period_ns))
        goto err;
    what = "sched_getaffinity";
    if (sched_getaffinity(0, sizeof(sampler->own_cpus), &sampler->own_cpus) < 0)
        goto err;
    what = "a ring in locked memory (ulimit -l)";
    if (open_rings(sampler, &sampler->own_cpus))
        return sampler;
err:
    perf_refusal_write(failure, what, "");
    cpu_sampler_close(sampler);
    return NULL;
}

void cpu_sampler_close(struct cpu_sampler *sampler)
{
    for (int cpu = 0; sampler && cpu < CPU_SETSIZE; cpu++) {
        if (sampler->rings[cpu])
            close_ring(sampler->rings[cpu]);
    }
    free(sampler);
}

/*
 * The threads there are: all read before the first gets its event, as those that begin later have
 * inherited it. Returns how many, at most MOST_THREADS + 1.
 */
static size_t read_threads(pid_t pid, pid_t tids[MOST_THREADS + 1])
{
    char path[64];
    DIR *directory;
    size_t count = 0;
    struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    directory = opendir(path);
    if (!directory)
        return 0;
    while (count <= MOST_THREADS && (entry = readdir(directory))) {
        if (entry->d_name[0] != '.')
            tids[count++] = atoi(entry->d_name);
    }
    closedir(directory);
    return count;
}

/* Each processor that the process can get to, as far as that can be known. */
static cpu_set_t cpus_of(const struct cpu_sampler *sampler, pid_t pid)
{
    cpu_set_t cpus;

    if (sched_getaffinity(pid, sizeof(cpus), &cpus) < 0)
        return sampler->own_cpus;
    CPU_OR(&cpus, &cpus, &sampler->own_cpus);
    return cpus;
}

static bool has_room_for(const struct cpu_sampler *sampler, size_t threads, const cpu_set_t *cpus)
{
    struct rlimit limit = {0};
    rlim_t wanted = HASH_COUNT(sampler->events) + threads * (size_t)CPU_COUNT(cpus);

    getrlimit(RLIMIT_NOFILE, &limit);
    return sampler->target_count < MOST_TARGETS && threads <= MOST_THREADS &&
           wanted <= limit.rlim_cur / DESCRIPTORS_SHARE;
}

/* A thread or processor that is gone is passed over. */
static bool add_event(struct cpu_sampler *sampler, struct cpu_sampler_target *target, pid_t tid,
                      int cpu)
{
    struct thread_event *event = calloc(1, sizeof(*event));
    bool is_gone;

    if (!event)
        return false;
    event->target = target;
    event->fd = open_event(&sampler->attributes, tid, cpu);
    if (event->fd < 0) {
        is_gone = errno == ESRCH || errno == ENODEV;
        free(event);
        return is_gone;
    }
    if (ioctl(event->fd, PERF_EVENT_IOC_ID, &event->number) < 0 ||
        ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, sampler->rings[cpu]->source.fd) < 0) {
        close(event->fd);
        free(event);
        return false;
    }
    HASH_ADD(hh, sampler->events, number, sizeof(event->number), event);
    LL_PREPEND(target->events, event);
    return true;
}

static bool add_events(struct cpu_sampler *sampler, struct cpu_sampler_target *target,
                       const cpu_set_t *cpus, const pid_t *tids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, cpus) && sampler->rings[cpu] &&
                !add_event(sampler, target, tids[i], cpu))
                return false;
        }
    }
    return true;
}

struct cpu_sampler_target *cpu_sampler_attach(struct cpu_sampler *sampler, pid_t pid, void *owner)
{
    struct cpu_sampler_target *target;
    cpu_set_t cpus = cpus_of(sampler, pid);
    pid_t tids[MOST_THREADS + 1];
    size_t count = read_threads(pid, tids);
    int error;

    if (!has_room_for(sampler, count, &cpus)) {
        errno = EBUSY;
        return NULL;
    }
    target = open_rings(sampler, &cpus) ? calloc(1, sizeof(*target)) : NULL;
    if (!target)
        return NULL;
    target->pid = pid;
    target->owner = owner;
    target->has_own_numbers = process_own_number(pid) != (uint32_t)pid;
    DL_APPEND(sampler->targets, target);
    sampler->target_count++;
    if (add_events(sampler, target, &cpus, tids, count))
        return target;
    error = errno;
    cpu_sampler_detach(sampler, target);
    errno = error;
    return NULL;
}

void cpu_sampler_detach(struct cpu_sampler *sampler, struct cpu_sampler_target *target)
{
    struct thread_event *event, *next;

    LL_FOREACH_SAFE(target->events, event, next)
    {
        HASH_DELETE(hh, sampler->events, event);
        close(event->fd);
        free(event);
    }
    DL_DELETE(sampler->targets, target);
    sampler->target_count--;
    forget_numbers(target);
    free(target);
}
