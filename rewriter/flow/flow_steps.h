/*
 * A function's instructions as far as they move values that may be addresses of code: what an
 * indirect jump goes by. Compilers make such a value in few ways. All other instructions only say
 * which registers they change.
 */
#ifndef UMBRA_REWRITER_FLOW_STEPS_H
#define UMBRA_REWRITER_FLOW_STEPS_H

#include "rewriter/flow/flow_body.h"

#define REGISTERS   16
#define NO_REGISTER REGISTERS
#define X86_RSP     4
#define X86_RBP     5

/*      to      register written      size    bytes of what is read
        from    register read         number  the one in the instruction            */
enum step_kind {
    STEP_OTHER,
    STEP_ADDRESS,     /* lea to, [memory] */
    STEP_LOAD,        /* mov, movzx, movsx, movsxd */
    STEP_STORE,       /* mov [memory], from; from may be none */
    STEP_MOVE,        /* between registers */
    STEP_NUMBER,      /* mov to, number; xor to, to */
    STEP_ADD,         /* add to, from: of 64 bits */
    STEP_ADD_LOAD,    /* add to, [memory]: of 64 bits */
    STEP_ADD_NUMBER,  /* add or sub to, number: of 64 bits */
    STEP_MASK,        /* and to, number */
    STEP_SHIFT_LEFT,  /* shl to, number */
    STEP_SHIFT_RIGHT, /* shr to, number */
    STEP_SIGN,        /* cdqe */
    STEP_COMPARE,     /* cmp from, number */
    STEP_COMPARE_LOAD,
    STEP_CHOOSE, /* cmov to, from */
    STEP_PUSH,   /* from, or none */
    STEP_POP,
    STEP_LEAVE,
    STEP_CALL,
    STEP_JUMP,      /* jmp from */
    STEP_JUMP_LOAD, /* jmp [memory] */
};

struct step {
    uint32_t offset;
    uint8_t length;
    uint8_t kind;      /* enum step_kind */
    uint8_t flow;      /* enum flow_kind */
    uint8_t condition; /* of FLOW_CONDITION: the low half of its opcode */
    uint8_t to, from;
    uint8_t size, to_size;
    bool is_signed;
    bool writes_flags;
    bool has_memory, writes_memory;
    uint8_t base, index, scale; /* of the operand in memory */
    uint8_t memory_size;        /* bytes; 255: as many or more */
    uint16_t writes;            /* a bit for each register that STEP_OTHER changes */
    uint16_t clears;            /* of these, those whose upper half becomes 0 */
    int64_t displacement;       /* an address, if it is relative to rip */
    int64_t number;             /* or where a branch or call leads, as an offset */
};

struct flow_steps {
    struct step *items;
    size_t count;
};

/* False if they are too many. */
bool flow_steps_read(struct flow_steps *steps, const struct flow_body *body);
void flow_steps_free(struct flow_steps *steps);

#endif
