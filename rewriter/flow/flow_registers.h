/*
 * Which general registers may be overwritten just before a function is called or left: those whose
 * values nobody reads any more, however control goes on from there.
 *
 * Looks through the flow of functions that are certain (flow.h), and through all of these together:
 * compilers keep values in r10, say, across the call of a function that they know not to touch it.
 * What calls it, too, tells what a function has to leave as it is.
 *
 *      f:  mov  r10, [rsi]         r10 is alive before the call and at g's end,
 *          call g                  so it is at the call of h in g
 *          add  rax, r10
 *
 *      g:  mov  ecx, 1             ecx is dead here: h writes it before it reads it
 *          call h
 *          ret
 *
 * Code that is not among these functions is taken to keep to the ABI, if it is called by a pointer
 * or in another image. If it is the image's own, it is taken to read all and to need all that there
 * was. Registers that a callee keeps are alive always: unwinders read them.
 */
#ifndef UMBRA_REWRITER_FLOW_REGISTERS_H
#define UMBRA_REWRITER_FLOW_REGISTERS_H

#include "rewriter/flow/flow.h"

/* What is looked at: borrowed. */
struct flow_registers_scope {
    const struct flow_source *source;
    /* A number for each function of the list: enum flow_doubt, or a higher one. No two that are
       certain overlap, and who enters their middles is certain, too. */
    const uint8_t *doubts;
    const struct flow_table *tables; /* all that these have; ascending by jump */
    size_t table_count;
    bool keeps_blocks; /* what is dead is also told of basic blocks, and of returns */
};

/* {0} is an empty one: nothing is known to be dead. flow_registers_free ends it. */
struct flow_registers {
    uint64_t base;
    struct flow_register_site {
        uint32_t offset; /* of the instruction, from base: ascending */
        uint16_t dead, at_target;
    } * sites;
    size_t count, room;
};

/* Finds nothing where it would take too much. */
void flow_registers_find(struct flow_registers *registers,
                         const struct flow_registers_scope *scope);
void flow_registers_free(struct flow_registers *registers);

/*
 * The registers that are dead in front of the call at an address, or of a jump there that leaves
 * its function: a set, as instructions encode them: rax 1, rcx 2, rdx 4, rsi 0x40 and so on. 0 for
 * anything else, but for where blocks begin, and returns, if these are kept.
 */
uint16_t flow_registers_dead(const struct flow_registers *registers, uint64_t address);

/* What flow_registers_dead has, once it is certain that a conditional jump is taken: no less. */
uint16_t flow_registers_dead_taken(const struct flow_registers *registers, uint64_t address);

#endif
