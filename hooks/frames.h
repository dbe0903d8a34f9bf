/*
 * Contexts beside frames: calls that copied bodies count themselves (docs/copies.md).
 *
 * Each word of a thread's own stack has a word in its *shadow*, a fixed distance away. Where a
 * copy's return address is in the stack, the links of its context (struct trace_links) are in the
 * shadow:
 *
 *      stack                     shadow
 *      | return |  S  ------>    | context of the frame |        S - low + shadow
 *
 * The caller writes it before it calls. So what comes here is what copies cannot do themselves:
 * first calls, those that are to be timed, frames deeper than the shadow goes yet, those that came
 * otherwise.
 *
 * A copy that calls anything else leaves a *note*: 8 above the slot of that call; in the shadow
 * beside the slot is the caller's context, with FRAME_CALLED_OUT. Whoever is entered at that slot
 * was called by it. Whoever is entered below it was called by something unknown, which it has
 * called: that call gets a record, which keeps the note and puts it back when it ends. Thus the
 * note is that of the innermost copy that is waiting, whoever has called the code that runs now.
 *
 * On any other stack, and with exact timing, copies count nothing: they call each other by way of
 * the stubs.
 *
 * Only the thread itself writes its shadow and links:
 *
 *      word                    written by                              read by
 *      beside g's slot:        the site that calls g, just before;     sites in g
 *      g's links               the entry hook, where g was called
 *                              out of a copy or has a record; the
 *                              slow path, for a frame without one
 *                              (adopt)
 *      there: the caller's     the site, at a call out                 the entry hook
 *      links and a bit
 *      thread: note            the site, at a call out; a record's     the entry hook, records that
 *                              end                                     begin
 *      link: word              sites of that context; the slow path    these, and readers of the trace
 *      link: callee, targets   the slow path                           sites
 *      thread: low, size,      its own slow path; low is the           sites
 *      shadow                  deepest place so far, so a new peak
 *                              comes there
 *
 * size is 0 before there is a shadow, and once the thread has called exit: then each site goes to the
 * agent.
 */
#ifndef UMBRA_HOOKS_FRAMES_H
#define UMBRA_HOOKS_FRAMES_H

#include "hooks/notes.h"
#include "trace/frame_format.h"

struct image_header;

/* A thread begins, or a child made by fork goes on: nothing is counted in copies yet. */
void frames_begin(struct thread *thread);
/* No more calls of the calling thread are counted in copies. Others, which may be gone, and their
   words with them, go on: such calls are in no balance. */
void frames_stop(void);
/* Gives the shadow back. */
void frames_release(struct thread *thread);

/* A function that is copied in this way. */
bool frame_is_body(uint64_t body);

/* Whether a call of such a function, or jump to it, was counted already, by its site in a copy of another image: no more
   is to be done. If it was counted as one of another function, that is taken back. */
bool frame_check_count(const struct thread *thread, const uintptr_t *slot, uint64_t body);
/* A call of such a function, with its slot there. True: it has its context now, which is in *node, and was
   counted, without a record. */
bool frame_enter(struct thread *thread, const uintptr_t *slot, uint64_t body,
                 struct trace_node **node);
/* A call of such a function has a record: its frame gets the record's context. */
void frame_begin(struct thread *thread, const struct record *record, uint64_t slot, uint64_t body);

/* The slot of the last call out of a copy, or NO_NOTE. */
uint64_t frame_noted_slot(const struct thread *thread);
/* The context of the copy that called what is entered at `slot`, if it did so after the newest
   record of the own stack began; else null. is_jump: by a jump, out of the function that had that
   slot. */
struct trace_node *frame_noted_caller(const struct thread *thread, uint64_t slot, bool *is_jump);

/* Makes the shadow beside the stack from `lowest` on usable, and lets copies use it. False: there
   is no room. */
bool frames_cover(struct thread *thread, uint64_t lowest);
/* Copies come to the slow path below the deepest place that was noted (stack.h). */
void frames_tell_depth(struct thread *thread);

/* The word beside a slot can be used; and which it is. */
bool frames_has_word(const struct thread *thread, uint64_t slot);
uint64_t *frame_word(const struct thread *thread, uint64_t slot);

/* No copy's frame is larger. */
#define FRAME_MOST (1u << 20) /* bytes */

/* The context of the frame whose return address is at a slot that has a word, as both show: the word is
   of a context, and the return address its call site. Null: there is none, or it has a record's thunk. */
struct trace_node *frame_context_at(const struct thread *thread, uint64_t slot);

/* The copy that a stub's body leads to. */
uint64_t frame_copy_of(uint64_t body);

/* The image that the function of a key is in. */
const struct image_header *frame_image(const struct frame_key *key);

/* The key in front of a copy, and the number of its function. */
const struct frame_key *frame_key_before(uint64_t copy);
uint32_t frame_function(const struct frame_key *key);

/* The context of a call of that function out of another context; is_jump: of a jump, and site is the
   return address of the function that jumps. Null: no room. */
struct trace_node *frame_child(struct thread *thread, struct trace_node *caller, bool is_jump,
                               uint64_t site, const struct frame_key *key);
/* The context of a call of that function from whatever place: what sites lead to where no call is
   timed (TRACE_SITE_SHARED). Null: no room. */
struct trace_node *frame_shared_child(struct thread *thread, struct trace_node *caller,
                                      bool is_jump, const struct frame_key *key);

/* The return address that a slot is to hold: the call's record has it, if there is one. */
uint64_t frame_return_at(uint64_t slot);

/* Whether a return address is that of a call, in a copy, of the function of that number (with
   TRACE_FUNCTION_LEAF), as far as the call tells which it calls. */
bool frame_is_call_of(uint64_t ret, uint32_t function);

/* The context that a word of the shadow is of, whoever wrote it. */
static inline struct trace_links *frame_links_in(uint64_t word)
{
    return (struct trace_links *)(uintptr_t)(word & ~(uint64_t)FRAME_OUT_BITS);
}

#endif
