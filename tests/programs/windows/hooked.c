/*
 * Hooks the program that it is linked into, at its start, by itself: what `instrument` does to a
 * file is done here to the image in memory. Functions are compiled with
 * -fpatchable-function-entry=5, so nothing is displaced: gcc puts five nops at their entry, and
 * notes where; clang puts one nop of five bytes, `nopl 8(%rax,%rax)`, which nothing else uses (nopl 8(%eax,%eax)
 * for i386). hooked_stub.h of the processor's folder has the stub.
 *
 *      function:           jmp  stub
 *      stub:               as trace/image_manifest.h has it
 *      body:               jmp  function + 5
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "trace/image_manifest.h"

#define MOST_FUNCTIONS 4096
#define PATCH_SIZE     5

extern char __ImageBase;
/* Without one of our own there would be no such section in what clang alone compiled. */
static uintptr_t no_function __attribute__((section("__patchable_function_entries"), used));
extern uintptr_t __start___patchable_function_entries[], __stop___patchable_function_entries[];
__declspec(dllimport) void umbra_enter_13(void);

static struct image_header header;
static struct {
    struct image_manifest manifest;
    struct manifest_function functions[MOST_FUNCTIONS];
    char path[2];
} manifest;

static uint32_t rva(const void *at)
{
    return (uint32_t)((const char *)at - &__ImageBase);
}

static void put_int32(char *at, int64_t value)
{
    int32_t narrow = (int32_t)value;

    memcpy(at, &narrow, sizeof narrow);
}

#include "hooked_stub.h"

/* Within reach of a 5-byte jmp. Written before it is made executable. */
static char stubs[MOST_FUNCTIONS * STUB_SIZE] __attribute__((aligned(4096)));

static void patch(char *function, char *stub)
{
    DWORD before;

    if (!VirtualProtect(function, PATCH_SIZE, PAGE_EXECUTE_READWRITE, &before))
        abort();
    *function = (char)0xe9;
    put_int32(function + 1, stub - (function + PATCH_SIZE));
    VirtualProtect(function, PATCH_SIZE, before, &before);
}

static void hook(uint32_t index, char *function)
{
    char *stub = stubs + index * STUB_SIZE;

    manifest.functions[index] = (struct manifest_function){.rva = rva(function),
                                                           .stub_rva = rva(stub),
                                                           .state = FUNCTION_HOOKED,
                                                           .patch_size = PATCH_SIZE};
    write_stub(stub, index, function);
    patch(function, stub);
}

static const IMAGE_SECTION_HEADER *code_section(void)
{
    const IMAGE_NT_HEADERS *headers =
        (const void *)(&__ImageBase + ((const IMAGE_DOS_HEADER *)&__ImageBase)->e_lfanew);

    return IMAGE_FIRST_SECTION(headers); /* .text comes first */
}

static uint32_t hook_long_nops(uint32_t count)
{
    static const unsigned char nop[PATCH_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x08};
    const IMAGE_SECTION_HEADER *code = code_section();
    char *start = &__ImageBase + code->VirtualAddress;

    for (char *at = start; at < start + code->Misc.VirtualSize - PATCH_SIZE; at++)
        if (!memcmp(at, nop, sizeof nop) && count < MOST_FUNCTIONS)
            hook(count++, at);
    return count;
}

__attribute__((constructor, patchable_function_entry(0))) static void hook_all(void)
{
    uint32_t count = 0;
    DWORD before;

    header = (struct image_header){.magic = IMAGE_MAGIC,
                                   .entry_hook = (uintptr_t)umbra_enter_13,
                                   .version = IMAGE_VERSION,
                                   .header_rva = rva(&header),
                                   .manifest_rva = rva(&manifest),
                                   .image_size = rva(&manifest + 1)};
    for (uintptr_t *at = __start___patchable_function_entries;
         at < __stop___patchable_function_entries && count < MOST_FUNCTIONS; at++)
        if (*at && *(char *)*at == (char)0x90)
            hook(count++, (char *)*at);
    count = hook_long_nops(count);
    manifest.manifest = (struct image_manifest){
        .magic = MANIFEST_MAGIC,
        .version = IMAGE_VERSION,
        .size = sizeof manifest,
        .function_count = count,
        .functions = sizeof manifest.manifest,
        .original_path = (uint32_t)((char *)manifest.path - (char *)&manifest),
    };
    if (!VirtualProtect(stubs, sizeof stubs, PAGE_EXECUTE_READ, &before))
        abort();
}
