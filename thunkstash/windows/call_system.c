#include "thunkstash/windows/call_system.h"

#include "save_area.h"
#include "thunkstash/windows/teb.h"

#define XSAVE_HEADER      512
#define XSAVE_HEADER_SIZE 64
#define XSAVE_ALIGNMENT   64
#define OSXSAVE           (1u << 27) /* of cpuid 1, ecx */
#define VECTOR_STATES     0xe7u      /* x87, SSE, AVX, AVX-512: all that fits VECTOR_AREA */

static uint32_t states; /* 0: the processor has fxsave only */

void call_system_prepare(void)
{
    uint32_t eax = 1, ebx, ecx = 0, edx, xcr0;

    __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    if (!(ecx & OSXSAVE))
        return;
    __asm__("xgetbv" : "=a"(xcr0), "=d"(edx) : "c"(0));
    states = xcr0 & VECTOR_STATES;
}

static char *aligned(struct kept *kept)
{
    return (char *)(((uintptr_t)kept->area + XSAVE_ALIGNMENT - 1) &
                    ~(uintptr_t)(XSAVE_ALIGNMENT - 1));
}

void system_keep(struct kept *kept)
{
    char *area = aligned(kept);

    kept->last_error = teb_read_32(TEB_LAST_ERROR);
    kept->last_status = teb_read_32(TEB_LAST_STATUS);
    if (!states) {
        __asm__ volatile(FXSAVE " (%0)" : : "r"(area) : "memory");
        return;
    }
    for (int i = 0; i < XSAVE_HEADER_SIZE; i += 8)
        *(volatile uint64_t *)(area + XSAVE_HEADER + i) = 0;
    __asm__ volatile(XSAVE " (%0)" : : "r"(area), "a"(states), "d"(0) : "memory");
}

void system_restore(struct kept *kept)
{
    char *area = aligned(kept);

    if (states)
        __asm__ volatile(XRSTOR " (%0)" : : "r"(area), "a"(states), "d"(0) : "memory");
    else
        __asm__ volatile(FXRSTOR " (%0)" : : "r"(area) : "memory");
    teb_write_32(TEB_LAST_STATUS, kept->last_status);
    teb_write_32(TEB_LAST_ERROR, kept->last_error);
}
