#include "hooks/agent.h"

#include <asm/prctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "hooks/linux/attachment.h"
#include "hooks/linux/start.h"
#include "hooks/linux/trust.h"
#include "thunkstash/layout.h"
#include "thunkstash/linux/syscalls.h"
#include "thunkstash/pages.h"
#include "trace/embedded_agent.h"

#define HIDDEN     __attribute__((visibility("hidden")))
#define MOST_TRIES 100000 /* calls until a program counts as one without thread-local storage */

/* Reached by its hidden name, without a relocation; the rewriter finds it by the other. */
struct embedding embedding HIDDEN __attribute__((section(".data"))) = {0};
extern struct embedding umbra_embedding __attribute__((alias("embedding"), visibility("default")));

extern int umbra_ready HIDDEN;
extern char umbra_stash[STASH_RANGE_SIZE] HIDDEN;

static char *const *initial_environment;
static enum { WAITING, BEGINNING, BEGUN, GIVEN_UP } state;
static uint32_t tries;

/* The kernel puts its auxiliary vector behind the environment. */
static const uintptr_t *behind(char *const *environment)
{
    while (*environment)
        environment++;
    return (const uintptr_t *)(environment + 1);
}

/*
 * Before anything else in the process. The stack holds the count of arguments, these, a null, the
 * environment. Returns the program's own entry point. Nothing here may need relocation itself.
 * Where whoever executes the program is not to be trusted, the hook word stays 0: nothing of the
 * agent ever runs again.
 */
HIDDEN uint64_t umbra_embedded_start(const uint64_t *stack)
{
    uint64_t moved = (uint64_t)&embedding - embedding.address;
    const uint64_t *pointers = (const uint64_t *)(embedding.pointers + moved);
    uint64_t *hook_word = (uint64_t *)(embedding.hook_word + moved);

    for (uint64_t i = 0; i < embedding.pointer_count; i++)
        *(uint64_t *)(pointers[i] + moved) += moved;
    initial_environment = (char *const *)(stack + 1 + stack[0] + 1);
    if (trust_vector(behind(initial_environment)))
        *hook_word = embedding.hook + moved;
    /* The kernel makes a segment without bytes writable, whatever its flags are. */
    SYSCALL3(mprotect, umbra_stash, STASH_RANGE_SIZE, PROT_NONE);
    umbra_ready = 1;
    return embedding.entry + moved;
}

const char *attachment_path(uint64_t base)
{
    (void)base;
    return NULL;
}

void *attachment_thunks(void)
{
    return NULL;
}

const char *attachment_socket(void)
{
    return NULL;
}

/* Did the C library copy the image of thread-local storage to where the hooks will look? */
static bool has_slot(void)
{
    uint64_t thread_pointer = 0, distance, mark;

    if (syscall_failed(SYSCALL2(arch_prctl, ARCH_GET_FS, &thread_pointer)) || !thread_pointer)
        return false;
    __asm__("movq umbra_thread@gottpoff(%%rip), %0" : "=r"(distance));
    return pages_read(thread_pointer + distance + offsetof(struct thread_words, mark), &mark) &&
           mark == EMBEDDED_TLS_MARK;
}

bool agent_begun(void)
{
    int waiting = WAITING;

    if (!embedding.address)
        return agent_begin_early();
    if (state == BEGUN)
        return true;
    if (state != WAITING)
        return false;
    if (!has_slot()) {
        if (tries++ == MOST_TRIES)
            state = GIVEN_UP;
        return false;
    }
    if (!__atomic_compare_exchange_n((int *)&state, &waiting, BEGINNING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    state = agent_begin_in(initial_environment) ? BEGUN : GIVEN_UP;
    return state == BEGUN;
}
