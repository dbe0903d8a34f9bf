/*
 * What unwinders are told of a thunk. Seen from the callee, the frame above is at T, the thunk's
 * return address, and is empty; R is the stack pointer after the callee's `ret`, and [R - 8] still
 * holds T. P is the thunk's record, P = T + a constant, and holds the true return address and, 24
 * bytes behind it, R: as a machine frame has rip and rsp. Windows' codes, in order:
 *
 *      UWOP_SET_FPREG           rsp = R - 16        frame register rsp, offset 16
 *      UWOP_ALLOC_SMALL 8       rsp = R - 8
 *      UWOP_PUSH_NONVOL rsp     rsp = [R - 8] = T, then + 8
 *      UWOP_ALLOC_LARGE         rsp = P             + (P - T - 8)
 *      UWOP_PUSH_MACHFRAME      rip = [P], rsp = [P + 24]
 *
 * Version 2, since for version 1 the unwinder reads the code at T in search of an epilogue. One
 * entry serves the whole range, all its blocks, mapped or not, and every instruction of a thunk:
 * all are executed with rsp = R and T at [R - 8]. It stands in front of the blocks:
 *
 *      range - 64 KiB  +-------------------------+
 *                      | struct range_unwind     |  one page, read only
 *      range           +-------------------------+
 *                      | block 0, block 1 …      |  each reserved for itself
 *                      +-------------------------+
 */
#include "thunkstash/windows/range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/windows/ntdll.h"
#include "thunkstash/pages.h"
#include "thunkstash/stash.h"
#include "thunkstash/windows/call_system.h"

#define PAGE        4096
#define GRANULARITY 65536
#define MOST_PATH   32768

#define THUNK_TO_RECORD (RECORD_DISTANCE - THUNK_RETURN) /* P - T */

enum unwind_code { PUSH_NONVOL, ALLOC_LARGE, ALLOC_SMALL, SET_FPREG, PUSH_MACHFRAME = 10 };

#define RSP              4
#define CODE(kind, info) ((uint16_t)(((info) << 4 | (kind)) << 8))

extern const char umbra_thunk_code[];

struct unwind_info {
    uint8_t version_flags;
    uint8_t prologue_size;
    uint8_t code_count;
    uint8_t frame; /* register, offset / 16 in the upper half */
    uint16_t codes[6];
};

struct range_unwind {
    RUNTIME_FUNCTION function; /* addresses count from this structure */
    struct unwind_info info;
};

static const struct unwind_info thunk_unwind_info = {
    .version_flags = 2,
    .code_count = 6,
    .frame = 1 << 4 | RSP,
    .codes = {CODE(SET_FPREG, 0), CODE(ALLOC_SMALL, 0), CODE(PUSH_NONVOL, RSP),
              CODE(ALLOC_LARGE, 0), (THUNK_TO_RECORD - 8) / 8, CODE(PUSH_MACHFRAME, 0)},
};

_Static_assert(THUNK_TO_RECORD % 8 == 0, "ALLOC_LARGE counts in units of 8");
_Static_assert((THUNK_TO_RECORD - 8) / 8 <= UINT16_MAX, "and has 16 bits");
_Static_assert(offsetof(struct record, ret) == 0 && offsetof(struct record, slot) == 24 &&
                   SLOT_BIAS == 8,
               "a record looks like a machine frame");
_Static_assert(sizeof(struct unwind_info) == 16, "unwind info");

static char *range;
static bool reserved[STASH_BLOCKS]; /* by us, and not mapped yet */
static LARGE_INTEGER code_offset;   /* of the thunks in the agent's file */

static bool register_unwinding(char *start)
{
    struct range_unwind *unwind = VirtualAlloc(start, PAGE, MEM_COMMIT, PAGE_READWRITE);
    DWORD before;

    if (!unwind)
        return false;
    unwind->info = thunk_unwind_info;
    unwind->function.BeginAddress = GRANULARITY;
    unwind->function.EndAddress = GRANULARITY + STASH_RANGE_SIZE;
    unwind->function.UnwindData = offsetof(struct range_unwind, info);
    return VirtualProtect(start, PAGE, PAGE_READONLY, &before) &&
           RtlAddFunctionTable(&unwind->function, 1, (DWORD64)start);
}

