#include "rewriter/copy/frame_code.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#define MOST_JUMPS 5 /* to a site's slow path */
#define NO_FIELD   0
#define MOST_LINKS 8192 /* a family: its record is to fit into a block of the trace */

/* Displacements. */
#define WORDS(field)   ((int32_t)offsetof(struct frame_words, field))
#define LINKS(field)   ((int32_t)offsetof(struct trace_links, field))
#define LINK(field)    ((int32_t)offsetof(struct trace_link, field))
#define POINTER(field) ((int32_t)offsetof(struct pointer_links, field))
#define FURTHER(field) ((int32_t)offsetof(struct further_target, field))
#define FURTHER_SIZE   ((int32_t)sizeof(struct further_target))

enum reg { RCX = 1, RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R10 = 10, R11 = 11 };

/* The two that a site works with. */
struct scratch {
    uint8_t a, b;
    bool saves_a, saves_b;
};

/* What is put behind all copies for a site. */
struct slow_site {
    uint32_t jumps[MOST_JUMPS]; /* fields of the jumps there, as offsets */
    uint32_t counted;           /* that of the one that has counted the call already; or NO_FIELD */
    uint64_t call;              /* address of the call itself */
    uint64_t original;          /* and in the original */
    struct scratch scratch;
    struct frame_site site; /* own, link and flags */
    uint32_t part;
    uint32_t
        displacement; /* of the link's word, from b; of a call by a pointer, of its first link */
    uint32_t second;  /* of a call by a pointer: field of the jump where it is not target 0 */
    uint64_t join;    /* of a call by a pointer: where to go on with a target that is known */
    uint64_t bound_slot, bound_callee; /* of the place */
};

struct frame_code {
    struct copy_writer *writer;
    const struct copy_plan *plan;
    const struct function_list *functions;
    uint32_t *links; /* of each family, by the part that stands for it: how many it has */
    uint64_t *keys;  /* of each function: where its key is */
    struct slow_site *slow;
    size_t slow_count, slow_room;
};

struct frame_code *frame_code_begin(struct copy_writer *writer, const struct copy_plan *plan,
                                    const struct function_list *functions)
{
    struct frame_code *code = memory_zeroed(1, sizeof(*code));

    *code = (struct frame_code){
        .writer = writer,
        .plan = plan,
        .functions = functions,
        .links = memory_zeroed(functions->count, sizeof(*code->links)),
        .keys = memory_zeroed(functions->count, sizeof(*code->keys)),
    };
    return code;
}

static struct buffer *bytes_of(struct frame_code *code)
{
    return &code->writer->stubs->code;
}

static void put8(struct frame_code *code, unsigned byte)
{
    uint8_t low = (uint8_t)byte;

    copy_put(code->writer, &low, 1);
}

static void put32(struct frame_code *code, uint32_t word)
{
    copy_put(code->writer, &word, sizeof(word));
}

/* `opcode` with a 64-bit register operand, and a memory operand: base and displacement. */
static void put_memory(struct frame_code *code, uint8_t rex, uint8_t opcode, unsigned reg,
                       unsigned base, int32_t displacement)
{
    bool is_byte = displacement >= INT8_MIN && displacement <= INT8_MAX;

    put8(code, 0x40u | rex | (reg >= 8 ? 4u : 0) | (base >= 8 ? 1u : 0));
    put8(code, opcode);
    if (!displacement && (base & 7) != RBP) {
        put8(code, (reg & 7u) << 3 | (base & 7u));
        return;
    }
    put8(code, (is_byte ? 0x40u : 0x80u) | (reg & 7u) << 3 | (base & 7u));
    if ((base & 7) == RSP)
        put8(code, 0x24);
    if (is_byte)
        put8(code, (unsigned)displacement);
    else
        put32(code, (uint32_t)displacement);
}

