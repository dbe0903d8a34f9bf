#include "front/calls/notifications.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "support/memory.h"

#define MOST_BUSY    32  /* workers: those that have said that it takes long are not counted */
#define MOST_WORKERS 512 /* of all kinds */
#define MOST_IDLE    2   /* the rest ends: each that waits is woken by each call */
#define STACK_SIZE   (512 << 10)
#define CALL_ROOM    248 /* the kernel's struct seccomp_notif has 80 bytes, and may grow */
#define NEVER        UINT64_MAX
#define SECOND       1000000000ull

/* Shared by two processes: the kernel writes each call there as it is received. */
struct notifications {
    size_t call_size;
    struct slot {
        bool is_taken;
        _Alignas(8) char call[CALL_ROOM];
    } slots[MOST_WORKERS + 1]; /* the keeper's, too */
};

struct pool {
    struct notifications *calls;
    pthread_mutex_t mutex; /* not held while anything is waited for */
    int listener;
    const struct notification_handlers *handlers;
    struct notification *handled; /* list of those that are being handled */
    unsigned workers, idle;
    unsigned busy, late; /* late: of those that are busy */
    uint64_t keeper_wakes;
    int bell; /* eventfd: wakes the keeper */
};

/* A worker has one, for one call after the other. */
struct notification {
    struct pool *pool;
    struct slot *slot;
    struct seccomp_notif *call; /* in the slot */
    uint64_t deadline;
    bool is_busy; /* counted as such */
    bool is_late, is_claimed;
    struct notification *prev, *next;
};

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* The kernel may write more than this program was compiled with. */
static size_t find_call_size(void)
{
    struct seccomp_notif_sizes sizes = {0};

    syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes.seccomp_notif > sizeof(struct seccomp_notif) ? sizes.seccomp_notif
                                                              : sizeof(struct seccomp_notif);
}

struct notifications *notifications_new(void)
{
    struct notifications *calls =
        mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (calls == MAP_FAILED)
        return NULL;
    calls->call_size = find_call_size();
    if (calls->call_size <= CALL_ROOM)
        return calls;
    munmap(calls, sizeof(*calls));
    errno = ENOSYS;
    return NULL;
}

/* The pool's mutex is held, here and below; there are no more workers than slots. */
static struct notification *notification_new(struct pool *pool)
{
    struct notification *notification = memory_zeroed(1, sizeof(*notification));
    struct slot *slot = pool->calls->slots;

    while (slot->is_taken)
        slot++;
    slot->is_taken = true;
    notification->pool = pool;
    notification->slot = slot;
    notification->call = (struct seccomp_notif *)slot->call;
    return notification;
}

static void notification_free(struct notification *notification)
{
    memset(notification->slot, 0, sizeof(*notification->slot));
    free(notification);
}

static bool receive(struct notification *notification)
{
    memset(notification->slot->call, 0, sizeof(notification->slot->call));
    return ioctl(notification->pool->listener, SECCOMP_IOCTL_NOTIF_RECV, notification->call) == 0;
}