static bool reserve_block(uint32_t block)
{
    void *at = range + (uint64_t)block * BLOCK_SIZE;
    SIZE_T size = BLOCK_SIZE;

    reserved[block] = NT_SUCCESS(CALL_SYSTEM(
        NtAllocateVirtualMemory(THIS_PROCESS, &at, 0, &size, MEM_RESERVE, PAGE_NOACCESS)));
    return reserved[block];
}

/* A block whose place somebody takes in between is lost. */
char *range_reserve(void)
{
    char *start = VirtualAlloc(NULL, GRANULARITY + STASH_RANGE_SIZE, MEM_RESERVE | MEM_TOP_DOWN,
                               PAGE_NOACCESS);

    if (!start)
        return NULL;
    VirtualFree(start, 0, MEM_RELEASE);
    if (!VirtualAlloc(start, GRANULARITY, MEM_RESERVE, PAGE_NOACCESS))
        return NULL;
    range = start + GRANULARITY;
    for (uint32_t block = 0; block < STASH_BLOCKS; block++)
        reserve_block(block);
    return register_unwinding(start) ? range : NULL;
}

static bool map_code(void *section, char *block)
{
    LARGE_INTEGER offset = code_offset;
    SIZE_T size = BLOCK_CODE_SIZE;
    void *at = block;

    return NT_SUCCESS(CALL_SYSTEM(NtMapViewOfSection(section, THIS_PROCESS, &at, 0, 0, &offset,
                                                     &size, VIEW_UNMAP, 0, PAGE_EXECUTE_READ)));
}

static bool make_records(char *block)
{
    void *at = block + BLOCK_CODE_SIZE;
    SIZE_T size = BLOCK_CODE_SIZE;

    return NT_SUCCESS(CALL_SYSTEM(NtAllocateVirtualMemory(
        THIS_PROCESS, &at, 0, &size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)));
}

/* The reservation has to go first, as nothing can be mapped over it. Should another thread take the
   place in between, it stays that thread's: the block is not ours to touch any more. */
bool pages_map_block(char *block, void *code)
{
    uint32_t number = (uint32_t)((block - range) / BLOCK_SIZE);
    SIZE_T all = 0;
    void *at = block;

    if (!reserved[number] ||
        !NT_SUCCESS(CALL_SYSTEM(NtFreeVirtualMemory(THIS_PROCESS, &at, &all, MEM_RELEASE))))
        return false;
    reserved[number] = false;
    if (map_code(code, block)) {
        if (make_records(block))
            return true;
        CALL_SYSTEM(NtUnmapViewOfSection(THIS_PROCESS, block));
    }
    reserve_block(number);
    return false;
}

/* Where in the file the thunks are, which are at this place in the image; 0 if that cannot be
   mapped. */
static uint64_t file_offset(const char *image, uint32_t rva)
{
    const IMAGE_NT_HEADERS64 *headers =
        (const void *)(image + ((const IMAGE_DOS_HEADER *)image)->e_lfanew);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(headers);

    for (int i = 0; i < headers->FileHeader.NumberOfSections; i++, section++) {
        uint32_t offset = rva - section->VirtualAddress;

        if (offset < section->SizeOfRawData && section->SizeOfRawData - offset >= BLOCK_CODE_SIZE)
            return (offset + section->PointerToRawData) % GRANULARITY
                       ? 0
                       : offset + section->PointerToRawData;
    }
    return 0;
}

void *range_open_code(const char *image)
{
    static wchar_t path[MOST_PATH];
    uint64_t offset = file_offset(image, (uint32_t)(umbra_thunk_code - image));
    DWORD length = GetModuleFileNameW((HMODULE)image, path, MOST_PATH);
    HANDLE file, section;

    if (!offset || !length || length == MOST_PATH)
        return NULL;
    code_offset.QuadPart = (LONGLONG)offset;
    file = CreateFileW(path, GENERIC_READ | GENERIC_EXECUTE,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    section = CreateFileMappingW(file, NULL, PAGE_EXECUTE_READ, 0, 0, NULL);
    CloseHandle(file);
    return section;
}