#define WIDE         8 /* REX.W */
#define LOAD         0x8b
#define LEA          0x8d
#define TEST         0x85
#define STORE        0x89
#define ADD_LOAD     0x03
#define SUB_LOAD     0x2b
#define CMP_LOAD     0x3b
#define CMP          0x39
#define AND_LOAD     0x23
#define MULTIPLY     0x69 /* imul, with 32 bits behind it */
#define GROUP_4      0xfe /* inc, dec of a byte: by `reg` */
#define GROUP_5      0xff /* inc, dec: by `reg` */
#define IN_THREAD    0x64 /* prefix: fs */
#define GROUP_8_BITS 0x83 /* cmp, or: by `reg`, with 8 bits behind it */
#define TAKES_WORD   0x81 /* cmp, or: by `reg`, with 32 bits behind it */

static void put_thread(struct frame_code *code, uint8_t opcode, unsigned reg, unsigned base,
                       int32_t displacement)
{
    put8(code, IN_THREAD);
    put_memory(code, WIDE, opcode, reg, base, displacement);
}

static void put_registers(struct frame_code *code, uint8_t opcode, unsigned reg, unsigned rm)
{
    put8(code, 0x40u | WIDE | (reg >= 8 ? 4u : 0) | (rm >= 8 ? 1u : 0));
    put8(code, opcode);
    put8(code, 0xc0u | (reg & 7u) << 3 | (rm & 7u));
}

/* Loads a word of the trace's header. */
static void put_load_header(struct frame_code *code, unsigned reg, size_t word)
{
    const uint8_t opcode[] = {(uint8_t)(0x40u | WIDE | (reg >= 8 ? 4u : 0)), LOAD,
                              (uint8_t)(5u | (reg & 7u) << 3)};

    copy_put_with_word(code->writer, opcode, sizeof(opcode), word);
}

/* A jump on a condition to the slow path. */
static void put_slow_jump(struct frame_code *code, uint8_t condition, uint32_t *field)
{
    put8(code, 0x0f);
    put8(code, 0x80u | condition);
    *field = (uint32_t)bytes_of(code)->size;
    put32(code, 0);
}

#define IF_NEGATIVE     8
#define IF_NEGATIVE_NOT 9
#define IF_ZERO         4
#define IF_NOT_ZERO     5
#define IF_NOT_BELOW    3

/* Scratch registers that are alive are kept where nothing lives at a call. */
static struct scratch choose_scratch(uint16_t dead, bool is_pointer)
{
    static const uint8_t order[] = {R11, R10, 9, 8, RCX, RSI, RDI, RDX, 0};
    uint8_t first = is_pointer ? R10 : R11, other = is_pointer ? 9 : R10;
    struct scratch scratch = {first, other, true, true};
    unsigned found = 0;

    if (is_pointer)
        dead &= (uint16_t) ~(1u << R11);
    for (size_t i = 0; i < sizeof(order) && found < 2; i++) {
        if (!(dead >> order[i] & 1))
            continue;
        if (found++ == 0) {
            scratch.a = order[i];
            scratch.saves_a = false;
            scratch.b = scratch.a == first ? other : first;
        } else {
            scratch.b = order[i];
            scratch.saves_b = false;
        }
    }
    return scratch;
}

#define SAVED_A (-24)
#define SAVED_B (-32)

static void put_saves(struct frame_code *code, const struct scratch *scratch)
{
    if (scratch->saves_a)
        put_memory(code, WIDE, STORE, scratch->a, RSP, SAVED_A);
    if (scratch->saves_b)
        put_memory(code, WIDE, STORE, scratch->b, RSP, SAVED_B);
}

static void put_restores(struct frame_code *code, const struct scratch *scratch)
{
    if (scratch->saves_b)
        put_memory(code, WIDE, LOAD, scratch->b, RSP, SAVED_B);
    if (scratch->saves_a)
        put_memory(code, WIDE, LOAD, scratch->a, RSP, SAVED_A);
}

/* b: where the thread has its words, if anything is recorded. Returns what the jump on to the call,
   if it is not, counts its distance from. */
