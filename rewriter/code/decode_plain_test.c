#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/code/decode.h"
#include "rewriter/code/decode_plain.h"

#include <cmocka.h>

static ZydisDecoder decoder;

static bool is_at_slot(const ZydisDecodedInstruction *zydis, bool is_rbp, int64_t offset)
{
    unsigned mod = zydis->raw.modrm.mod, rm = zydis->raw.modrm.rm;
    bool is_rsp_alone = rm == 4 && zydis->raw.sib.base == 4 && zydis->raw.sib.index == 4;

    if (zydis->mnemonic == ZYDIS_MNEMONIC_POP)
        return !is_rbp && offset == 0;
    if (!(zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM) || mod == 3 || zydis->raw.rex.B ||
        zydis->mnemonic == ZYDIS_MNEMONIC_NOP || !(is_rbp ? rm == 5 && mod != 0 : is_rsp_alone))
        return false;
    return zydis->raw.disp.value >= offset && zydis->raw.disp.value < offset + 8;
}

static void check_slots(const uint8_t *bytes, const ZydisDecodedInstruction *zydis)
{
    static const int64_t offsets[] = {0, 8, -3, 0x1000};

    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
        for (int is_rbp = 0; is_rbp < 2; is_rbp++)
            if (plain_is_at_slot(bytes, is_rbp, offsets[i]) !=
                is_at_slot(zydis, is_rbp, offsets[i]))
                fail_msg("%02x %02x %02x %02x %02x: is at %s %+d or is not", bytes[0], bytes[1],
                         bytes[2], bytes[3], bytes[4], is_rbp ? "rbp" : "rsp", (int)offsets[i]);
}

static void check_decoded(const uint8_t *bytes)
{
    struct instruction plain, at;

    if (!plain_decode(0x1000, bytes, &plain))
        return;
    assert_true(instruction_decode(&decoder, 0x1000, bytes, PLAIN_ROOM, &at));
    assert_int_equal(plain.address, at.address);
    assert_int_equal(plain.target, at.target);
    assert_int_equal(plain.length, at.length);
    assert_int_equal(plain.flow, at.flow);
    assert_int_equal(plain.is_near, at.is_near);
    assert_int_equal(plain.skips_lock, at.skips_lock);
    assert_int_equal(plain.is_lea, at.is_lea);
    assert_int_equal(plain.is_rip_based, at.is_rip_based);
    assert_int_equal(plain.operand, at.operand);
    if (!plain.is_lea)
        assert_false(at.zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM);
}

/* Returns whether it is plain to one who minds nothing. */
static bool check(const uint8_t *bytes)
{
    struct instruction at;
    size_t length = plain_length(bytes, 0);

    check_decoded(bytes);
    if (!length) {
        assert_int_equal(plain_length(bytes, PLAIN_MIND_NUMBER), 0);
        return false;
    }
    if (!instruction_decode(&decoder, 0x1000, bytes, PLAIN_ROOM, &at) || at.length != length)
        fail_msg("%02x %02x %02x %02x %02x: not of %zu bytes", bytes[0], bytes[1], bytes[2],
                 bytes[3], bytes[4], length);
    assert_int_equal(at.flow, FLOW_NEXT);
    assert_false(at.is_lea && at.is_rip_based);
    check_slots(bytes, &at.zydis);
    if (at.zydis.raw.imm[0].size == 32)
        assert_int_equal(plain_length(bytes, PLAIN_MIND_NUMBER), 0);
    if (at.zydis.raw.modrm.mod == 2 && at.zydis.raw.modrm.rm == 4)
        assert_int_equal(plain_length(bytes, PLAIN_MIND_ARRAY), 0);
    return true;
}

/* All values of ModRM and, where there is one, of SIB's base and index 4, which is none. */
static size_t check_operands(uint8_t *bytes, size_t opcode)
{
    size_t plain = 0;

    for (unsigned modrm = 0; modrm < 256; modrm++) {
        unsigned sibs = modrm >> 6 != 3 && (modrm & 7) == 4 ? 64 : 1;

        bytes[opcode + 1] = (uint8_t)modrm;
        bytes[opcode + 3] = 8; /* in a displacement, as is the byte before where there is no SIB */
        for (unsigned sib = 0; sib < sibs; sib++) {
            bytes[opcode + 2] = (uint8_t)(sibs == 1 ? 8 : sib);
            plain += check(bytes);
        }
    }
    return plain;
}

