/* Frame descriptions of an image of i386, whose addresses have 4 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/unwind/cfi.h"

#include <cmocka.h>

#define HEADER 0x8048000u /* .eh_frame_hdr, .eh_frame is behind it */
#define FRAMES 0x8048008u
#define START  0x8049000u /* a function of 0x20 bytes */

/* What gcc writes for a program at a fixed address, and for one that is not. */
#define BEGINNING(encoding) "\x01" encoding "\xff\xff"
#define CIE(augmentation)                                                                          \
    "\x1c\0\0\0"                                                                                   \
    "\0\0\0\0"                                                                                     \
    "\x01zPLR\0\x01\x7c\x08" augmentation "\x0c\x04\x04\x88\x01\0\0"
#define ROWS "\x41\x0e\x08\x85\x02\x42\x0d\x05" /* push ebp; mov ebp, esp */

static const char absolute[] = BEGINNING("\x00") "\x08\x80\x04\x08" CIE(
    "\x07\0\0\x90\x04\x08\0\0") "\x1c\0\0\0\x24\0\0\0\0\x90\x04\x08\x20\0\0\0\x04\0\xa0\x04\x08" ROWS
                                "\0\0\0";
static const char relative[] = BEGINNING("\x1b") "\x04\0\0\0" CIE(
    "\x07\x9b\0\0\0\0\x1b\x1b") "\x1c\0\0\0\x24\0\0\0\xd0\x0f\0\0\x20\0\0\0\x04\xc7\x1f\0\0" ROWS
                                "\0\0\0";

struct sample {
    Elf64_Phdr segments[2];
    uint32_t load;
    struct elf_image image;
    struct eh_frame frame;
};

static void sample_read(struct sample *sample, const char *bytes, size_t size, uint16_t type)
{
    *sample = (struct sample){
        .segments = {{.p_type = PT_LOAD, .p_vaddr = HEADER, .p_filesz = size},
                     {.p_type = PT_GNU_EH_FRAME, .p_vaddr = HEADER, .p_filesz = 8}},
    };
    sample->image = (struct elf_image){.bytes = (uint8_t *)(uintptr_t)bytes,
                                       .class = &elf_class_i386,
                                       .size = size,
                                       .header.e_type = type,
                                       .segments = sample->segments,
                                       .segment_count = 2,
                                       .loads = &sample->load,
                                       .load_count = 1};
    eh_frame_read(&sample->frame, &sample->image);
}

static void assert_read(struct sample *sample)
{
    const struct fde *fde = eh_frame_find(&sample->frame, START + 0x1f);
    struct cfi_cursor cursor;

    assert_int_equal(sample->frame.address, FRAMES);
    assert_false(sample->frame.is_incomplete);
    assert_non_null(fde);
    assert_int_equal(fde->address, START);
    assert_int_equal(fde->size, 0x20);
    assert_int_equal(fde->lsda, 0x804a000);
    cfi_begin(&cursor, &sample->frame, fde);
    assert_int_equal(cursor.row.cfa_register, elf_class_i386.unwind.stack_pointer);
    assert_int_equal(cursor.row.cfa_offset, 4);
    assert_int_equal(cursor.row.return_rule, CFI_RETURN_AT_OFFSET);
    assert_int_equal(cursor.row.return_offset, -4);
    cfi_seek(&cursor, START + 1);
    assert_int_equal(cursor.row.cfa_offset, 8);
    cfi_seek(&cursor, START + 3);
    assert_int_equal(cursor.row.cfa_register, elf_class_i386.unwind.frame_pointer);
    eh_frame_free(&sample->frame);
}

static void test_absolute_addresses_have_four_bytes(void **state)
{
    struct sample sample;

    (void)state;
    sample_read(&sample, absolute, sizeof(absolute) - 1, ET_EXEC);
    assert_read(&sample);
}

static void test_distances(void **state)
{
    struct sample sample;

    (void)state;
    sample_read(&sample, relative, sizeof(relative) - 1, ET_DYN);
    assert_read(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absolute_addresses_have_four_bytes),
        cmocka_unit_test(test_distances),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