static size_t put_words_test(struct frame_code *code, unsigned b, bool is_short)
{
    put_load_header(code, b, offsetof(struct trace_header, frames));
    put_registers(code, TEST, b, b);
    copy_put(code->writer, is_short ? "\x74\0" : "\x0f\x84\0\0\0\0", is_short ? 2 : 6);
    return bytes_of(code)->size;
}

static void land_words_test(struct frame_code *code, size_t from, bool is_short)
{
    uint32_t distance = (uint32_t)(bytes_of(code)->size - from);

    memcpy(bytes_of(code)->bytes + from - (is_short ? 1 : sizeof(distance)), &distance,
           is_short ? 1 : sizeof(distance));
}

/* rbp may be on another stack than rsp: a function can change stacks, and have its frame by rbp. */
static void put_frame_test(struct frame_code *code, struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;

    put_memory(code, WIDE, LEA, a, RBP, slow->site.own);
    put_thread(code, SUB_LOAD, a, b, WORDS(low));
    put_thread(code, CMP_LOAD, a, b, WORDS(size));
    put_slow_jump(code, IF_NOT_BELOW, &slow->jumps[4]);
}

/* a: the shadow of where the stack pointer is; b: the context of the caller. */
static void put_own_context(struct frame_code *code, const struct frame_place *place,
                            struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    uint32_t key = frame_key_of(code->plan, place->part);

    if (place->slot.base == RETURN_SLOT_RBP)
        put_frame_test(code, slow);
    put_registers(code, STORE, RSP, a);
    put_thread(code, SUB_LOAD, a, b, WORDS(low));
    put_thread(code, CMP_LOAD, a, b, WORDS(size));
    put_slow_jump(code, IF_NOT_BELOW, &slow->jumps[0]);
    put_thread(code, ADD_LOAD, a, b, WORDS(shadow));
    if (place->slot.base == RETURN_SLOT_RBP) {
        put_registers(code, STORE, RBP, b);
        put_registers(code, SUB_LOAD, b, RSP);
        put_registers(code, ADD_LOAD, b, a);
        put_memory(code, WIDE, LOAD, b, b, slow->site.own);
    } else {
        put_memory(code, WIDE, LOAD, b, a, slow->site.own);
    }
    put_registers(code, TEST, b, b);
    put_slow_jump(code, IF_ZERO, &slow->jumps[1]);
    put_memory(code, 0, TAKES_WORD, 7, b, LINKS(key));
    put32(code, key);
    put_slow_jump(code, IF_NOT_ZERO, &slow->jumps[2]);
}

/* Leaves in b what the link's displacement counts from. */
static int32_t put_link_place(struct frame_code *code, struct slow_site *slow)
{
    uint32_t link = slow->site.link, chunk;
    unsigned b = slow->scratch.b;

    if (link < TRACE_LINKS_INLINE)
        return LINKS(links[link]);
    chunk = (link - TRACE_LINKS_INLINE) / TRACE_LINKS_CHUNK;
    put_memory(code, WIDE, LOAD, b, b,
               LINKS(links[TRACE_LINKS_INLINE]) + (int32_t)(sizeof(uint64_t) * chunk));
    put_registers(code, TEST, b, b);
    put_slow_jump(code, IF_ZERO, &slow->jumps[3]);
    return LINKS(links[(link - TRACE_LINKS_INLINE) % TRACE_LINKS_CHUNK]);
}

/* Where the shadow of the callee's slot is, from a. */
static int32_t callee_place(bool is_tail)
{
    return is_tail ? 0 : -8;
}

static void put_count(struct frame_code *code, const struct frame_place *place,
                      struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    int32_t link = put_link_place(code, slow);

    slow->displacement = (uint32_t)link + LINK(word);
    put_memory(code, 0, GROUP_5, 0, b, link + LINK(word));
    put_slow_jump(code, IF_NEGATIVE_NOT, &slow->counted);
    if (place->is_to_leaf)
        return;
    put_memory(code, WIDE, LOAD, b, b, link + LINK(callee));
    put_memory(code, WIDE, STORE, b, a, callee_place(place->is_tail));
}

