/*
 * What stands in front of calls in copies, run one instruction at a time: a small image is put where it says
 * that it is, between a stack with its shadow and a few contexts made by hand. For tests.
 */
#ifndef UMBRA_REWRITER_SITE_MACHINE_H
#define UMBRA_REWRITER_SITE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/copy/copy_sample.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

/* Addresses between those of the image and its end. */
#define PLACE      0x20000000u
#define PLACE_SIZE 0x400000u
#define OWN        0x20300000u /* the caller's links */
#define CALLEE     0x20310000u /* the callee's */
#define OTHER      0x20318000u /* those of another */
#define CHUNK      0x20320000u
#define STACK      0x20330000u
#define STACK_SIZE 0x8000u
#define SHADOW     0x20340000u
#define SLOW       0x20350000u /* the agent's slow path */
#define OUTSIDE    0x20351000u /* code of another image */
#define ELSEWHERE  0x20352000u
#define POINTER    (STACK + 0x4000u)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, REGISTERS };

#define CALLER_OF_40 "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3" /* call at 4 */
#define NO_LEAF      "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3"
#define LEAF         "\x8d\x04\x37\x8d\x44\xc0\x08\xc3"
/* test edi, edi; je 0x40; inc edi; add edi, edi; jmp 0x40 */
#define JUMPS_TO_40 "\x85\xff\x74\x3c\xff\xc7\x01\xff\xeb\x36"

#define ONLY_R11 (1u << R11)

/* What runs, an instruction at a time. */
struct machine {
    uint64_t registers[REGISTERS], rip;
    bool is_zero; /* the flag */
    uint64_t until;
    unsigned steps, pause_at; /* pause_at: recording is paused after so many steps; 0: it is not */
};

extern struct machine machine;
extern _Thread_local struct frame_words words;

/* One call, and what the image says of it. */
struct scene {
    struct copied copied;
    uint32_t caller;     /* its place in the list */
    uint64_t site, call; /* addresses: of what stands in front of the call, of the call */
    uint64_t back;       /* of where it goes on with nothing done */
    uint64_t own;        /* the slot of the caller's return address */
    uint32_t link;
    struct machine begun;
};

/* The word at an address; the word of the shadow beside a slot of the stack. */
uint64_t *word(uint64_t address);
uint64_t *shadow(uint64_t slot);
uint64_t from_thread_pointer(const void *address);

/* --- the image --- */

/* An empty one, whose frames have their return address at 24. */
void begin_scene(struct scene *scene);
/* All registers are alive in front of calls, but for these. */
void set_dead(struct scene *scene, uint64_t offset, uint16_t dead);
/* The copy of a function: the key that stands in front of its body, and the body. */
const struct frame_key *key_of(const struct scene *scene, uint32_t function);
uint64_t body_of(const struct scene *scene, uint32_t function);
/* The image, as the loader would put it there, and the page of the hook word. */
void put_image(struct scene *scene);
/* What stands in front of the call at an offset: behind a load of r11, if it goes by a pointer. */
void find_site(struct scene *scene, uint64_t offset);
/* Behind what loads registers that were saved. */
uint64_t behind_restores(uint64_t at);

/* --- contexts, and the machine --- */

struct trace_links *own_links(void);
/* The caller's context, with a link of which nothing is counted yet. */
void put_context(const struct scene *scene);
/* What it counts. */
void set_link(const struct scene *scene, int32_t count);
/* The machine is in front of the call at an offset of the caller. */
void stand_at(struct scene *scene, uint64_t offset);
/* All of these. */
void place_scene(struct scene *scene, uint64_t offset);

/* A caller in front of its call of a copy, its call out, its jump out, its jump to a copy at an offset, and its
   call by a pointer. */
void begin_call(struct scene *scene, uint16_t dead);
void begin_call_out(struct scene *scene);
void begin_jump_out(struct scene *scene);
void begin_jump(struct scene *scene, uint64_t offset);
struct pointer_links *begin_pointer(struct scene *scene, uint16_t dead);

/* On to an address, or to the slow path; from where it began, to the call. */
void run_until(uint64_t until);
void run_again(struct scene *scene);

/* --- what came of it --- */

/* All registers but those of a set are what they were, the stack pointer `lower` bytes lower. */
void assert_kept(const struct scene *scene, uint16_t dead, uint64_t lower);
/* It is at the call, with all other registers kept. */
void assert_at_call(const struct scene *scene, uint16_t dead);
/* It went to the slow path, which is told of this call. */
void assert_slow(const struct scene *scene, uint8_t flags, uint16_t dead);

/* Prepares a group of tests: maps what the image needs, and takes traps. */
int site_machine_prepare(void **state);

#endif
