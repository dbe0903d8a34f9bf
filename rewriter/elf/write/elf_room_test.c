/* Which tables of a small image grow where they are, and what moves for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/elf/write/elf_room.h"

#include <cmocka.h>

#define BASE 0x400000u
#define SIZE 4096u

/*
 *        0  ELF header, 4 program headers
 *      288  .interp       320  .note      352  .gnu.hash
 *      456  .dynsym       552  .dynstr    592  .gnu.version, 600 padding
 *      624  .rela.dyn     864  .rela.plt  912  .text
 */
enum { INTERP = 1, NOTE, HASH, SYMBOLS, STRINGS, VERSIONS, RELOCATIONS, PLT, TEXT, SECTIONS };

struct place {
    uint8_t bytes[SIZE];
    Elf64_Phdr segments[4];
    uint32_t load;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Dyn dynamic[10];
    struct elf_image image;
};

static const struct elf_room_need need = {
    .headers = 3 * sizeof(Elf64_Phdr),
    .symbols = sizeof(Elf64_Sym),
    .strings = 30,
    .relocations = sizeof(Elf64_Rela),
};

static void put_section(struct place *place, size_t index, uint32_t type, uint64_t offset,
                        uint64_t size)
{
    place->sections[index] = (Elf64_Shdr){.sh_type = type,
                                          .sh_flags = SHF_ALLOC,
                                          .sh_addr = BASE + offset,
                                          .sh_offset = offset,
                                          .sh_size = size};
    memset(place->bytes + offset, 0x5a, size);
}

static void put_dynamic(struct place *place, int64_t tag, uint64_t value)
{
    place->dynamic[place->image.dynamic_count++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = value};
}

static void put_segment(struct place *place, size_t index, uint32_t type, uint64_t offset,
                        uint64_t size)
{
    place->segments[index] = (Elf64_Phdr){.p_type = type,
                                          .p_offset = offset,
                                          .p_vaddr = BASE + offset,
                                          .p_filesz = size,
                                          .p_memsz = size};
}

static void place_begin(struct place *place)
{
    *place = (struct place){0};
    place->image = (struct elf_image){.path = "place",
                                      .class = &elf_class_x86_64,
                                      .bytes = place->bytes,
                                      .size = SIZE,
                                      .header = {.e_phoff = 64, .e_phnum = 4},
                                      .segments = place->segments,
                                      .segment_count = 4,
                                      .loads = &place->load,
                                      .load_count = 1,
                                      .sections = place->sections,
                                      .section_count = SECTIONS,
                                      .dynamic = place->dynamic,
                                      .symbol_count = 4};
    put_segment(place, 0, PT_LOAD, 0, SIZE);
    put_segment(place, 1, PT_PHDR, 64, 4 * sizeof(Elf64_Phdr));
    put_segment(place, 2, PT_INTERP, 288, 28);
    put_segment(place, 3, PT_NOTE, 320, 32);
    put_section(place, INTERP, SHT_PROGBITS, 288, 28);
    put_section(place, NOTE, SHT_NOTE, 320, 32);
    put_section(place, HASH, SHT_GNU_HASH, 352, 100);
    put_section(place, SYMBOLS, SHT_DYNSYM, 456, 4 * sizeof(Elf64_Sym));
    put_section(place, STRINGS, SHT_STRTAB, 552, 40);
    put_section(place, VERSIONS, SHT_GNU_versym, 592, 4 * sizeof(Elf64_Half));
    put_section(place, RELOCATIONS, SHT_RELA, 624, 10 * sizeof(Elf64_Rela));
    put_section(place, PLT, SHT_RELA, 864, 2 * sizeof(Elf64_Rela));
    put_section(place, TEXT, SHT_PROGBITS, 912, 200);
    put_dynamic(place, DT_GNU_HASH, BASE + 352);
    put_dynamic(place, DT_SYMTAB, BASE + 456);
    put_dynamic(place, DT_STRTAB, BASE + 552);
    put_dynamic(place, DT_STRSZ, 40);
    put_dynamic(place, DT_VERSYM, BASE + 592);
    put_dynamic(place, DT_RELA, BASE + 624);
    put_dynamic(place, DT_RELASZ, 10 * sizeof(Elf64_Rela));
    put_dynamic(place, DT_JMPREL, BASE + 864);
    put_dynamic(place, DT_PLTRELSZ, 2 * sizeof(Elf64_Rela));
}

static struct elf_room planned(const struct place *place)
{
    struct elf_room room;

    elf_room_plan(&room, &place->image, &need);
    return room;
}

