#include "hooks/thread_slot.h"

#include <pthread.h>
#include <stdbool.h>

#include "trace/embedded_agent.h"
#include "trace/frame_format.h"

#define KEYS_WITHOUT_CALLOC 32 /* glibc keeps the first keys' values in the thread's descriptor */

_Thread_local struct thread_words umbra_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The C library's, if it is there; looked up by the dynamic linker. */
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
static pthread_key_t end_key, lane_key;
static bool has_end_key, has_lane_key;
static void (*notice_end)(struct thread *thread, uint64_t stack_pointer);
static void (*notice_lane_end)(void);

struct thread *thread_current(void)
{
    return umbra_thread.thread;
}

void thread_set_current(struct thread *thread)
{
    umbra_thread.thread = thread;
}

static void value_is_destroyed(void *thread)
{
    notice_end(thread, (uintptr_t)__builtin_frame_address(0));
}

static void lane_is_destroyed(void *value)
{
    (void)value;
    notice_lane_end();
}

/* False: threads cannot be watched by it. */
static bool make_key(pthread_key_t *key, void (*destroy)(void *))
{
    return pthread_key_create && pthread_setspecific && pthread_key_create(key, destroy) == 0 &&
           *key < KEYS_WITHOUT_CALLOC;
}

void thread_ends_prepare(void (*notice)(struct thread *, uint64_t))
{
    notice_end = notice;
    has_end_key = make_key(&end_key, value_is_destroyed);
}

void lane_ends_prepare(void (*notice)(void))
{
    notice_lane_end = notice;
    has_lane_key = make_key(&lane_key, lane_is_destroyed);
}

void lane_end_watch(void)
{
    if (has_lane_key)
        pthread_setspecific(lane_key, &lane_key);
}

void thread_end_watch(struct thread *thread)
{
    if (has_end_key)
        pthread_setspecific(end_key, thread);
}

void thread_slot_release(const struct thread *thread)
{
    (void)thread; /* it went with the thread */
}
