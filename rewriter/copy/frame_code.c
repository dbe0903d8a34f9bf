#include "rewriter/copy/frame_code.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/frame_bytes.h"
#include "rewriter/copy/frame_pointers.h"
#include "support/memory.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#define CALL_BY_WORD 6    /* bytes of call [word] */
#define MOST_LINKS   8192 /* a family: its record is to fit into a block of the trace */

/* What is put behind all copies for a site: large libraries have a million. */
struct slow_site {
    uint32_t uncounted; /* jumps that lead to it before instructions were counted */
    uint32_t to_slow;   /* and others */
    uint32_t counted;   /* the one where the call is counted already */
    uint32_t call;      /* of the call itself: its offset among stubs and copies */
    uint32_t original;  /* and in the original function */
    uint32_t member;
    uint32_t displacement; /* of the link's word, from b */
    int32_t instructions;  /* to be counted */
    uint8_t held;          /* cells */
    bool is_within;
    struct scratch scratch;
    struct frame_site site; /* own, link and flags */
    union {
        struct pointer_site pointer; /* FRAME_SITE_POINTER */
        struct {
            uint64_t slot, callee; /* of the place: FRAME_SITE_BOUND */
        } bound;
    };
};

struct frame_code {
    struct copy_writer *writer;
    const struct copy_plan *plan;
    const struct function_list *functions;
    uint32_t *links; /* of each family, by the member that stands for it: how many it has */
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

/* Scratch registers that are alive are kept where nothing lives at a call. */
static struct scratch choose_scratch(uint16_t dead, bool is_pointer)
{
    static const uint8_t order[] = {R11, R10, 9, 8, RCX, RSI, RDI, RDX, 0};
    uint8_t first = is_pointer ? R10 : R11, other = is_pointer ? 9 : R10;
    struct scratch scratch = {.a = first, .b = other, .saves_a = true, .saves_b = true};
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
#define SAVED_C (-56)

/* A third register: the first in order that is dead; if none is, the first that is not taken. */
static void choose_third(struct scratch *scratch, uint16_t dead, bool is_pointer)
{
    static const uint8_t order[] = {R10, 9, 8, R11, RCX, RSI, RDI, RDX, 0};
    uint16_t taken = (uint16_t)(1u << scratch->a | 1u << scratch->b | (is_pointer ? 1u << R11 : 0));

    scratch->saves_c = true;
    for (size_t i = sizeof(order); i-- > 0;)
        if (!(taken >> order[i] & 1) && (scratch->saves_c || dead >> order[i] & 1)) {
            scratch->c = order[i];
            scratch->saves_c = !(dead >> order[i] & 1);
        }
}

static void put_saves(struct frame_code *code, const struct scratch *scratch)
{
    if (scratch->saves_a)
        frame_put_memory(code->writer, WIDE, STORE, scratch->a, RSP, SAVED_A);
    if (scratch->saves_b)
        frame_put_memory(code->writer, WIDE, STORE, scratch->b, RSP, SAVED_B);
}

static void put_restores(struct frame_code *code, const struct scratch *scratch)
{
    if (scratch->saves_c)
        frame_put_memory(code->writer, WIDE, LOAD, scratch->c, RSP, SAVED_C);
    if (scratch->saves_b)
        frame_put_memory(code->writer, WIDE, LOAD, scratch->b, RSP, SAVED_B);
    if (scratch->saves_a)
        frame_put_memory(code->writer, WIDE, LOAD, scratch->a, RSP, SAVED_A);
}

/* b: where the thread has its words, if anything is recorded. Returns what the jump on to the call,
   if it is not, counts its distance from. */
static size_t put_words_test(struct frame_code *code, unsigned b, bool is_short)
{
    frame_put_header_word(code->writer, b, offsetof(struct trace_header, frames));
    frame_put_registers(code->writer, TEST, b, b);
    copy_put(code->writer, is_short ? "\x74\0" : "\x0f\x84\0\0\0\0", is_short ? 2 : 6);
    return code->writer->stubs->code.size;
}

static void land_words_test(struct frame_code *code, size_t from, bool is_short)
{
    uint32_t distance = (uint32_t)(code->writer->stubs->code.size - from);

    assert(!is_short || distance <= INT8_MAX);
    memcpy(code->writer->stubs->code.bytes + from - (is_short ? 1 : sizeof(distance)), &distance,
           is_short ? 1 : sizeof(distance));
}

/* rbp may be on another stack than rsp: a function can change stacks, and have its frame by rbp. */
static void put_frame_test(struct frame_code *code, struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;

    frame_put_memory(code->writer, WIDE, LEA, a, RBP, slow->site.own);
    frame_put_thread(code->writer, SUB_LOAD, a, b, WORDS(low));
    frame_put_thread(code->writer, CMP_LOAD, a, b, WORDS(size));
    frame_put_jump_if(code->writer, IF_NOT_BELOW, &slow->uncounted);
}

/* c: what the thread's cells held. */
static void put_take_held(struct frame_code *code, const struct slow_site *slow)
{
    bool is_first = true;

    if (slow->held && slow->scratch.saves_c)
        frame_put_memory(code->writer, WIDE, STORE, slow->scratch.c, RSP, SAVED_C);
    for (unsigned i = 0; i < FRAME_CELLS; i++) {
        if (!(slow->held >> i & 1))
            continue;
        frame_put_cell(code->writer, is_first ? LOAD : ADD_LOAD, slow->scratch.c, i);
        frame_put_cell(code->writer, MOVE_WORD, 0, i);
        frame_put32(code->writer, 0);
        is_first = false;
    }
}

/* b: links of the context. */
static void put_instructions(struct frame_code *code, const struct slow_site *slow)
{
    unsigned b = slow->scratch.b, c = slow->scratch.c;

    if (!slow->held && slow->instructions)
        frame_put_add(code->writer, b, LINKS(instructions), slow->instructions);
    if (!slow->held)
        return;
    if (slow->instructions)
        frame_put_memory(code->writer, WIDE, LEA, c, c, slow->instructions);
    frame_put_memory(code->writer, WIDE, ADD_STORE, c, b, LINKS(instructions));
}

/* a: the shadow of where the stack pointer is; b: the context of the caller. */
static void put_own_context(struct frame_code *code, const struct frame_place *place,
                            struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    uint32_t key = frame_key_of(code->plan, place->member);

    if (place->slot.base == RETURN_SLOT_RBP)
        put_frame_test(code, slow);
    frame_put_registers(code->writer, STORE, RSP, a);
    frame_put_thread(code->writer, SUB_LOAD, a, b, WORDS(low));
    frame_put_thread(code->writer, CMP_LOAD, a, b, WORDS(size));
    frame_put_jump_if(code->writer, IF_NOT_BELOW, &slow->uncounted);
    frame_put_thread(code->writer, ADD_LOAD, a, b, WORDS(shadow));
    if (place->slot.base == RETURN_SLOT_RBP) {
        frame_put_registers(code->writer, STORE, RBP, b);
        frame_put_registers(code->writer, SUB_LOAD, b, RSP);
        frame_put_registers(code->writer, ADD_LOAD, b, a);
        frame_put_memory(code->writer, WIDE, LOAD, b, b, slow->site.own);
    } else {
        frame_put_memory(code->writer, WIDE, LOAD, b, a, slow->site.own);
    }
    frame_put_registers(code->writer, TEST, b, b);
    frame_put_jump_if(code->writer, IF_ZERO, &slow->uncounted);
    frame_put_memory(code->writer, 0, TAKES_WORD, 7, b, LINKS(key));
    frame_put32(code->writer, key);
    frame_put_jump_if(code->writer, IF_NOT_ZERO, &slow->uncounted);
}

/* Leaves in b what the link's displacement counts from. */
static int32_t put_link_place(struct frame_code *code, struct slow_site *slow)
{
    uint32_t link = slow->site.link, chunk;
    unsigned b = slow->scratch.b;

    if (link < TRACE_LINKS_INLINE)
        return LINKS(links[link]);
    chunk = (link - TRACE_LINKS_INLINE) / TRACE_LINKS_CHUNK;
    frame_put_memory(code->writer, WIDE, LOAD, b, b,
                     LINKS(links[TRACE_LINKS_INLINE]) + (int32_t)(sizeof(uint64_t) * chunk));
    frame_put_registers(code->writer, TEST, b, b);
    frame_put_jump_if(code->writer, IF_ZERO, &slow->uncounted);
    return LINKS(links[(link - TRACE_LINKS_INLINE) % TRACE_LINKS_CHUNK]);
}

static void put_count(struct frame_code *code, const struct frame_place *place,
                      struct slow_site *slow)
{
    unsigned a = slow->scratch.a, b = slow->scratch.b;
    int32_t link = put_link_place(code, slow);

