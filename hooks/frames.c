#include "hooks/frames.h"

#include "hooks/code_at.h"
#include "hooks/invocation.h"
#include "hooks/links.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "hooks/tree.h"
#include "thunkstash/pages.h"
#include "trace/image_manifest.h"

#define PAGE        4096
#define AT_ONCE     65536 /* bytes of stack */
#define MARGIN      64    /* bytes of the shadow below the lowest stack pointer that is served */
#define MOST_STACK  (1ull << 30) /* bytes of a stack that can have a shadow: the outermost ones */
#define LIMIT_SHARE 4096         /* a stack with a shadow, of limited addresses: one in so many */

static uint64_t high(const struct thread *thread)
{
    return thread->own_low + thread->own_size;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t page_above(uint64_t address)
{
    return (address + PAGE - 1) / PAGE * PAGE;
}

/* Copies count nothing from here on. A signal handler may run between any two of the stores that
   follow, and must not find a place with another stack's, or an older, distance. */
static void stop(struct frame_words *words)
{
    __atomic_store_n(&words->size, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void frames_begin(struct thread *thread)
{
    thread->frames = frame_words();
    if (!thread->frames)
        return;
    stop(thread->frames);
    *thread->frames = (struct frame_words){.note = NO_NOTE};
}

void frames_stop(void)
{
    if (frame_words())
        stop(frame_words());
}

void frames_release(struct thread *thread)
{
    if (thread->frame_pages)
        pages_give_back(thread->frame_pages, page_above(high(thread)) - thread->frame_low);
    thread->frame_pages = NULL;
}

static bool reserve(struct thread *thread)
{
    uint64_t most = lower(MOST_STACK, system_address_limit() / LIMIT_SHARE);
    uint64_t size = page_above(lower(thread->own_size, most));

    thread->frame_pages = pages_reserve(size);
    if (!thread->frame_pages)
        return false;
    thread->frame_covered = page_above(high(thread));
    thread->frame_low = thread->frame_covered - size;
    return true;
}

uint64_t *frame_word(const struct thread *thread, uint64_t slot)
{
    return (uint64_t *)(thread->frame_pages + (slot - thread->frame_low));
}

bool frames_has_word(const struct thread *thread, uint64_t slot)
{
    return thread->frame_pages && slot >= thread->frame_covered + MARGIN && slot < high(thread);
}

/*
 * What a return address is of, kept for those that were asked for lately: so that neither is it
 * looked up each time, nor is code read that may be gone. Where a library is replaced, what was
 * there is believed to have stayed.
 *
 *      63             17 16        0
 *      +----------------+----------+
 *      | return address |   call   |
 *      +----------------+----------+
 */
enum known_call {
    CALL_NOT_IN_COPY = 0,
    CALL_OF_ANYBODY = 1, /* in a copy, by a pointer: by r11, in copies alone */
    CALL_OF_NOBODY = 2,  /* in a copy, of what is none */
    CALL_OF_COPY = 3,    /* and more: the number of the function, as far as there is room */
};

#define CALL_BITS     17
#define CALL_NUMBERS  ((1u << CALL_BITS) - CALL_OF_COPY)
#define ADDRESS_BITS  47
#define RETURNS_KNOWN 512
#define RETURN_HASH   0x9e3779b97f4a7c15ull
#define CALL_SIZE     5
#define X86_CALL      0xe8

static uint32_t call_of_function(uint32_t function)
{
    return CALL_OF_COPY + (function & TRACE_FUNCTION_NUMBER) % CALL_NUMBERS;
}

static uint32_t look_at_call(uint64_t ret)
{
    const uint8_t *behind = (const uint8_t *)(uintptr_t)ret;
    struct code_at called;
    int32_t distance;

    if (!code_at(ret - 1).is_copy)
        return CALL_NOT_IN_COPY;
    if (behind[-3] == 0x41 && behind[-2] == 0xff && behind[-1] == 0xd3) /* call r11 */
        return CALL_OF_ANYBODY;
    if (behind[-CALL_SIZE] != X86_CALL)
        return CALL_OF_NOBODY;
    memcpy(&distance, behind - sizeof(distance), sizeof(distance));
    called = code_at(ret + (uint64_t)(int64_t)distance);
    return called.is_copy ? call_of_function(called.function) : CALL_OF_NOBODY;
}

static uint32_t call_before(uint64_t ret)
{
    static uint64_t known[RETURNS_KNOWN];
    uint64_t *place = &known[ret * RETURN_HASH >> 32 & (RETURNS_KNOWN - 1)];
    uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);

    if (ret >> ADDRESS_BITS)
        return CALL_NOT_IN_COPY;
    if (found >> CALL_BITS != ret) {
        found = ret << CALL_BITS | look_at_call(ret);
        __atomic_store_n(place, found, __ATOMIC_RELAXED);
    }
    return found & ((1u << CALL_BITS) - 1);
}

static bool is_in_copy(uint64_t ret)
{
    return call_before(ret) != CALL_NOT_IN_COPY;
}

bool frame_is_call_of(uint64_t ret, uint32_t function)
{
    uint32_t call = call_before(ret);

    return call == CALL_OF_ANYBODY || call == call_of_function(function);
}

/* A function that has jumped has left its return address to the next one, whose context is below
   one for all places that the first may have been called from. */
static bool is_site_of(const struct thread *thread, uint64_t ret, struct trace_node *node)
{
    const struct trace_node *called = tree_tail_caller(thread, node);
    bool is_site = called->site & TRACE_SITE_SHARED ? frame_is_call_of(ret, called->function)
                                                    : ret == (called->site & TRACE_SITE_ADDRESS);

    return is_site || (called != node && tree_has_place(thread, called, ret));
}

uint64_t frame_return_at(uint64_t slot)
{
    const struct record *record = record_of_return(*(const uintptr_t *)(uintptr_t)slot);

    return record ? record->ret : *(const uintptr_t *)(uintptr_t)slot;
}

/* The slot is that of a call of the node's. */
static bool is_called_from_site(const struct thread *thread, uint64_t slot, struct trace_node *node)
{
    return is_site_of(thread, frame_return_at(slot), node);
}

struct trace_node *frame_context_at(const struct thread *thread, uint64_t slot)
{
    uint64_t word = *frame_word(thread, slot);
    struct trace_node *node;

    if (!word || word & FRAME_OUT_BITS)
        return NULL;
    node = links_node(thread, frame_links_in(word));
    return is_site_of(thread, *(const uintptr_t *)(uintptr_t)slot, node) ? node : NULL;
}

/* Where copies find what is covered, and was in use: a stack pointer in a copy that is lower is a
   new peak, and so is a slot, as this is lower by half of what stack pointers are aligned to at
   calls. */
void frames_tell_depth(struct thread *thread)
{
    struct frame_words *words = thread->frames;
    uint64_t low = thread->frame_covered + MARGIN;

    if (!thread->frame_pages)
        return;
    if (low < thread->peak.lowest)
        low = thread->peak.lowest;

    if (words->size && words->low == low)
        return;
    stop(words);
    words->low = low;
    words->shadow = (uintptr_t)frame_word(thread, low);
    __atomic_store_n(&words->size, high(thread) - low, __ATOMIC_RELEASE);
}

/* Makes the shadow beside the stack from `lowest` on usable, and lets copies use it. False: there
   is no room. */
bool frames_cover(struct thread *thread, uint64_t lowest)
{
    uint64_t from;

    if (!frames_has_word(thread, lowest)) {
        if (!thread->frame_pages && !reserve(thread))
            return false;
        if (lowest < thread->frame_low + MARGIN || lowest >= high(thread))
            return false;
        from = (lowest - MARGIN) / PAGE * PAGE;
        from = from - thread->frame_low > AT_ONCE ? from - AT_ONCE : thread->frame_low;
        if (!pages_commit(frame_word(thread, from), thread->frame_covered - from) ||
            !pages_wipe_on_fork(frame_word(thread, from), thread->frame_covered - from))
            return false;
        thread->frame_covered = from;
    }
    frames_tell_depth(thread);
    return true;
}

const struct frame_key *frame_key_before(uint64_t copy)
{
    return (const struct frame_key *)(uintptr_t)(copy - sizeof(struct frame_key));
}

uint64_t frame_copy_of(uint64_t body)
{
    return body + 6 + (uint64_t) * (const int32_t *)(uintptr_t)(body + 2);
}

const struct image_header *frame_image(const struct frame_key *key)
{
    return (const struct image_header *)(uintptr_t)((uintptr_t)key + (uint64_t)key->header);
}

uint32_t frame_function(const struct frame_key *key)
{
    const struct image_header *image =
        (const struct image_header *)(uintptr_t)((uintptr_t)key + (uint64_t)key->header);

    return image->first_function + key->index;
}

bool frame_is_body(uint64_t body)
{
    return *(const uint16_t *)(uintptr_t)body == FRAME_BODY_JUMP;
}

uint64_t frame_noted_slot(const struct thread *thread)
{
    if (!session.is_adaptive || !thread->frames || thread->frames->note == NO_NOTE)
        return NO_NOTE;
    return thread->frames->note - sizeof(uint64_t);
}

static bool is_called_by_copy(uint64_t slot)
{
    uint64_t ret = *(const uintptr_t *)(uintptr_t)slot;

    return record_of_return(ret) || is_in_copy(ret);
}

/*
 * The note's word is of a call that is not over, as far as its slot shows. Code that is not
 * recorded may come to call where a copy had called before: then the note is still there, and the
 * word too, or that of a call which another copy has made from there since.
 */
static bool is_noted(const struct thread *thread, uint64_t noted, uint64_t word,
                     struct trace_node *node)
{
    if ((word & FRAME_OUT_BITS) == FRAME_CALLED_OUT)
        return is_called_by_copy(noted);
    return is_called_from_site(thread, noted, node);
}

struct trace_node *frame_noted_caller(const struct thread *thread, uint64_t slot, bool *is_jump)
{
    uint64_t noted = frame_noted_slot(thread), word;
    struct trace_node *node;

    *is_jump = false;
    if (noted < slot || noted > record_slot(thread->own.top) || !frames_has_word(thread, noted))
        return NULL;
    word = *frame_word(thread, noted);
    if (!word || !frame_links_in(word)->node)
        return NULL;
    node = links_node(thread, frame_links_in(word));
    if (!is_noted(thread, noted, word, node))
        return NULL;
    *is_jump = noted == slot && (word & FRAME_OUT_BITS) == FRAME_JUMPED_OUT;
    return node;
}

struct trace_node *frame_child(struct thread *thread, struct trace_node *caller, bool is_jump,
                               uint64_t site, const struct frame_key *key)
{
    if (!is_jump)
        return tree_child(thread, caller, site, frame_function(key));
    return tree_child(thread, tree_tail_caller(thread, caller), site | TRACE_SITE_TAIL,
                      frame_function(key));
}

struct trace_node *frame_shared_child(struct thread *thread, struct trace_node *caller,
                                      bool is_jump, const struct frame_key *key)
{
    return tree_child(thread, is_jump ? tree_tail_caller(thread, caller) : caller,
                      TRACE_SITE_SHARED | (is_jump ? TRACE_SITE_TAIL : 0), frame_function(key));
}

/* The call is one of a copy's, which is waiting for it. */
static bool is_from_copy(const struct thread *thread, const uintptr_t *slot)
{
    return session.is_adaptive && thread->frames && thread->frames->note == (uintptr_t)(slot + 1);
}

bool frame_check_count(const struct thread *thread, const uintptr_t *slot, uint64_t body)
{
    uint64_t word;
    struct trace_links *links;
    struct trace_node *node, *parent;

    if (!thread || !is_from_copy(thread, slot) || !frames_has_word(thread, (uintptr_t)slot))
        return false;
    word = *frame_word(thread, (uintptr_t)slot);
    links = frame_links_in(word);
    if (!word || word & FRAME_OUT_BITS)
        return false;
    node = links_node(thread, links);
    if (!is_called_from_site(thread, (uintptr_t)slot, node))
        return false;
    if (links->key == frame_key_before(frame_copy_of(body))->key)
        return true;
    links->entered--; /* an image lies where one was, whose function the site knows */
    parent = tree_parent(thread, node);
    if (parent != thread->root && !links_is_leaf(parent) && parent->passed)
        *frame_word(thread, (uintptr_t)slot) =
            parent->passed | (node->site & TRACE_SITE_TAIL ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT);
    return false;
}

bool frame_enter(struct thread *thread, const uintptr_t *slot, uint64_t body,
                 struct trace_node **entered)
{
    const struct frame_key *key = frame_key_before(frame_copy_of(body));
    struct trace_node *caller, *node;
    bool is_jump, is_chosen;
    uint64_t *word;

    if (!is_from_copy(thread, slot) || !frames_cover(thread, (uintptr_t)slot))
        return false;
    word = frame_word(thread, (uintptr_t)slot);
    caller = frame_noted_caller(thread, (uintptr_t)slot, &is_jump);
    if (caller && !(*word & FRAME_OUT_BITS)) /* of another function: see above */
        caller = tree_parent(thread, caller);
    node =
        caller ? frame_child(thread, caller, is_jump, frame_return_at((uintptr_t)slot), key) : NULL;
    if (node) /* the hook in assembly finds it from now on */
        tree_hint(thread, node, (uintptr_t)slot, body);
    if (!node || (!links_is_leaf(node) && !links_of(thread, node, key)))
        return false;
    is_chosen = !session.counts_only && invocation_choose(node, links_calls(node) + 1);
    if (!is_chosen)
        links_count(node);
    if (!is_chosen && !links_is_leaf(node))
        *word = node->passed;
    *entered = node;
    return !is_chosen;
}

void frame_begin(struct thread *thread, const struct record *record, uint64_t slot, uint64_t body)
{
    const struct frame_key *key = frame_key_before(frame_copy_of(body));
    struct trace_links *links;

    if (key->index & STUB_LEAF || !session.is_adaptive || !frames_cover(thread, slot))
        return;
    links = links_of(thread, record->node, key);
    *frame_word(thread, slot) = (uintptr_t)links;
    if (links && record->weight)
        links_stop_at_jumps(thread, links);
}
