/* Filters made by chance are run here and by the kernel: the answers are the same. */
#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/filter_program.h"

#include <cmocka.h>

#define FILTERS 400
#define STEPS   24
#define NUMBER  499 /* no system call */
#define WORDS   16  /* of struct seccomp_data */

static const uint64_t arguments[6] = {1, 0xffffffff00000002, 3, 0, 0x8000000000000000, 77};

/* All but that call is allowed; of the answers to it, errno shows the low bits. */
static const struct sock_filter front[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NUMBER, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_filter end[] = {
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
    BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO | 0x100),
    BPF_STMT(BPF_RET | BPF_A, 0),
};

#define FRONT  (sizeof(front) / sizeof(*front))
#define END    (sizeof(end) / sizeof(*end))
#define LENGTH (FRONT + BPF_MEMWORDS + STEPS + END)

static unsigned chance(unsigned below)
{
    return (unsigned)rand() % below;
}

static struct sock_filter calculation(void)
{
    static const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
                                          BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    uint16_t operation = operations[chance(sizeof(operations) / sizeof(*operations))];

    if (operation == BPF_NEG)
        return (struct sock_filter)BPF_STMT(BPF_ALU | BPF_NEG, 0);
    if (chance(2))
        return (struct sock_filter)BPF_STMT(BPF_ALU | operation | BPF_X, 0);
    return (struct sock_filter)BPF_STMT(BPF_ALU | operation | BPF_K, 1 + chance(31));
}

static struct sock_filter jump(unsigned left)
{
    static const uint16_t tests[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint16_t test = tests[chance(4)] | (chance(2) ? BPF_K : BPF_X);

    if (chance(5) == 0)
        return (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, chance(left));
    return (struct sock_filter)BPF_JUMP(BPF_JMP | test, chance(100), (uint8_t)chance(left),
                                        (uint8_t)chance(left));
}

static struct sock_filter load(void)
{
    switch (chance(6)) {
    case 0:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, (unsigned)rand());
    case 1:
        return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, chance(40));
    case 2:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
    case 3:
        return (struct sock_filter)BPF_STMT((chance(2) ? BPF_LD : BPF_LDX) | BPF_MEM,
                                            chance(BPF_MEMWORDS));
    default: /* not the instruction pointer, which differs */
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                            4 * (chance(2) ? chance(2) : 4 + chance(WORDS - 4)));
    }
}

static struct sock_filter step(unsigned left)
{
    switch (chance(5)) {
    case 0:
        return (struct sock_filter)BPF_STMT(chance(2) ? BPF_ST : BPF_STX, chance(BPF_MEMWORDS));
    case 1:
        return (struct sock_filter)BPF_STMT(BPF_MISC | (chance(2) ? BPF_TAX : BPF_TXA), 0);
    case 2:
        return jump(left);
    case 3:
        return calculation();
    default:
        return load();
    }
}

/* The kernel takes no program that may load from memory what it has not stored. */
static void make(struct sock_filter program[LENGTH])
{
    unsigned at = 0;

    for (unsigned i = 0; i < FRONT; i++)
        program[at++] = front[i];
    for (unsigned i = 0; i < BPF_MEMWORDS; i++)
        program[at++] = (struct sock_filter)BPF_STMT(BPF_ST, i);
    for (unsigned i = 0; i < STEPS; i++)
        program[at++] = step(STEPS - i);
    for (unsigned i = 0; i < END; i++)
        program[at++] = end[i];
}

/* What is at the exit status' place for a process that the filter killed. */
#define KILLED 0x200

static int answer_of_kernel(struct sock_filter *program)
{
    const struct sock_fprog whole = {LENGTH, program};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) < 0)
            _exit(0xff);
        syscall(NUMBER, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
        _exit(errno - 0x100 == 0xff ? 0xfe : errno - 0x100);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? KILLED : WEXITSTATUS(status);
}

static int answer_here(const struct sock_filter *program)
{
    struct seccomp_data data = {.nr = NUMBER, .arch = AUDIT_ARCH_X86_64};
    uint32_t answer;

    for (unsigned i = 0; i < 6; i++)
        data.args[i] = arguments[i];
    answer = filter_program_run(program, LENGTH, &data);
    if (!(answer & SECCOMP_RET_ERRNO))
        return KILLED;
    answer &= 0xff;
    return answer == 0xff ? 0xfe : (int)answer;
}

static void answers_as_the_kernel(void **state)
{
    struct sock_filter program[LENGTH];
    unsigned seed = (unsigned)time(NULL);

    (void)state;
    printf("seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < FILTERS; i++) {
        make(program);
        assert_int_equal(answer_here(program), answer_of_kernel(program));
    }
}

static void a_program_without_an_end_kills(void **state)
{
    const struct sock_filter program[] = {BPF_STMT(BPF_MISC | BPF_TAX, 0)};
    const struct seccomp_data data = {0};

    (void)state;
    assert_int_equal(filter_program_run(program, 1, &data), SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_the_kernel),
        cmocka_unit_test(a_program_without_an_end_kills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
