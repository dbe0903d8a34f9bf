#include "support/filter_program.h"

#include <stdbool.h>
#include <string.h>

#define WRONG SECCOMP_RET_KILL_PROCESS

struct machine {
    uint32_t accumulator, index;
    uint32_t memory[BPF_MEMWORDS];
};

static uint32_t word_of(const struct seccomp_data *data, uint32_t at)
{
    uint32_t word = 0;

    if (at <= sizeof(*data) - sizeof(word))
        memcpy(&word, (const char *)data + at, sizeof(word));
    return word;
}

static uint32_t loaded(const struct machine *machine, const struct sock_filter *at,
                       const struct seccomp_data *data)
{
    switch (BPF_MODE(at->code)) {
    case BPF_IMM:
        return at->k;
    case BPF_ABS:
        return word_of(data, at->k);
    case BPF_LEN:
        return sizeof(*data);
    default:
        return machine->memory[at->k % BPF_MEMWORDS];
    }
}

static uint32_t calculated(uint32_t a, uint16_t operation, uint32_t b)
{
    switch (operation) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        return a / b;
    case BPF_OR:
        return a | b;
    case BPF_AND:
        return a & b;
    case BPF_LSH:
        return a << (b & 31);
    case BPF_RSH:
        return a >> (b & 31);
    case BPF_XOR:
        return a ^ b;
    default:
        return -a;
    }
}

static bool is_true(uint32_t a, uint16_t operation, uint32_t b)
{
    switch (operation) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default:
        return (a & b) != 0;
    }
}

/* How many instructions are passed over. */
static uint32_t distance(const struct machine *machine, const struct sock_filter *at,
                         uint32_t operand)
{
    if (BPF_OP(at->code) == BPF_JA)
        return at->k;
    return is_true(machine->accumulator, BPF_OP(at->code), operand) ? at->jt : at->jf;
}

/* All but jumps and returns. */
static void step(struct machine *machine, const struct sock_filter *at, uint32_t operand,
                 const struct seccomp_data *data)
{
    switch (BPF_CLASS(at->code)) {
    case BPF_LD:
        machine->accumulator = loaded(machine, at, data);
        break;
    case BPF_LDX:
        machine->index = loaded(machine, at, data);
        break;
    case BPF_ST:
        machine->memory[at->k % BPF_MEMWORDS] = machine->accumulator;
        break;
    case BPF_STX:
        machine->memory[at->k % BPF_MEMWORDS] = machine->index;
        break;
    case BPF_ALU:
        machine->accumulator = calculated(machine->accumulator, BPF_OP(at->code), operand);
        break;
    default:
        if (BPF_MISCOP(at->code) == BPF_TAX)
            machine->index = machine->accumulator;
        else
            machine->accumulator = machine->index;
        break;
    }
}

/* The kernel ends a program there, with the answer 0. */
static bool divides_by_nothing(const struct sock_filter *at, uint32_t operand)
{
    return BPF_CLASS(at->code) == BPF_ALU && BPF_OP(at->code) == BPF_DIV && !operand;
}

/* Jumps lead forwards alone, so it ends. */
uint32_t filter_program_run(const struct sock_filter *program, uint32_t length,
                            const struct seccomp_data *data)
{
    struct machine machine = {0};

    for (uint64_t i = 0; i < length; i++) {
        const struct sock_filter *at = &program[i];
        uint32_t operand = BPF_SRC(at->code) == BPF_X ? machine.index : at->k;
        uint16_t class = BPF_CLASS(at->code);

        if (class == BPF_RET)
            return BPF_RVAL(at->code) == BPF_A ? machine.accumulator : at->k;
        if (divides_by_nothing(at, operand))
            return 0;
        if (class == BPF_JMP)
            i += distance(&machine, at, operand);
        else
            step(&machine, at, operand, data);
    }
    return WRONG;
}
