#include "rewriter/copy/frame_pointers.h"

#include "trace/trace_format.h"

#define SAVED_SHADOW (-40)
#define SAVED_TARGET (-48)

/* To target `number`, which is the one in r11. */
static void put_known_target(struct copy_writer *writer, const struct pointer_site *site,
                             unsigned number, int32_t place, uint32_t *counted)
{
    unsigned a = site->scratch.a, b = site->scratch.b;
    int32_t link = site->first + POINTER(links[number]);

    frame_put_memory(writer, 0, GROUP_5, 0, b, link + LINK(word));
    frame_put_jump_if(writer, IF_NEGATIVE_NOT, counted);
    frame_put_memory(writer, WIDE, LOAD, R11, b, link + LINK(callee));
    frame_put_memory(writer, WIDE, STORE, R11, a, place);
    frame_put_memory(writer, WIDE, LOAD, R11, b, site->first + POINTER(go[number]));
}

struct pointer_site frame_pointer_put(struct copy_writer *writer, const struct scratch *scratch,
                                      int32_t first, bool is_tail)
{
    struct pointer_site site = {.scratch = *scratch, .first = first, .is_tail = is_tail};

    frame_put_memory(writer, WIDE, CMP_LOAD, R11, scratch->b, first + POINTER(targets[0]));
    frame_put_jump_if(writer, IF_NOT_ZERO, &site.second);
    put_known_target(writer, &site, 0, frame_callee_place(is_tail), &site.counted);
    site.join = copy_here(writer);
    frame_put_note(writer, is_tail, scratch);
    site.noted = copy_here(writer);
    return site;
}

/* a: where the table has the home of this site's target, which is in r11. Returns a jump, taken
   where there is no table. */
static size_t put_home(struct copy_writer *writer, const struct pointer_site *site)
{
    unsigned a = site->scratch.a, b = site->scratch.b;

    frame_put_memory(writer, WIDE, STORE, a, RSP, SAVED_SHADOW);
    frame_put_memory(writer, WIDE, LEA, b, b, site->first);
    frame_put_registers(writer, MULTIPLY, a, R11);
    frame_put32(writer, FURTHER_HASH);
    frame_put_memory(writer, WIDE, STORE, R11, RSP, SAVED_TARGET);
    frame_put_registers(writer, ADD_LOAD, a, b);
    frame_put_header_word(writer, R11, offsetof(struct trace_header, words));
    frame_put8(writer, IN_THREAD);
    frame_put_memory(writer, 0, AND_LOAD, a, R11, WORDS(further_mask));
    frame_put_thread(writer, LOAD, R11, R11, WORDS(further));
    frame_put_registers(writer, TEST, R11, R11);
    return frame_put_short(writer, JUMP_EQUAL);
}

/* Looks into the table of further targets. What is not known goes on behind this, as it was. */
static void put_further(struct copy_writer *writer, const struct pointer_site *site,
                        uint32_t *to_slow)
{
    unsigned a = site->scratch.a, b = site->scratch.b;
    size_t unknown[3], other, found, its_turn;

    unknown[0] = put_home(writer, site);
    frame_put_registers(writer, ADD_LOAD, a, R11);
    frame_put_memory(writer, WIDE, LOAD, R11, RSP, SAVED_TARGET);
    frame_put_memory(writer, WIDE, CMP, b, a, 0);
    other = frame_put_short(writer, JUMP_NOT_EQUAL);
    frame_put_memory(writer, WIDE, CMP, R11, a, FURTHER(target));
    found = frame_put_short(writer, JUMP_EQUAL);
    frame_land_short(writer, other);
    frame_put_memory(writer, WIDE, CMP, b, a, FURTHER_SIZE);
    unknown[1] = frame_put_short(writer, JUMP_NOT_EQUAL);
    frame_put_memory(writer, WIDE, CMP, R11, a, FURTHER_SIZE + FURTHER(target));
    unknown[2] = frame_put_short(writer, JUMP_NOT_EQUAL);
    frame_put_memory(writer, WIDE, LEA, a, a, FURTHER_SIZE);
    frame_land_short(writer, found);
    frame_put_memory(writer, WIDE, LOAD, R11, a, FURTHER(link));
    frame_put_memory(writer, WIDE, LOAD, b, a, FURTHER(go));
    frame_put_memory(writer, WIDE, LOAD, a, RSP, SAVED_SHADOW);
    frame_put_memory(writer, 0, GROUP_5, 0, R11, LINK(word));
    its_turn = frame_put_short(writer, JUMP_NOT_NEGATIVE);
    frame_put_memory(writer, WIDE, LOAD, R11, R11, LINK(callee));
    frame_put_memory(writer, WIDE, STORE, R11, a, frame_callee_place(false));
    frame_put_registers(writer, STORE, b, R11);
    frame_put_jump(writer, site->noted);
    frame_land_short(writer, its_turn);
    frame_put_memory(writer, 0, GROUP_5, 1, R11, LINK(word));
    frame_put_memory(writer, WIDE, LOAD, R11, RSP, SAVED_TARGET);
    frame_put_jump_on(writer, to_slow);
    for (size_t i = 0; i < 3; i++)
        frame_land_short(writer, unknown[i]);
    frame_put_memory(writer, WIDE, LOAD, R11, RSP, SAVED_TARGET);
    frame_put_memory(writer, WIDE, LOAD, a, RSP, SAVED_SHADOW);
    frame_put_memory(writer, WIDE, LEA, b, b, -site->first);
}

/* Puts the code for r11 that is not target 0. To the slow path where it is none that is known, and
   there is room for it or another one's, and where it is the turn of a further one. */
static void put_second(struct copy_writer *writer, const struct pointer_site *site,
                       uint32_t *counted, uint32_t *to_slow)
{
    unsigned a = site->scratch.a, b = site->scratch.b;
    int32_t place = frame_callee_place(site->is_tail);
    uint8_t bits = site->is_tail ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT;
    size_t other;

    frame_put_memory(writer, WIDE, CMP_LOAD, R11, b, site->first + POINTER(targets[1]));
    other = frame_put_short(writer, JUMP_NOT_EQUAL);
    put_known_target(writer, site, 1, place, counted);
    frame_put_jump(writer, site->join);
    frame_land_short(writer, other);
    if (!site->is_tail)
        put_further(writer, site, to_slow);
    frame_put_memory(writer, WIDE, GROUP_8_BITS, 7, b,
                     site->first + POINTER(targets[1])); /* cmp qword [..], 0 */
    frame_put8(writer, 0);
    frame_put_jump_if(writer, IF_ZERO, to_slow);
    frame_put_memory(writer, 0, GROUP_4, 1, b, LINKS(unknown));
    frame_put_jump_if(writer, IF_NEGATIVE, to_slow);
    frame_put_or(writer, b, bits);
    frame_put_memory(writer, WIDE, STORE, b, a, place);
    frame_put_jump(writer, site->join);
}

void frame_pointer_put_rest(struct copy_writer *writer, const struct pointer_site *site)
{
    uint32_t counted = NO_FIELD, to_slow = NO_FIELD;
    size_t over;

    frame_land(writer, site->second);
    put_second(writer, site, &counted, &to_slow);
    frame_land(writer, counted);
    frame_put_memory(writer, 0, GROUP_5, 1, site->scratch.b, site->first + POINTER(links[1].word));
    over = frame_put_short(writer, JUMP);
    frame_land(writer, site->counted);
    frame_put_memory(writer, 0, GROUP_5, 1, site->scratch.b, site->first + POINTER(links[0].word));
    frame_land_short(writer, over);
    frame_land(writer, to_slow);
}