/* By `words`: a pause since the site's first test has made `frames` 0. */
static void put_note_word(struct frame_code *code, bool is_tail, const struct scratch *scratch)
{
    unsigned a = scratch->a, b = scratch->b;

    put_load_header(code, b, offsetof(struct trace_header, words));
    if (!is_tail) {
        put_thread(code, STORE, RSP, b, WORDS(note));
        return;
    }
    put_memory(code, WIDE, LEA, a, RSP, 8);
    put_thread(code, STORE, a, b, WORDS(note));
}

static void put_or(struct frame_code *code, unsigned reg, uint8_t bits)
{
    put8(code, 0x48u | (reg >= 8 ? 1u : 0));
    put8(code, 0x83);
    put8(code, 0xc8u | (reg & 7));
    put8(code, bits);
}

static void put_note(struct frame_code *code, const struct frame_place *place,
                     const struct scratch *scratch)
{
    put_or(code, scratch->b, place->is_tail ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT);
    put_memory(code, WIDE, STORE, scratch->b, scratch->a, callee_place(place->is_tail));
    put_note_word(code, place->is_tail, scratch);
}

/* To target `number`, which is the one in r11. */
static void put_known_target(struct frame_code *code, const struct slow_site *slow, unsigned number,
                             int32_t place, uint32_t *counted)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    int32_t first = (int32_t)slow->displacement;
    int32_t link = first + POINTER(links[number]);

    put_memory(code, 0, GROUP_5, 0, b, link + LINK(word));
    put_slow_jump(code, IF_NEGATIVE_NOT, counted);
    put_memory(code, WIDE, LOAD, R11, b, link + LINK(callee));
    put_memory(code, WIDE, STORE, R11, a, place);
    put_memory(code, WIDE, LOAD, R11, b, first + POINTER(go[number]));
}

static void put_pointer(struct frame_code *code, const struct frame_place *place,
                        struct slow_site *slow)
{
    slow->displacement = (uint32_t)put_link_place(code, slow);
    put_memory(code, WIDE, CMP_LOAD, R11, slow->scratch.b,
               (int32_t)slow->displacement + POINTER(targets[0]));
    put_slow_jump(code, IF_NOT_ZERO, &slow->second);
    put_known_target(code, slow, 0, callee_place(place->is_tail), &slow->counted);
    slow->join = copy_here(code->writer);
    put_note_word(code, place->is_tail, &slow->scratch);
}

static uint8_t flags_of(const struct frame_place *place)
{
    return (uint8_t)((place->is_tail ? FRAME_SITE_TAIL : 0) | (place->is_out ? FRAME_SITE_OUT : 0) |
                     (place->is_pointer ? FRAME_SITE_POINTER : 0) |
                     (place->slot_bound ? FRAME_SITE_BOUND : 0) |
                     (place->slot.base == RETURN_SLOT_RBP ? FRAME_SITE_RBP : 0));
}

bool frame_code_has_room(const struct frame_code *code, uint32_t part)
{
    return code->links[copy_plan_family(code->plan, part)] < MOST_LINKS;
}