    put_instructions(code, slow);
    slow->displacement = (uint32_t)link + LINK(word);
    frame_put_memory(code->writer, 0, GROUP_5, 0, b, link + LINK(word));
    frame_put_jump_if(code->writer, IF_NEGATIVE_NOT, &slow->counted);
    if (place->is_to_leaf)
        return;
    frame_put_memory(code->writer, WIDE, LOAD, b, b, link + LINK(callee));
    frame_put_memory(code->writer, WIDE, STORE, b, a, frame_callee_place(place->is_tail));
}

static void put_note(struct frame_code *code, const struct frame_place *place,
                     const struct scratch *scratch)
{
    frame_put_or(code->writer, scratch->b, place->is_tail ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT);
    frame_put_memory(code->writer, WIDE, STORE, scratch->b, scratch->a,
                     frame_callee_place(place->is_tail));
    frame_put_note(code->writer, place->is_tail, scratch);
}

static uint8_t flags_of(const struct frame_place *place)
{
    return (uint8_t)((place->is_tail ? FRAME_SITE_TAIL : 0) | (place->is_out ? FRAME_SITE_OUT : 0) |
                     (place->is_pointer ? FRAME_SITE_POINTER : 0) |
                     (place->slot_bound ? FRAME_SITE_BOUND : 0) |
                     (place->is_return ? FRAME_SITE_RETURN : 0) |
                     (place->counts ? FRAME_SITE_COUNTS : 0) |
                     (place->slot.base == RETURN_SLOT_RBP ? FRAME_SITE_RBP : 0));
}

bool frame_code_has_room(const struct frame_code *code, uint32_t member)
{
    return code->links[copy_plan_family(code->plan, member)] < MOST_LINKS;
}

/* Behind what found the caller's context. */
static void put_way(struct frame_code *code, const struct frame_place *place,
                    struct slow_site *slow)
{
    if (place->is_pointer) {
        int32_t first = put_link_place(code, slow);

        put_instructions(code, slow);
        slow->pointer = frame_pointer_put(code->writer, &slow->scratch, first, place->is_tail);
    } else if (place->is_out) {
        put_instructions(code, slow);
        if (!place->is_return)
            put_note(code, place, &slow->scratch);
    } else {
        put_count(code, place, slow);
    }
}

void frame_code_put_site(struct frame_code *code, const struct frame_place *place)
{
    bool is_by_register = place->is_pointer || place->slot_bound;
    struct slow_site slow = {
        .scratch = choose_scratch(place->dead, is_by_register),
        .bound = {place->slot_bound, place->callee},
        .member = place->member,
        .original = (uint32_t)(place->original - code->functions->items[place->member].address),
        .instructions = place->instructions,
        .held = place->held,
        .is_within = place->is_within,
        .site = {.own = (int32_t)place->slot.offset, .flags = flags_of(place)},
    };
    uint32_t *links = &code->links[copy_plan_family(code->plan, place->member)];
    bool is_short = !place->is_pointer && !place->held && /* less than 128 bytes */
                    (place->is_out || place->slot.base != RETURN_SLOT_RBP);
    uint64_t begin = copy_here(code->writer);
    size_t over;

    if (place->is_pointer)
        *links = (*links + POINTER_LINKS - 1) / POINTER_LINKS * POINTER_LINKS;
    slow.site.link = (uint16_t)*links;
    *links += place->is_pointer ? POINTER_LINKS : !place->is_out;
    if (place->held)
        choose_third(&slow.scratch, place->dead, is_by_register);
    put_saves(code, &slow.scratch);
    put_take_held(code, &slow);
    over = put_words_test(code, slow.scratch.b, is_short);
    put_own_context(code, place, &slow);
    put_way(code, place, &slow);
    if (place->slot_bound)
        copy_put_entry(code->writer, "\x4c\x8d\x1d", 3, place->callee); /* lea r11, [copy] */
    land_words_test(code, over, is_short);
    put_restores(code, &slow.scratch);
    slow.call = (uint32_t)code->writer->stubs->code.size;
    copy_set_add_stretch(code->writer->set, begin, copy_here(code->writer));
    code->slow = memory_grow(code->slow, code->slow_count, &code->slow_room, sizeof(*code->slow));
    code->slow[code->slow_count++] = slow;
}

void frame_code_put_key(struct frame_code *code, uint32_t member)
{
    const struct function *function = &code->functions->items[member];
    uint64_t body = code->writer->stubs->address + function->body;
    struct frame_key key = {.index = member | (function->is_leaf ? STUB_LEAF : 0),
                            .key = frame_key_of(code->plan, member)};

    code->keys[member] = copy_here(code->writer);
    key.body = (int32_t)(body - code->keys[member]);
    copy_put_header_distance(code->writer);
    copy_put(code->writer, (const uint8_t *)&key + sizeof(key.header),
             sizeof(key) - sizeof(key.header));
}

/* The function that a member is one of. */
static uint64_t key_of_member(const struct frame_code *code, uint32_t member)
{
    const struct function *function = &code->functions->items[member];

    if (!code->keys[member] && function->owner)
        member = function->owner - 1;
    if (!code->keys[member])
        member = copy_plan_family(code->plan, member);
    return code->keys[member];
}

/* Slow sites of a member follow one another. */
static void note_slow_site(const struct frame_code *code, const struct slow_site *slow)
{
    struct copy_set *set = code->writer->set;
    uint64_t here = copy_here(code->writer);
    struct copy *last = set->slow_count ? &set->slow[set->slow_count - 1] : NULL;

    if (!last || last->function != slow->member) {
        set->slow = memory_grow(set->slow, set->slow_count, &set->slow_room, sizeof(*last));
        last = &set->slow[set->slow_count++];
        *last = (struct copy){.address = here,
                              .function = slow->member,
                              .first_move = set->move_count,
                              .is_slow = true};
    }
    copy_set_add_move(set, set->move_count, slow->original, here - last->address);
    last->move_count++;
}

/* What is to be counted is put into a cell. */
static void put_uncounted(struct frame_code *code, const struct slow_site *slow, uint64_t to_slow)
{
    if (!slow->instructions && !slow->held)
        return;
    frame_land(code->writer, slow->uncounted);
    if (slow->held)
        frame_put_cell(code->writer, ADD_STORE, slow->scratch.c, 0);
    if (slow->instructions)
        frame_put_cell_add(code->writer, 0, slow->instructions);
    frame_put_jump(code->writer, to_slow);
}

/* call [on_site], with what it is to know behind it. */
static void put_call(struct frame_code *code, struct slow_site *slow, uint32_t back)
{
    copy_put_with_word(code->writer, "\xff\x15", 2, offsetof(struct trace_header, on_site));
    slow->site.call = (int32_t)(back - (uint32_t)code->writer->stubs->code.size);
    slow->site.self = (int32_t)(key_of_member(code, slow->member) - copy_here(code->writer));
    copy_put(code->writer, &slow->site, sizeof(slow->site));
}

#define RED_ZONE 128

/* Where the function may have data below its stack pointer. */
static void put_call_within(struct frame_code *code, struct slow_site *slow)
{
    if (!(slow->site.flags & FRAME_SITE_RBP))
        slow->site.own += RED_ZONE;
    frame_put_memory(code->writer, WIDE, LEA, RSP, RSP, -RED_ZONE);
    put_call(code, slow,
             (uint32_t)code->writer->stubs->code.size + CALL_BY_WORD + sizeof(slow->site));
    frame_put_memory(code->writer, WIDE, LEA, RSP, RSP, RED_ZONE);
    frame_put_jump(code->writer, code->writer->stubs->address + slow->call);
}

static void put_slow_site(struct frame_code *code, struct slow_site *slow)
{
    uint64_t to_slow;

    if (slow->site.flags & FRAME_SITE_POINTER) {
        frame_pointer_put_rest(code->writer, &slow->pointer);
    } else if (slow->counted != NO_FIELD) {
        frame_land(code->writer, slow->counted);
        frame_put_memory(code->writer, 0, GROUP_5, 1, slow->scratch.b, (int32_t)slow->displacement);
    }
    to_slow = copy_here(code->writer);
    frame_land(code->writer, slow->to_slow);
    if (!slow->instructions && !slow->held)
        frame_land(code->writer, slow->uncounted);
    put_restores(code, &slow->scratch);
    if (slow->is_within)
        put_call_within(code, slow);
    else
        put_call(code, slow, slow->call);
    if (slow->site.flags & FRAME_SITE_BOUND) {
        frame_put32(code->writer,
                    (uint32_t)(slow->bound.slot - (copy_here(code->writer) - sizeof(slow->site))));
        copy_put_entry(code->writer, "", 0, slow->bound.callee);
    }
    put_uncounted(code, slow, to_slow);
}

static void fill_in_links(struct frame_code *code)
{
    for (uint32_t member = 0; member < code->functions->count; member++) {
        size_t at = code->keys[member] - code->writer->stubs->address;
        uint32_t links = code->links[copy_plan_family(code->plan, member)];

        if (code->keys[member])
            memcpy(code->writer->stubs->code.bytes + at + offsetof(struct frame_key, links), &links,
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
