#include "rewriter/copy/wait_code.h"

#include <stddef.h>
#include <string.h>

#include "trace/frame_format.h"
#include "trace/trace_format.h"

#define SYSCALL            "\x0f\x05"
#define MUNMAP             "\xb8\x0b\0\0\0" /* mov eax, SYS_munmap */
#define LOAD_SIZE          7                /* mov rcx, [rip + n] */
#define LEAVES             6                /* jmp [rip + n] */
#define PUT(writer, bytes) copy_put(writer, bytes, sizeof(bytes) - 1)

bool wait_code_can_time(const uint8_t *function, size_t offset, size_t size)
{
    size_t before = sizeof(MUNMAP) - 1;

    return offset + SYSCALL_SIZE <= size && memcmp(function + offset, SYSCALL, SYSCALL_SIZE) == 0 &&
           (offset < before || memcmp(function + offset - before, MUNMAP, before) != 0);
}

/* Puts a test that jumps where nobody wants to know; returns where its distance counts from. */
static size_t put_test(struct copy_writer *writer)
{
    copy_put_with_word(writer, "\x48\x8b\x0d", 3, offsetof(struct trace_header, waits));
    PUT(writer, "\x48\x85\xc9" /* test rcx, rcx */
                "\x74\x00");   /* jz */
    return writer->stubs->code.size;
}

static void land(struct copy_writer *writer, size_t from)
{
    writer->stubs->code.bytes[from - 1] = (uint8_t)(writer->stubs->code.size - from);
}

/* eax: the time; rdx: of the thread's words, counted from fs. rcx and r11 have what was there. */
static void put_clock(struct copy_writer *writer)
{
    static const uint8_t shift = WAIT_SHIFT;

    PUT(writer, "\x48\x89\xc1"   /* mov rcx, rax */
                "\x49\x89\xd3"   /* mov r11, rdx */
                "\x0f\x31"       /* rdtsc */
                "\x0f\xac\xd0"); /* shrd eax, edx, … */
    copy_put(writer, &shift, sizeof(shift));
    copy_put_with_word(writer, "\x48\x8b\x15", 3, offsetof(struct trace_header, words));
}

static void put_back(struct copy_writer *writer)
{
    PUT(writer, "\x4c\x89\xda"   /* mov rdx, r11 */
                "\x48\x89\xc8"); /* mov rax, rcx */
}

/* `opcode`: with eax and fs:[rdx + WAIT]. */
static void put_with_begin(struct copy_writer *writer, uint8_t opcode)
{
    const uint8_t instruction[] = {0x64, opcode, 0x42, offsetof(struct frame_words, wait)};

    copy_put(writer, instruction, sizeof(instruction));
}

void wait_code_put(struct copy_writer *writer, int32_t number)
{
    static const uint8_t least = WAIT_SHORT;
    uint64_t begin = copy_here(writer);
    size_t from = put_test(writer), short_from;

    put_clock(writer);
    put_with_begin(writer, 0x89); /* mov fs:[…], eax */
    put_back(writer);
    land(writer, from);
    copy_set_add_stretch(writer->set, begin, copy_here(writer));
    PUT(writer, SYSCALL);
    /* The next instruction is where the kernel goes on: what it has done is the program's. */
    begin = copy_here(writer) + LOAD_SIZE;
    from = put_test(writer);
    put_clock(writer);
    put_with_begin(writer, 0x2b); /* sub eax, fs:[…] */
    PUT(writer, "\x83\xf8");      /* cmp eax, … */
    copy_put(writer, &least, sizeof(least));
    put_back(writer);
    PUT(writer, "\x76\x00"); /* jbe */
    short_from = writer->stubs->code.size;
    copy_put_relative(writer, "\x48\x8d\x0d", 3,
                      copy_here(writer) + LOAD_SIZE + LEAVES + sizeof(number));
    copy_put_with_word(writer, "\xff\x25", 2, offsetof(struct trace_header, on_wait));
    copy_put(writer, &number, sizeof(number));
    land(writer, short_from);
    land(writer, from);
    copy_set_add_stretch(writer->set, begin, copy_here(writer));
}