void frame_code_put_site(struct frame_code *code, const struct frame_place *place)
{
    struct slow_site slow = {
        .scratch = choose_scratch(place->dead, place->is_pointer || place->slot_bound),
        .bound_slot = place->slot_bound,
        .bound_callee = place->callee,
        .part = place->part,
        .original = place->original,
        .site = {.own = (int32_t)place->slot.offset, .flags = flags_of(place)},
    };
    uint32_t *links = &code->links[copy_plan_family(code->plan, place->part)];
    bool is_short = !place->is_pointer && /* less than 128 bytes */
                    (place->is_out || place->slot.base != RETURN_SLOT_RBP);
    uint64_t begin = copy_here(code->writer);
    size_t over;

    if (place->is_pointer)
        *links = (*links + POINTER_LINKS - 1) / POINTER_LINKS * POINTER_LINKS;
    slow.site.link = (uint16_t)*links;
    *links += place->is_pointer ? POINTER_LINKS : !place->is_out;
    put_saves(code, &slow.scratch);
    over = put_words_test(code, slow.scratch.b, is_short);
    put_own_context(code, place, &slow);
    if (place->is_pointer)
        put_pointer(code, place, &slow);
    else if (place->is_out)
        put_note(code, place, &slow.scratch);
    else
        put_count(code, place, &slow);
    if (place->slot_bound)
        copy_put_entry(code->writer, "\x4c\x8d\x1d", 3, place->callee); /* lea r11, [copy] */
    land_words_test(code, over, is_short);
    put_restores(code, &slow.scratch);
    slow.call = copy_here(code->writer);
    copy_set_add_stretch(code->writer->set, begin, slow.call);
    code->slow = memory_grow(code->slow, code->slow_count, &code->slow_room, sizeof(*code->slow));
    code->slow[code->slow_count++] = slow;
}

void frame_code_put_key(struct frame_code *code, uint32_t part)
{
    const struct function *function = &code->functions->items[part];
    uint64_t body = code->writer->stubs->address + function->body;
    struct frame_key key = {.index = part | (function->is_leaf ? STUB_LEAF : 0),
                            .key = frame_key_of(code->plan, part)};

    code->keys[part] = copy_here(code->writer);
    key.body = (int32_t)(body - code->keys[part]);
    copy_put_header_distance(code->writer);
    copy_put(code->writer, (const uint8_t *)&key + sizeof(key.header),
             sizeof(key) - sizeof(key.header));
}

/* All jumps there lead here. */
static void land(struct frame_code *code, uint32_t field)
{
    uint32_t distance;

    if (field == NO_FIELD)
        return;
    distance = (uint32_t)(bytes_of(code)->size - field - sizeof(distance));
    memcpy(bytes_of(code)->bytes + field, &distance, sizeof(distance));
}

/* The function that a part is one of. */
static uint64_t key_of_part(const struct frame_code *code, uint32_t part)
{
    const struct function *function = &code->functions->items[part];

    if (!code->keys[part] && function->owner)
        part = function->owner - 1;
    if (!code->keys[part])
        part = copy_plan_family(code->plan, part);
    return code->keys[part];
}

static void put_jump_to(struct frame_code *code, uint64_t target)
{
    copy_put_relative(code->writer, "\xe9", 1, target);
}

/* A short jump over what is not known yet how long it is; land_short goes behind that. */
static size_t put_short_jump(struct frame_code *code, uint8_t opcode)
{
    put8(code, opcode);
    put8(code, 0);
    return bytes_of(code)->size;
}

static void land_short(struct frame_code *code, size_t from)
{
    bytes_of(code)->bytes[from - 1] = (uint8_t)(bytes_of(code)->size - from);
}

#define JUMP_NOT_EQUAL    0x75
#define JUMP_EQUAL        0x74
#define JUMP_NOT_NEGATIVE 0x79
#define JUMP              0xeb
#define NEAR_JUMP         0xe9

#define SAVED_SHADOW (-40)
#define SAVED_TARGET (-48)
#define MOST_TO_SLOW 3

/* Jumps from the code of a call by a pointer to its slow path. */
struct to_slow {
    uint32_t fields[MOST_TO_SLOW];
    size_t count;
};

/* a: where the table has the home of this site's target, which is in r11. Returns a jump, taken
   where there is no table. */
static size_t put_home(struct frame_code *code, const struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;

    put_memory(code, WIDE, STORE, a, RSP, SAVED_SHADOW);
    put_memory(code, WIDE, LEA, b, b, (int32_t)slow->displacement);
    put_registers(code, MULTIPLY, a, R11);
    put32(code, FURTHER_HASH);
    put_memory(code, WIDE, STORE, R11, RSP, SAVED_TARGET);
    put_registers(code, ADD_LOAD, a, b);
    put_load_header(code, R11, offsetof(struct trace_header, words));
    put8(code, IN_THREAD);
    put_memory(code, 0, AND_LOAD, a, R11, WORDS(further_mask));
    put_thread(code, LOAD, R11, R11, WORDS(further));
    put_registers(code, TEST, R11, R11);
    return put_short_jump(code, JUMP_EQUAL);
}

