/*
 * A thread's words where the agent has no thread-local storage: gs leads to them, in place of
 * thread_slot.c.
 *
 *      slab      | words | words | …                    a page each, never given back
 *                     ^ gs of the thread whose pointer is in `mark`
 *
 * Words whose thread is gone are free once its state is given back (thread_slot_release), or at
 * once for a thread that has the same pointer: C libraries use a thread's stack again.
 */
#include "hooks/thread_slot.h"

#include <asm/prctl.h>
#include <stdbool.h>
#include <stddef.h>

#include "thunkstash/linux/syscalls.h"
#include "thunkstash/pages.h"
#include "trace/attached_agent.h"
#include "trace/embedded_agent.h"
#include "trace/frame_format.h"

#define SLAB_SIZE 4096
#define NO_WORDS  0 /* the mark of nobody's */

struct attached_words {
    struct thread_words words;
    struct attached_words *self;
};

struct slab {
    struct slab *next;
    struct attached_words each[(SLAB_SIZE - sizeof(struct slab *)) / sizeof(struct attached_words)];
};

#define WORDS_IN_SLAB (sizeof(((struct slab *)0)->each) / sizeof(struct attached_words))

extern struct attached_words umbra_nobody __attribute__((visibility("default")));
struct attached_words umbra_nobody = {0};
static struct slab *slabs;

static uint64_t thread_pointer(void)
{
    uint64_t pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* Null: gs leads to another thread's, or to nobody's. */
static struct thread_words *own_words(void)
{
    struct attached_words *self;
    uint64_t mark;

    __asm__ volatile("mov %%gs:%c1, %0"
                     : "=r"(mark)
                     : "i"(offsetof(struct attached_words, words.mark)));
    if (mark != thread_pointer())
        return NULL;
    __asm__ volatile("mov %%gs:%c1, %0" : "=r"(self) : "i"(offsetof(struct attached_words, self)));
    return &self->words;
}

struct thread *thread_current(void)
{
    struct thread_words *words = own_words();

    return words ? words->thread : NULL;
}

static bool change_thread(struct thread_words *words, struct thread *from, struct thread *to)
{
    return __atomic_compare_exchange_n(&words->thread, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* Whoever changes `thread` of words with a mark has them: their new thread, or who gives them back.
 */
static bool take_again(struct thread_words *words, uint64_t pointer, struct thread *thread)
{
    struct thread *before = __atomic_load_n(&words->thread, __ATOMIC_ACQUIRE);

    return __atomic_load_n(&words->mark, __ATOMIC_ACQUIRE) == pointer && before &&
           change_thread(words, before, thread);
}

static bool take_free(struct thread_words *words, uint64_t pointer, struct thread *thread)
{
    uint64_t mark = NO_WORDS;

    if (!__atomic_compare_exchange_n(&words->mark, &mark, pointer, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    words->thread = thread;
    return true;
}

typedef bool take_fn(struct thread_words *words, uint64_t pointer, struct thread *thread);

static struct thread_words *take_in(struct slab *slab, take_fn *take, uint64_t pointer,
                                    struct thread *thread)
{
    for (uint32_t i = 0; i < WORDS_IN_SLAB; i++) {
        struct attached_words *each = &slab->each[i];

        if (!take(&each->words, pointer, thread))
            continue;
        each->self = each;
        return &each->words;
    }
    return NULL;
}

static bool add_slab(void)
{
    struct slab *slab = pages_take(SLAB_SIZE);

    if (!slab)
        return false;
    slab->next = __atomic_load_n(&slabs, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&slabs, &slab->next, slab, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return true;
}

/* Those that an earlier thread with this pointer had are taken first: there is one such thread at a
 * time. */
static struct thread_words *take_words(uint64_t pointer, struct thread *thread)
{
    static take_fn *const ways[] = {take_again, take_free};
    struct thread_words *words = NULL;

    do {
        for (uint32_t i = 0; i < 2 && !words; i++)
            for (struct slab *slab = __atomic_load_n(&slabs, __ATOMIC_ACQUIRE); slab && !words;
                 slab = slab->next)
                words = take_in(slab, ways[i], pointer, thread);
    } while (!words && add_slab());
    return words;
}

/* Where there is no memory for words, the thread has none, and its calls are skipped. */
void thread_set_current(struct thread *thread)
{
    struct thread_words *words = own_words();

    if (words) {
        words->thread = thread;
        return;
    }
    words = thread ? take_words(thread_pointer(), thread) : NULL;
    if (!words)
        return;
    words->frames = (struct frame_words){0};
    SYSCALL2(arch_prctl, ARCH_SET_GS, words);
}

void thread_slot_release(const struct thread *thread)
{
    for (struct slab *slab = __atomic_load_n(&slabs, __ATOMIC_ACQUIRE); slab; slab = slab->next)
        for (uint32_t i = 0; i < WORDS_IN_SLAB; i++) {
            struct thread_words *words = &slab->each[i].words;

            if (words->mark && change_thread(words, (struct thread *)thread, NULL))
                __atomic_store_n(&words->mark, NO_WORDS, __ATOMIC_RELEASE);
        }
}

/* Nothing tells of a thread's end: whoever finds it gone ends it. */
void thread_ends_prepare(void (*notice)(struct thread *, uint64_t))
{
    (void)notice;
}

void thread_end_watch(struct thread *thread)
{
    (void)thread;
}

void lane_ends_prepare(void (*notice)(void))
{
    (void)notice;
}

void lane_end_watch(void)
{
}

struct frame_words *frame_words(void)
{
    static struct frame_words none;
    struct thread_words *words = own_words();

    return words ? &words->frames : &none;
}

struct frame_counts *frame_counts(void)
{
    return (struct frame_counts *)(thread_pointer() + FRAME_COUNTS_AT);
}

uint64_t frame_words_offset(void)
{
    return 0; /* for copies, of which there are none */
}
