/*
 * C++ by gcc and clang for i386, and Rust by gcc's linker, unwind by .eh_frame sections, which each
 * image registers with libgcc. The thunks have such a section, too, which says what
 * linux/i386/thunks.S says:
 *
 *      +-----+-----------------------------------------------------+-----+---+
 *      | CIE | "S"; CFA = esp; eip = { breg8 K - 12; deref } - 1    | FDE | 0 |
 *      +-----+-----------------------------------------------------+-----+---+
 *                                                                    start, size of the range
 */
#include "thunkstash/windows/i386/dwarf.h"

#include <stddef.h>
#include <stdint.h>

#include "support/windows/ntdll.h"
#include "thunkstash/layout.h"

#define LIBGCC          L"libgcc_s_dw2-1.dll"
#define REGISTER        "__register_frame_info"
#define THUNK_TO_RECORD (RECORD_DISTANCE - THUNK_RETURN)

/* A number of three bytes, each with 7 bits of it. */
#define LEB(number) ((number)&127) | 128, ((number) >> 7 & 127) | 128, (number) >> 14

enum { ESP = 4, EIP = 8 };
enum {
    DEF_CFA = 0x0c,
    VAL_EXPRESSION = 0x16,
    BREG8 = 0x78,
    DEREF = 0x06,
    LIT1 = 0x31,
    MINUS = 0x1c
};

static struct {
    uint32_t cie_size, cie_id;
    uint8_t version;
    char augmentation[2];
    uint8_t code_factor, data_factor, return_column;
    uint8_t rules[14];
    uint32_t fde_size, cie_distance; /* from here to the CIE */
    uint32_t start, size;
    uint32_t end;
} frames = {
    .cie_size = 24,
    .version = 1,
    .augmentation = "S", /* as a signal's frame: docs/agent.md */
    .code_factor = 1,
    .data_factor = 0x7c, /* -4 */
    .return_column = EIP,
    .rules = {DEF_CFA, ESP, 0, VAL_EXPRESSION, EIP, 7, BREG8, LEB(THUNK_TO_RECORD), DEREF, LIT1,
              MINUS},
    .fde_size = 12,
    .cie_distance = 32,
    .size = STASH_RANGE_SIZE,
};

_Static_assert(sizeof(frames) == 4 + 24 + 4 + 12 + 4 &&
                   offsetof(__typeof__(frames), cie_distance) == 32,
               "nothing lies between");
_Static_assert(THUNK_TO_RECORD >> 14 < 64, "the last byte of a positive number");

static uint64_t object[8]; /* libgcc's own */

void dwarf_tell(const char *range)
{
    HMODULE libgcc = GetModuleHandleW(LIBGCC);
    FARPROC found = libgcc ? GetProcAddress(libgcc, REGISTER) : NULL;

    if (!found)
        return;
    frames.start = (uintptr_t)range;
    ((void (*)(const void *, void *))(void (*)(void))found)(&frames, object);
}
