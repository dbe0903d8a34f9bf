/*
 * Calls to Windows out of a hook. By its calling convention, functions of Windows may change what
 * the hook has to keep: the vector registers in which the program passes arguments and results, and
 * the thread's last error and last status. CALL_SYSTEM keeps them around one expression:
 *
 *      status = CALL_SYSTEM(NtClose(handle));
 *
 * The agent's own code is compiled without vector registers. The area takes 2.7 KiB of stack.
 */
#ifndef UMBRA_THUNKSTASH_WINDOWS_CALL_SYSTEM_H
#define UMBRA_THUNKSTASH_WINDOWS_CALL_SYSTEM_H

#include <stdint.h>

#define VECTOR_AREA                                                                                \
    2752 /* legacy area, header, and AVX to AVX-512 in the standard format; + 64                   \
          */

struct kept {
    uint32_t last_error, last_status;
    char area[VECTOR_AREA];
};

/* Before the first of the others: what this processor has to keep. */
void call_system_prepare(void);
void system_keep(struct kept *kept);
void system_restore(struct kept *kept);

#define CALL_SYSTEM(expression)                                                                    \
    ({                                                                                             \
        struct kept kept_;                                                                         \
        system_keep(&kept_);                                                                       \
        __typeof__(expression) result_ = (expression);                                             \
        system_restore(&kept_);                                                                    \
        result_;                                                                                   \
    })

#endif
