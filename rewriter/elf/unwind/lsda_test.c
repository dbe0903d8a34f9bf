/* Language-specific data: as compilers write it, and as nobody should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/unwind/lsda.h"

#include <cmocka.h>

#define BASE  0x2000u /* of the data */
#define START 0x1000u /* of a function of 0x100 bytes */

struct sample {
    Elf64_Phdr segment;
    uint32_t load;
    struct elf_image image;
    struct fde fdes[2];
    uint64_t lsdas[2];
    struct eh_frame frame;
};

/* An image that holds these bytes, which end with it, so that a read past them is seen. */
static void sample_make(struct sample *sample, const char *bytes, size_t size)
{
    memset(sample, 0, sizeof(*sample));
    sample->segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = size};
    sample->image = (struct elf_image){.bytes = malloc(size),
                                       .class = &elf_class_x86_64,
                                       .size = size,
                                       .segments = &sample->segment,
                                       .segment_count = 1,
                                       .loads = &sample->load,
                                       .load_count = 1};
    sample->image.header.e_type = ET_DYN;
    memcpy(sample->image.bytes, bytes, size);
    sample->fdes[0] = (struct fde){.address = START, .size = 0x100, .lsda = BASE};
    sample->lsdas[0] = BASE;
    sample->frame = (struct eh_frame){
        .fdes = sample->fdes, .fde_count = 1, .lsdas = sample->lsdas, .lsda_count = 1};
}

static bool read(struct lsda *lsda, const struct sample *sample)
{
    return lsda_read(lsda, &sample->image, &sample->frame, &sample->fdes[0]);
}

static void assert_site(struct lsda *lsda, uint64_t start, uint64_t end, uint64_t pad,
                        uint64_t action)
{
    struct lsda_site site;

    assert_true(lsda_next(lsda, &site));
    assert_int_equal(site.start, START + start);
    assert_int_equal(site.end, START + end);
    assert_int_equal(site.pad, pad ? START + pad : 0);
    assert_int_equal(site.action, action);
}

/* catch (A), catch (B) around the second call; a cleanup around the first; none around the last. */
static const char plain[] = "\xff\x9b\x1b" /* types end at BASE + 3 + 0x1b */
                            "\x01\x0d"
                            "\x10\x05\x40\x00"
                            "\x20\x05\x50\x03"
                            "\xc0\x01\x05\x00\x00"
                            "\x01\x00\x02\x7d"; /* B, end; A, then B */

static void test_call_sites(void **state)
{
    struct sample sample;
    struct lsda_site site;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, plain, sizeof(plain) - 1);
    assert_true(read(&lsda, &sample));
    assert_int_equal(lsda.types, BASE + 3 + 0x1b);
    assert_int_equal(lsda.type_encoding, 0x9b);
    assert_int_equal(lsda.actions.size, 4);
    assert_site(&lsda, 0x10, 0x15, 0x40, 0);
    assert_site(&lsda, 0x20, 0x25, 0x50, 3);
    assert_site(&lsda, 0xc0, 0xc5, 0, 0);
    assert_false(lsda_next(&lsda, &site));
    free(sample.image.bytes);
}

static void test_pads_in_another_fragment(void **state)
{
    /* start at START + 0x8000 */
    static const char bytes[] = "\x1b\xff\x6f\x00\x00\xff\x01\x04\x10\x05\x40\x00";
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, bytes, sizeof(bytes) - 1);
    assert_true(read(&lsda, &sample));
    assert_site(&lsda, 0x10, 0x15, 0x8040, 0);
    free(sample.image.bytes);
}

static void test_fixed_numbers_and_empty_ranges(void **state)
{
    static const char bytes[] = "\xff\xff\x03\x1a"
                                "\x10\0\0\0\x00\0\0\0\x00\0\0\0\x00"
                                "\x10\0\0\0\x05\0\0\0\x40\0\0\0\x00";
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, bytes, sizeof(bytes) - 1);
    assert_true(read(&lsda, &sample));
    assert_site(&lsda, 0x10, 0x15, 0x40, 0);
    free(sample.image.bytes);
}

static void test_absolute_start_of_pads(void **state)
{
    static const char bytes[] = "\x03\x00\x30\x00\x00\xff\x01\x04\x10\x05\x40\x00";
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, bytes, sizeof(bytes) - 1);
    assert_false(read(&lsda, &sample));
    sample.image.header.e_type = ET_EXEC;
    assert_true(read(&lsda, &sample));
    assert_site(&lsda, 0x10, 0x15, 0x2040, 0);
    free(sample.image.bytes);
}