/* Looks into the table of further targets. What is not known goes on behind this, as it was. */
static void put_further(struct frame_code *code, const struct slow_site *slow,
                        struct to_slow *jumps)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    size_t unknown[3], other, found, its_turn;

    unknown[0] = put_home(code, slow);
    put_registers(code, ADD_LOAD, a, R11);
    put_memory(code, WIDE, LOAD, R11, RSP, SAVED_TARGET);
    put_memory(code, WIDE, CMP, b, a, 0);
    other = put_short_jump(code, JUMP_NOT_EQUAL);
    put_memory(code, WIDE, CMP, R11, a, FURTHER(target));
    found = put_short_jump(code, JUMP_EQUAL);
    land_short(code, other);
    put_memory(code, WIDE, CMP, b, a, FURTHER_SIZE);
    unknown[1] = put_short_jump(code, JUMP_NOT_EQUAL);
    put_memory(code, WIDE, CMP, R11, a, FURTHER_SIZE + FURTHER(target));
    unknown[2] = put_short_jump(code, JUMP_NOT_EQUAL);
    put_memory(code, WIDE, LEA, a, a, FURTHER_SIZE);
    land_short(code, found);
    put_memory(code, WIDE, LOAD, R11, a, FURTHER(link));
    put_memory(code, WIDE, LOAD, b, a, FURTHER(go));
    put_memory(code, WIDE, LOAD, a, RSP, SAVED_SHADOW);
    put_memory(code, 0, GROUP_5, 0, R11, LINK(word));
    its_turn = put_short_jump(code, JUMP_NOT_NEGATIVE);
    put_memory(code, WIDE, LOAD, R11, R11, LINK(callee));
    put_memory(code, WIDE, STORE, R11, a, callee_place(false));
    put_registers(code, STORE, b, R11);
    put_jump_to(code, slow->join);
    land_short(code, its_turn);
    put_memory(code, 0, GROUP_5, 1, R11, LINK(word));
    put_memory(code, WIDE, LOAD, R11, RSP, SAVED_TARGET);
    put8(code, NEAR_JUMP);
    jumps->fields[jumps->count++] = (uint32_t)bytes_of(code)->size;
    put32(code, 0);
    for (size_t i = 0; i < 3; i++)
        land_short(code, unknown[i]);
    put_memory(code, WIDE, LOAD, R11, RSP, SAVED_TARGET);
    put_memory(code, WIDE, LOAD, a, RSP, SAVED_SHADOW);
    put_memory(code, WIDE, LEA, b, b, -(int32_t)slow->displacement);
}

/* Puts the code for r11 that is not target 0. To the slow path where it is none that is known, and
   there is room for it or another one's, and where it is the turn of a further one. */
static void put_second(struct frame_code *code, const struct slow_site *slow, uint32_t *counted,
                       struct to_slow *jumps)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    int32_t first = (int32_t)slow->displacement;
    bool is_tail = slow->site.flags & FRAME_SITE_TAIL;
    int32_t place = callee_place(is_tail);
    uint8_t bits = is_tail ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT;
    size_t other;

    put_memory(code, WIDE, CMP_LOAD, R11, b, first + POINTER(targets[1]));
    other = put_short_jump(code, JUMP_NOT_EQUAL);
    put_known_target(code, slow, 1, place, counted);
    put_jump_to(code, slow->join);
    land_short(code, other);
    put_memory(code, WIDE, GROUP_8_BITS, 7, b, first + POINTER(targets[1])); /* cmp qword [..], 0 */
    put8(code, 0);
    put_slow_jump(code, IF_ZERO, &jumps->fields[jumps->count++]);
    if (!is_tail)
        put_further(code, slow, jumps);
    put_memory(code, 0, GROUP_4, 1, b, LINKS(unknown));
    put_slow_jump(code, IF_NEGATIVE, &jumps->fields[jumps->count++]);
    put_or(code, b, bits);
    put_memory(code, WIDE, STORE, b, a, place);
    put_jump_to(code, slow->join);
}