static bool send_answer(const struct notification *notification, int error, uint32_t flags)
{
    struct seccomp_notif_resp answer = {
        .id = notification->call->id, .error = -error, .flags = flags};

    return ioctl(notification->pool->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0;
}

static void let_go_on(const struct notification *notification)
{
    send_answer(notification, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

/* --- workers; the pool's mutex is held by all but `take_call` --- */

static void *work(void *argument);

static bool may_start_worker(const struct pool *pool)
{
    return pool->busy < MOST_BUSY && pool->workers < MOST_WORKERS;
}

static bool start_worker(struct pool *pool)
{
    struct notification *notification = notification_new(pool);
    pthread_attr_t attributes;
    pthread_t thread;
    bool ok;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ok = pthread_create(&thread, &attributes, work, notification) == 0;
    pthread_attr_destroy(&attributes);
    if (!ok)
        notification_free(notification);
    pool->workers += ok;
    pool->idle += ok;
    return ok;
}

static bool are_all_stuck(const struct pool *pool)
{
    return pool->idle == 0 && pool->busy == pool->late;
}

static void ring(const struct pool *pool)
{
    uint64_t one = 1;

    if (write(pool->bell, &one, sizeof(one)) < 0)
        return; /* it rings already */
}

/* Somebody is there for the next call. */
static void keep_one_idle(struct pool *pool)
{
    if (pool->idle == 0 && !(may_start_worker(pool) && start_worker(pool)) && are_all_stuck(pool))
        ring(pool);
}

static void set_deadline(struct notification *notification, unsigned seconds)
{
    struct pool *pool = notification->pool;

    notification->deadline = now() + seconds * SECOND;
    if (notification->deadline < pool->keeper_wakes) {
        pool->keeper_wakes = notification->deadline;
        ring(pool);
    }
}

static void begin(struct notification *notification)
{
    struct pool *pool = notification->pool;

    DL_APPEND(pool->handled, notification);
    pool->idle--;
    pool->busy++;
    notification->is_busy = true;
    notification->is_late = notification->is_claimed = false;
    set_deadline(notification, NOTIFICATION_SECONDS);
    keep_one_idle(pool);
}

static void be_busy_no_more(struct notification *notification)
{
    struct pool *pool = notification->pool;

    if (!notification->is_busy)
        return;
    pool->busy--;
    pool->late -= notification->is_late;
    notification->is_busy = false;
}

/* One that is claimed may be stuck, too: in the memory of the process that it answers. */
static void be_late(struct notification *notification)
{
    notification->is_late = true;
    notification->deadline = NEVER;
    notification->pool->late += notification->is_busy;
    if (!notification->is_claimed)
        let_go_on(notification);
}

/* Returns whether another call is to be received. */
static bool end(struct notification *notification)
{
    struct pool *pool = notification->pool;

    DL_DELETE(pool->handled, notification);
    be_busy_no_more(notification);
    if (pool->idle >= MOST_IDLE)
        return false;
    pool->idle++;
    return true;
}

/* Returns whether another call is to be received. An error other than that the caller is gone comes
   when all are. */
static bool take_call(struct notification *notification)
{
    struct pool *pool = notification->pool;
    bool goes_on;

    if (!receive(notification))
        return errno == EINTR || errno == ENOENT;
    pthread_mutex_lock(&pool->mutex);
    begin(notification);
    pthread_mutex_unlock(&pool->mutex);
    if (!pool->handlers->handle(pool->handlers->context, notification))
        let_go_on(notification); /* which does nothing if it has gone on already */
    pthread_mutex_lock(&pool->mutex);
    goes_on = end(notification);
    if (!goes_on)
        notification_free(notification);
    pool->workers -= !goes_on;
    pthread_mutex_unlock(&pool->mutex);
    return goes_on;
}

static void *work(void *notification)
{
    while (take_call(notification))
        ;
    return NULL;
}

/* --- what a handler asks --- */

const struct seccomp_notif *notification_call(const struct notification *notification)
{
    return notification->call;
}

void notification_takes_long(struct notification *notification)
{
    struct pool *pool = notification->pool;

    pthread_mutex_lock(&pool->mutex);
    if (!notification->is_late) {
        be_busy_no_more(notification);
        set_deadline(notification, NOTIFICATION_LONG_SECONDS);
        keep_one_idle(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
}

bool notification_claim(struct notification *notification)
{
    struct pool *pool = notification->pool;

    pthread_mutex_lock(&pool->mutex);
    notification->is_claimed |= !notification->is_late;
    pthread_mutex_unlock(&pool->mutex);
    return notification->is_claimed &&
           ioctl(pool->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &notification->call->id) == 0;
}

bool notification_is_late(struct notification *notification)
{
    struct pool *pool = notification->pool;
    bool is_late;

    pthread_mutex_lock(&pool->mutex);
    is_late = notification->is_late;
    pthread_mutex_unlock(&pool->mutex);
    return is_late;
}

bool notification_answer(struct notification *notification, int error)
{
    return send_answer(notification, error, 0);
}

/* --- the keeper --- */

/* Returns the first deadline of the rest. */
static uint64_t keep_deadlines(struct pool *pool)
{
    uint64_t time = now();
    struct notification *notification;
    uint64_t first = NEVER;

    DL_FOREACH(pool->handled, notification)
    {
        if (notification->deadline <= time)
            be_late(notification);
        else if (notification->deadline < first)
            first = notification->deadline;
    }
    return first;
}

/* In milliseconds, as poll has it: not before then. */
static int time_until(uint64_t deadline)
{
    uint64_t time = now();

    if (deadline == NEVER)
        return -1;
    return deadline <= time ? 0 : (int)((deadline - time) / 1000000 + 1);
}

/* The mutex is held, so nobody else receives, and a call that was there is there or gone: this does
   not wait. */
static void let_one_go_on(struct pool *pool, struct notification *own)
{
    if (!are_all_stuck(pool) || !receive(own))
        return;
    pool->handlers->pass(pool->handlers->context, own->call);
    let_go_on(own);
}

static void quieten(const struct pool *pool)
{
    uint64_t count;

    if (read(pool->bell, &count, sizeof(count)) < 0)
        return; /* nobody rang */
}

static void keep(struct pool *pool, struct notification *own)
{
    struct pollfd events[] = {{pool->listener, 0, 0}, {pool->bell, POLLIN, 0}};

    pthread_mutex_lock(&pool->mutex);
    while (!(events[0].revents & (POLLHUP | POLLERR)) || events[0].revents & POLLIN) {
        if (events[0].revents & POLLIN)
            let_one_go_on(pool, own);
        pool->keeper_wakes = keep_deadlines(pool);
        keep_one_idle(pool);
        events[0].events = are_all_stuck(pool) ? POLLIN : 0;
        pthread_mutex_unlock(&pool->mutex);
        events[0].revents = events[1].revents = 0;
        poll(events, 2, time_until(pool->keeper_wakes));
        quieten(pool);
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* Nothing that workers use is given back: they may still be there. */
void notifications_serve(struct notifications *notifications, int listener,
                         const struct notification_handlers *handlers)
{
    struct pool *pool = memory_zeroed(1, sizeof(*pool));

    *pool = (struct pool){.calls = notifications,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .listener = listener,
                          .handlers = handlers,
                          .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    keep(pool, notification_new(pool));
}

#define DEATH_TRIES    200
#define DEATH_PAUSE_US 10000

/* What was answered is answered no more. */
static void let_go_on_in_hand(struct pool *pool)
{
    for (size_t i = 0; i <= MOST_WORKERS; i++) {
        struct slot *slot = &pool->calls->slots[i];
        const struct notification left = {.pool = pool, .call = (struct seccomp_notif *)slot->call};
        if (slot->is_taken && left.call->id)
            let_go_on(&left);
    }
}

/*
 * The threads of a process that was killed end one after the other. Until the last has, one may
 * still receive a call, also the one that poll has told of here: then receiving it would wait for
 * another. A thread that does not end is stuck in a call that it has had in hand for long.
 */
static void outlive(struct pool *pool, pid_t dying)
{
    for (int tries = 0; dying > 0 && tries < DEATH_TRIES; tries++) {
        let_go_on_in_hand(pool);
        if (waitpid(dying, NULL, WNOHANG) != 0)
            break;
        usleep(DEATH_PAUSE_US);
    }
    let_go_on_in_hand(pool);
    for (size_t i = 0; i <= MOST_WORKERS; i++)
        pool->calls->slots[i].is_taken = false;
}

void notifications_let_go_on(struct notifications *notifications, int listener, pid_t dying)
{
    struct pool pool = {.calls = notifications, .listener = listener};
    struct pollfd event = {listener, POLLIN, 0};
    struct notification *own;

    outlive(&pool, dying);
    own = notification_new(&pool);
    do {
        event.revents = 0;
        if (poll(&event, 1, -1) > 0 && event.revents & POLLIN && receive(own))
            let_go_on(own);
    } while (event.revents & POLLIN || !(event.revents & (POLLHUP | POLLERR)));
    notification_free(own);
}
