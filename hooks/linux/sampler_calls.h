/* What the agent does before the C library's functions of sampler_calls.inc, which it leaves the
   arguments of. What may not be readable is left to the kernel to complain about. */
#ifndef UMBRA_HOOKS_LINUX_SAMPLER_CALLS_H
#define UMBRA_HOOKS_LINUX_SAMPLER_CALLS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#define CALLED_BY_ASSEMBLY __attribute__((visibility("hidden")))

CALLED_BY_ASSEMBLY bool umbra_is_sampler_action(void);
CALLED_BY_ASSEMBLY void umbra_before_altstack(uintptr_t stack);
CALLED_BY_ASSEMBLY void umbra_after_hold(void);
CALLED_BY_ASSEMBLY void umbra_after_spawn(void);
CALLED_BY_ASSEMBLY void umbra_before_jump(const struct __jmp_buf_tag *to);
CALLED_BY_ASSEMBLY void umbra_before_sigstack(uintptr_t stack);
CALLED_BY_ASSEMBLY void umbra_before_mask(int how, const uint64_t *set);
CALLED_BY_ASSEMBLY void umbra_after_mask(int how, const uint64_t *set, uint64_t *old);
CALLED_BY_ASSEMBLY void umbra_before_sigsetmask(int set);
CALLED_BY_ASSEMBLY void umbra_before_sigrelse(int number);
CALLED_BY_ASSEMBLY void umbra_before_look(void);
CALLED_BY_ASSEMBLY void umbra_before_execute(void);
CALLED_BY_ASSEMBLY void umbra_before_wait(uintptr_t set);
CALLED_BY_ASSEMBLY void umbra_before_signalfd(int file, uintptr_t set);

#endif