/* Addresses, and numbers as wide as they are, have 4 bytes. */
static void test_data_of_32_bits(void **state)
{
    static const char bytes[] = "\x00\x40\x10\x00\x00\xff\x00\x0d"
                                "\x10\x00\x00\x00\x05\x00\x00\x00\x08\x00\x00\x00\x00";
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, bytes, sizeof(bytes) - 1);
    sample.image.class = &elf_class_i386;
    sample.image.header.e_type = ET_EXEC;
    assert_true(read(&lsda, &sample));
    assert_site(&lsda, 0x10, 0x15, 0x48, 0);
    free(sample.image.bytes);
}

static void test_actions_in_a_circle_end(void **state)
{
    static const char bytes[] = "\xff\xff\x01\x04\x10\x05\x40\x01\x01\x7f";
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, bytes, sizeof(bytes) - 1);
    assert_true(read(&lsda, &sample));
    assert_int_equal(lsda.actions.size, 2);
    free(sample.image.bytes);
}

static void test_malformed_data_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } malformed[] = {
#define BYTES(text) {text, sizeof(text) - 1}
        BYTES("\xff"),                                             /* ends in the headers */
        BYTES("\xff\x9b\x80\x80"),                                 /* in a number */
        BYTES("\xff\xff\x01"),                                     /* before the length */
        BYTES("\xff\xff\x01\x04\x10\x05\x40"),                     /* in the call sites */
        BYTES("\xff\xff\x01\x03\x10\x05\x40\x00"),                 /* they end in a call site */
        BYTES("\xff\xff\x11\x04\x10\x05\x40\x00"),                 /* relative to themselves */
        BYTES("\xff\xff\x07\x04\x10\x05\x40\x00"),                 /* no such encoding */
        BYTES("\x3b\0\0\0\0\xff\x01\x04\x10\x05\x40\x00"),         /* relative to something else */
        BYTES("\xff\xff\x01\x08\x20\x05\x40\x00\x10\x05\x40\x00"), /* descending */
        BYTES("\xff\xff\x01\x08\x10\x05\x40\x00\x14\x05\x40\x00"), /* overlapping */
        BYTES("\xff\xff\x01\x05\xff\x01\x02\x40\x00"),             /* behind the FDE's end */
        BYTES("\xff\xff\x0c\x19\x10\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x40\0\0\0\0\0\0"
              "\0\x00"),                                       /* of negative length */
        BYTES("\xff\xff\x01\x04\x10\x05\x40\x09\x01\x00"),     /* an action behind the end */
        BYTES("\xff\xff\x01\x04\x10\x05\x40\x01\x01"),         /* that is cut off */
        BYTES("\xff\xff\x01\x04\x10\x05\x40\x01\x01\x7d"),     /* that leads out at the front */
        BYTES("\xff\xff\x01\x04\x10\x05\x40\x01\x01\x20\x00"), /* and at the end */
#undef BYTES
    };

    (void)state;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        struct sample sample;
        struct lsda lsda;

        sample_make(&sample, malformed[i].bytes, malformed[i].size);
        assert_false(read(&lsda, &sample));
        free(sample.image.bytes);
    }
}

static void test_what_two_functions_share_is_refused(void **state)
{
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, plain, sizeof(plain) - 1);
    sample.lsdas[1] = BASE;
    sample.frame.lsda_count = 2;
    assert_false(read(&lsda, &sample));
    sample.lsdas[1] = BASE + sizeof(plain) - 2; /* the next one begins within the actions */
    assert_false(read(&lsda, &sample));
    free(sample.image.bytes);
}

static void test_data_outside_of_the_image_is_refused(void **state)
{
    struct sample sample;
    struct lsda lsda;

    (void)state;
    sample_make(&sample, plain, sizeof(plain) - 1);
    sample.fdes[0].lsda = sample.lsdas[0] = BASE - 1;
    assert_false(read(&lsda, &sample));
    free(sample.image.bytes);
}

static void test_pads_of_all_functions(void **state)
{
    struct sample sample;
    size_t count;
    uint64_t *pads;

    (void)state;
    sample_make(&sample, plain, sizeof(plain) - 1);
    sample.fdes[1] = (struct fde){.address = START + 0x100, .size = 0x100};
    sample.frame.fde_count = 2;
    pads = lsda_pads(&sample.image, &sample.frame, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pads[0], START + 0x40);
    assert_int_equal(pads[1], START + 0x50);
    free(pads);
    free(sample.image.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_sites),
        cmocka_unit_test(test_pads_in_another_fragment),
        cmocka_unit_test(test_fixed_numbers_and_empty_ranges),
        cmocka_unit_test(test_absolute_start_of_pads),
        cmocka_unit_test(test_data_of_32_bits),
        cmocka_unit_test(test_actions_in_a_circle_end),
        cmocka_unit_test(test_malformed_data_is_refused),
        cmocka_unit_test(test_what_two_functions_share_is_refused),
        cmocka_unit_test(test_data_outside_of_the_image_is_refused),
        cmocka_unit_test(test_pads_of_all_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