static size_t check_opcodes(uint8_t *bytes, size_t opcode)
{
    size_t plain = 0;

    for (unsigned value = 0; value < 256; value++) {
        bytes[opcode] = (uint8_t)value;
        plain += check_operands(bytes, opcode);
    }
    return plain;
}

static void test_what_is_plain_is_as_long_as_the_decoder_says(void **state)
{
    static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3};
    static const uint8_t rexes[] = {0, 0x40, 0x41, 0x44, 0x48, 0x49, 0x4f};
    size_t plain = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(prefixes); i++)
        for (size_t j = 0; j < sizeof(rexes); j++) {
            uint8_t bytes[PLAIN_ROOM + 1] = {0};
            size_t opcode = 0;

            if (prefixes[i])
                bytes[opcode++] = prefixes[i];
            if (rexes[j])
                bytes[opcode++] = rexes[j];
            plain += check_opcodes(bytes, opcode);
            bytes[opcode++] = 0x0f;
            plain += check_opcodes(bytes, opcode);
        }
    assert_true(plain > 1000000);
}

static void test_branches_lead_where_the_decoder_says(void **state)
{
    static const char *const branches[] = {"\x74\xfe",
                                           "\x74\x01\xf0\x48\x0f\xb1\x19",
                                           "\xeb\x80",
                                           "\xe8\x01\x02\x03\xff",
                                           "\xe9\xf0\xff\xff\xff",
                                           "\x0f\x85\x04\x03\x02\x81",
                                           "\xc3",
                                           "\x4c\x8d\x3d\xfe\xff\xff\xff"};

    (void)state;
    for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++) {
        uint8_t bytes[PLAIN_ROOM] = {0};
        struct instruction at;

        memcpy(bytes, branches[i], strlen(branches[i]));
        assert_true(plain_decode(0x1000, bytes, &at));
        check_decoded(bytes);
    }
}

static void check_length(const char *text, size_t size, unsigned minds, size_t expected)
{
    uint8_t bytes[PLAIN_ROOM] = {0};

    memcpy(bytes, text, size);
    assert_int_equal(plain_length(bytes, minds), expected);
}

static void test_what_a_sweep_notes_is_not_plain(void **state)
{
    unsigned all = PLAIN_MIND_NUMBER | PLAIN_MIND_ARRAY | PLAIN_MIND_RIP;

    (void)state;
    check_length("\x48\x89\xe5", 3, all, 3);                /* mov rbp, rsp */
    check_length("\xe8\0\0\0\0", 5, 0, 0);                  /* call */
    check_length("\x74\x05", 2, 0, 0);                      /* je */
    check_length("\xc3", 1, 0, 0);                          /* ret */
    check_length("\x48\x8d\x05\0\0\0\0", 7, 0, 0);          /* lea rax, [rip] */
    check_length("\x48\x8d\x47\x08", 4, all, 4);            /* lea rax, [rdi + 8] */
    check_length("\xff\x25\0\0\0\0", 6, 0, 0);              /* jmp [rip] */
    check_length("\x48\x8b\x44\x24\x08", 5, all, 5);        /* mov rax, [rsp + 8] */
    check_length("\xb8\0\0\0\0", 5, PLAIN_MIND_NUMBER, 0);  /* mov eax, 0 */
    check_length("\x8b\x05\0\0\0\0", 6, PLAIN_MIND_RIP, 0); /* mov eax, [rip] */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_plain_is_as_long_as_the_decoder_says),
        cmocka_unit_test(test_branches_lead_where_the_decoder_says),
        cmocka_unit_test(test_what_a_sweep_notes_is_not_plain),
    };

    decoder_init(&decoder, &processor_x86_64);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