static void put_pointer_slow(struct frame_code *code, const struct slow_site *slow)
{
    uint32_t counted = NO_FIELD;
    int32_t first = (int32_t)slow->displacement;
    struct to_slow jumps = {.count = 0};
    size_t over;

    land(code, slow->second);
    put_second(code, slow, &counted, &jumps);
    land(code, counted);
    put_memory(code, 0, GROUP_5, 1, slow->scratch.b, first + POINTER(links[1].word));
    over = put_short_jump(code, JUMP);
    land(code, slow->counted);
    put_memory(code, 0, GROUP_5, 1, slow->scratch.b, first + POINTER(links[0].word));
    land_short(code, over);
    for (size_t i = 0; i < jumps.count; i++)
        land(code, jumps.fields[i]);
}

/* Slow sites of a part follow one another. */
static void note_slow_site(const struct frame_code *code, const struct slow_site *slow)
{
    struct copy_set *set = code->writer->set;
    uint64_t here = copy_here(code->writer);
    struct copy *last = set->slow_count ? &set->slow[set->slow_count - 1] : NULL;

    if (!last || last->function != slow->part) {
        set->slow = memory_grow(set->slow, set->slow_count, &set->slow_room, sizeof(*last));
        last = &set->slow[set->slow_count++];
        *last =
            (struct copy){.address = here, .function = slow->part, .first_move = set->move_count};
    }
    copy_set_add_move(set, slow->original - code->functions->items[slow->part].address,
                      here - last->address);
    last->move_count++;
}

static void put_slow_site(struct frame_code *code, struct slow_site *slow)
{
    if (slow->site.flags & FRAME_SITE_POINTER) {
        put_pointer_slow(code, slow);
    } else if (slow->counted != NO_FIELD) {
        land(code, slow->counted);
        put_memory(code, 0, GROUP_5, 1, slow->scratch.b, (int32_t)slow->displacement);
    }
    for (size_t i = 0; i < MOST_JUMPS; i++)
        land(code, slow->jumps[i]);
    put_restores(code, &slow->scratch);
    copy_put_with_word(code->writer, "\xff\x15", 2, offsetof(struct trace_header, on_site));
    slow->site.call = (int32_t)(slow->call - copy_here(code->writer));
    slow->site.self = (int32_t)(key_of_part(code, slow->part) - copy_here(code->writer));
    copy_put(code->writer, &slow->site, sizeof(slow->site));
    if (!slow->bound_slot)
        return;
    put32(code, (uint32_t)(slow->bound_slot - (copy_here(code->writer) - sizeof(slow->site))));
    copy_put_entry(code->writer, "", 0, slow->bound_callee);
}

static void fill_in_links(struct frame_code *code)
{
    for (uint32_t part = 0; part < code->functions->count; part++) {
        size_t at = code->keys[part] - code->writer->stubs->address;
        uint32_t links = code->links[copy_plan_family(code->plan, part)];

        if (code->keys[part])
            memcpy(bytes_of(code)->bytes + at + offsetof(struct frame_key, links), &links,
                   sizeof(links));
    }
}

void frame_code_end(struct frame_code *code)
{
    for (size_t i = 0; i < code->slow_count; i++) {
        struct copy_set *set = code->writer->set;

        note_slow_site(code, &code->slow[i]);
        put_slow_site(code, &code->slow[i]);
        set->slow[set->slow_count - 1].size =
            (uint32_t)(copy_here(code->writer) - set->slow[set->slow_count - 1].address);
    }
    fill_in_links(code);
    free(code->slow);
    free(code->links);
    free(code->keys);
    free(code);
}