static void test_small_tables_make_room_for_large_ones(void **state)
{
    struct place place;
    struct elf_room room;

    (void)state;
    place_begin(&place);
    room = planned(&place);
    assert_true(room.has_headers);
    assert_true(room.has_relocations);
    assert_true(room.has_strings);
    assert_false(room.has_symbols); /* .dynstr is behind it, and larger */
    assert_int_equal(room.moves.count, 2);
    assert_int_equal(room.moves.items[0].from, BASE + 288);
    assert_int_equal(room.moves.items[0].size, 452 - 288);
    assert_int_equal(room.moves.items[1].from, BASE + 864);
    assert_int_equal(room.moves.items[1].size, 48);

    room.moves.items[0].to = 0x500020;
    assert_int_equal(elf_moved(&room.moves, BASE + 287), BASE + 287);
    assert_int_equal(elf_moved(&room.moves, BASE + 320), 0x500040);
    assert_int_equal(elf_moved(&room.moves, BASE + 452), BASE + 452);
}

static void test_symbols_stay_where_lld_puts_versions(void **state)
{
    struct place place;
    struct elf_room room;

    (void)state;
    place_begin(&place);
    place.dynamic[2].d_un.d_ptr = BASE + 2048; /* .dynstr elsewhere, .gnu.version in its place */
    put_section(&place, STRINGS, SHT_STRTAB, 2048, 40);
    put_section(&place, VERSIONS, SHT_GNU_versym, 552, 4 * sizeof(Elf64_Half));
    place.dynamic[4].d_un.d_ptr = BASE + 552;
    memset(place.bytes + 560, 0, 40);
    room = planned(&place);
    assert_true(room.has_symbols);
}

static void test_without_sections_nothing_stays(void **state)
{
    struct place place;
    struct elf_room room;

    (void)state;
    place_begin(&place);
    place.image.section_count = 0;
    room = planned(&place);
    assert_false(room.has_headers || room.has_relocations || room.has_strings || room.has_symbols);
    assert_int_equal(room.moves.count, 0);
}

static void test_a_lost_section_is_not_overwritten(void **state)
{
    struct place place;

    (void)state;
    place_begin(&place);
    assert_true(planned(&place).has_strings);
    place.bytes[610] = 1; /* in what looked like padding */
    assert_false(planned(&place).has_strings);
    place_begin(&place);
    place.sections[NOTE].sh_type = SHT_NULL;
    place.sections[NOTE].sh_size = 0;
    assert_false(planned(&place).has_headers);
}

static void test_what_is_in_the_way_stays(void **state)
{
    struct place place;

    (void)state;
    place_begin(&place);
    place.sections[HASH].sh_type = SHT_PROGBITS;
    assert_false(planned(&place).has_headers);
    assert_true(planned(&place).has_relocations);

    place_begin(&place);
    place.sections[NOTE].sh_flags |= SHF_WRITE;
    assert_false(planned(&place).has_headers);

    place_begin(&place);
    place.dynamic[7].d_un.d_ptr = BASE + 2048; /* .rela.plt is something else */
    assert_false(planned(&place).has_relocations);

    place_begin(&place); /* the interpreter's name is told by another segment, too */
    put_segment(&place, 3, PT_GNU_RELRO, 280, 16);
    assert_false(planned(&place).has_headers);
}

static void test_nothing_larger_moves(void **state)
{
    struct place place;

    (void)state;
    place_begin(&place);
    place.dynamic[6].d_un.d_val = 2 * sizeof(Elf64_Rela); /* as large as .rela.plt */
    put_section(&place, RELOCATIONS, SHT_RELA, 816, 2 * sizeof(Elf64_Rela));
    place.dynamic[5].d_un.d_ptr = BASE + 816;
    assert_false(planned(&place).has_relocations);
}

static void test_a_note_segment_moves_as_a_whole(void **state)
{
    struct place place;

    (void)state;
    place_begin(&place);
    put_segment(&place, 3, PT_NOTE, 320, 700); /* as far as the code */
    assert_false(planned(&place).has_headers);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tables_make_room_for_large_ones),
        cmocka_unit_test(test_symbols_stay_where_lld_puts_versions),
        cmocka_unit_test(test_without_sections_nothing_stays),
        cmocka_unit_test(test_a_lost_section_is_not_overwritten),
        cmocka_unit_test(test_what_is_in_the_way_stays),
        cmocka_unit_test(test_nothing_larger_moves),
        cmocka_unit_test(test_a_note_segment_moves_as_a_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
