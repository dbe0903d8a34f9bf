/* The agent put into an image: its thread-local slot, its relocations, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/write/elf_embedding.h"
#include "trace/embedded_agent.h"
#include "trace/image_manifest.h"

#include <cmocka.h>

#define DATA_ADDRESS 0x403000u
#define TLS_ADDRESS  0x402000u
#define TLS_SIZE     64u

static const char *agent_path; /* the command line names it */

/* A program of one segment that holds initial thread-local storage, and relocations for it. */
struct program {
    uint8_t bytes[TLS_SIZE + 4 * sizeof(Elf64_Rela)];
    Elf64_Phdr segments[2];
    uint32_t load;
    Elf64_Dyn dynamic[3];
    struct elf_image image;
};

static void program_begin(struct program *program, uint64_t file_size, uint64_t memory_size,
                          uint64_t alignment)
{
    *program = (struct program){0};
    for (size_t i = 0; i < TLS_SIZE; i++)
        program->bytes[i] = (uint8_t)(i + 1);
    program->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                        .p_vaddr = TLS_ADDRESS,
                                        .p_filesz = sizeof(program->bytes),
                                        .p_memsz = sizeof(program->bytes)};
    program->segments[1] = (Elf64_Phdr){.p_type = PT_TLS,
                                        .p_vaddr = TLS_ADDRESS,
                                        .p_filesz = file_size,
                                        .p_memsz = memory_size,
                                        .p_align = alignment};
    program->image = (struct elf_image){.path = "program",
                                        .class = &elf_class_x86_64,
                                        .bytes = program->bytes,
                                        .size = sizeof(program->bytes),
                                        .segments = program->segments,
                                        .segment_count = 2,
                                        .loads = &program->load,
                                        .load_count = 1,
                                        .dynamic = program->dynamic};
}

static void program_relocate(struct program *program, uint64_t offset, uint32_t type)
{
    Elf64_Rela relocation = {
        .r_offset = offset, .r_info = ELF64_R_INFO(0, type), .r_addend = 0x401234};

    memcpy(program->bytes + TLS_SIZE, &relocation, sizeof(relocation));
    program->dynamic[0] =
        (Elf64_Dyn){.d_tag = DT_RELA, .d_un.d_ptr = program->segments[0].p_vaddr + TLS_SIZE};
    program->dynamic[1] = (Elf64_Dyn){.d_tag = DT_RELASZ, .d_un.d_val = sizeof(relocation)};
    program->image.dynamic_count = 2;
}

static uint64_t round_up(uint64_t number, uint64_t multiple)
{
    return (number + multiple - 1) / multiple * multiple;
}

static void agent_open(struct elf_embedding *embedding)
{
    struct failure failure;

    if (!elf_embedding_open(embedding, agent_path, &failure))
        fail_msg("%s", failure.text);
}

/* The psABI: storage begins round_up(size, alignment) below the thread pointer. */
static void check_tls(uint64_t file_size, uint64_t memory_size, uint64_t alignment)
{
    struct elf_embedding embedding;
    struct program program;
    struct buffer data = {0};
    struct failure failure;
    Elf64_Phdr header;
    uint64_t distance, before, mark = EMBEDDED_TLS_MARK;
    const uint8_t *bytes;

    agent_open(&embedding);
    program_begin(&program, file_size, memory_size, alignment);
    assert_true(elf_embedding_append(&embedding, &program.image, &data, DATA_ADDRESS, &failure));
    header = program.segments[1];
    elf_embedding_tls(&embedding, 0x1000, &header);
    distance = round_up(header.p_memsz, alignment);
    before = header.p_memsz - memory_size;
    bytes = data.bytes + (header.p_vaddr - DATA_ADDRESS);

    assert_int_equal(distance - before, round_up(memory_size, alignment));
    assert_int_equal(embedding.tls_slot, distance);
    assert_int_equal(distance % 8, 0);
    assert_int_equal(header.p_vaddr % alignment, 0);
    assert_int_equal(header.p_vaddr % 8, 0);
    assert_int_equal(header.p_offset, header.p_vaddr - 0x1000);
    assert_int_equal(header.p_filesz, before + file_size);
    assert_true(before >= elf_segment(&embedding.image, PT_TLS)->p_memsz);
    assert_memory_equal(bytes + offsetof(struct thread_words, mark), &mark, sizeof(mark));
    assert_memory_equal(bytes + before, program.bytes, file_size);
    free(data.bytes);
    elf_embedding_close(&embedding);
}

static void test_the_slot_precedes_what_the_program_has(void **state)
{
    (void)state;
    for (uint64_t alignment = 1; alignment <= 4096; alignment *= 2)
        for (uint64_t size = 0; size <= TLS_SIZE; size += 4) {
            check_tls(size, size, alignment);
            check_tls(size / 2, size + 100, alignment);
        }
}

static void test_pointers_in_the_storage_move_along(void **state)
{
    struct elf_embedding embedding;
    struct program program;
    struct buffer data = {0};
    struct failure failure;
    uint64_t pointer, before, value;

    (void)state;
    agent_open(&embedding);
    program_begin(&program, TLS_SIZE, TLS_SIZE, 16);
    program_relocate(&program, TLS_ADDRESS + 24, R_X86_64_RELATIVE);
    assert_true(elf_embedding_append(&embedding, &program.image, &data, DATA_ADDRESS, &failure));
    assert_int_equal(embedding.pointers.size, sizeof(pointer));
    memcpy(&pointer, embedding.pointers.bytes, sizeof(pointer));
    before = embedding.tls_memory_size - TLS_SIZE;
    assert_int_equal(pointer, embedding.tls_address + before + 24);
    memcpy(&value, data.bytes + (pointer - DATA_ADDRESS), sizeof(value));
    assert_int_equal(value, 0x401234);
    free(data.bytes);
    elf_embedding_close(&embedding);
}

/* Appends the program's storage, which must be refused with `text` in the message. */
static void check_refusal(struct program *program, const char *text)
{
    struct elf_embedding embedding;
    struct buffer data = {0};
    struct failure failure = {{0}};

    agent_open(&embedding);
    assert_false(elf_embedding_append(&embedding, &program->image, &data, DATA_ADDRESS, &failure));
    if (!strstr(failure.text, text) || strncmp(failure.text, "program: ", 9) != 0)
        fail_msg("'%s' does not say '%s'", failure.text, text);
    free(data.bytes);
    elf_embedding_close(&embedding);
}

static void test_odd_storage_is_refused(void **state)
{
    struct program program;

    (void)state;
    program_begin(&program, 8, 8, 3);
    check_refusal(&program, "aligned thread-local storage");
    program_begin(&program, 8, 8, 2 << 20);
    check_refusal(&program, "aligned thread-local storage");
    program_begin(&program, 9, 8, 8);
    check_refusal(&program, "aligned thread-local storage");
    program_begin(&program, 8, 1ull << 40, 8);
    check_refusal(&program, "aligned thread-local storage");
    program_begin(&program, 8, 8, 8);
    program.segments[1].p_vaddr += 4;
    check_refusal(&program, "aligned thread-local storage");

    program_begin(&program, 16, 16, 8);
    program_relocate(&program, TLS_ADDRESS, R_X86_64_64);
    check_refusal(&program, "found type 1 at 0x402000");
    program_begin(&program, 16, 16, 8);
    program_relocate(&program, TLS_ADDRESS + 12, R_X86_64_RELATIVE); /* half of it within */
    check_refusal(&program, "found type 8 at 0x40200c");
    program_begin(&program, 16, 16, 8);
    program.dynamic[0].d_tag = DT_RELR;
    program.image.dynamic_count = 1;
    check_refusal(&program, "DT_RELR");
}

static uint64_t word_at(const struct elf_embedding *embedding, const struct buffer *data,
                        uint64_t address)
{
    uint64_t word;

    if (address < embedding->address) {
        assert_in_range(address, DATA_ADDRESS, DATA_ADDRESS + data->size - sizeof(word));
        memcpy(&word, data->bytes + (address - DATA_ADDRESS), sizeof(word));
        return word;
    }
    assert_in_range(address - embedding->address, 0, embedding->bytes.size - sizeof(word));
    memcpy(&word, embedding->bytes.bytes + (address - embedding->address), sizeof(word));
    return word;
}

static bool is_in_agent(const struct elf_embedding *embedding, uint64_t address)
{
    return address >= embedding->address && address <= embedding->address + embedding->image.end;
}

static size_t count_relocations(const struct elf_image *agent, uint32_t type)
{
    struct elf_table relocations = elf_relocations(agent);
    size_t count = 0;

    for (size_t i = 0; i < relocations.count; i++)
        count += ELF64_R_TYPE(elf_relocation(relocations, i).r_info) == type;
    return count;
}

/* Binds the agent at an address behind `data`. */
static void check_bound(struct elf_embedding *embedding, struct buffer *data)
{
    struct elf_embedding_place place = {
        .address = 0x500000, .delta = 0x2000, .entry = 0x401000, .hook_word = 0x4ffd00};
    struct failure failure;

    if (!elf_embedding_bind(embedding, &place, data, &failure))
        fail_msg("%s", failure.text);
    assert_true(is_in_agent(embedding, elf_embedding_start(embedding)));
    for (size_t i = 0; i < EMBEDDING_LOADS; i++) {
        const Elf64_Phdr *load = &embedding->loads[i];

        assert_true(load->p_vaddr >= place.address);
        if (load->p_filesz)
            assert_int_equal(load->p_offset, load->p_vaddr - place.delta);
    }
}

static void test_pointers_of_the_agent_lead_into_it(void **state)
{
    struct elf_embedding embedding;
    struct program program;
    struct buffer data = {0};
    struct failure failure;
    struct embedding told = {0};
    size_t relative;

    (void)state;
    agent_open(&embedding);
    relative = count_relocations(&embedding.image, R_X86_64_RELATIVE);
    program_begin(&program, 0, 0, 1);
    buffer_append_zeros(&data, 64);
    assert_true(elf_embedding_append(&embedding, &program.image, &data, DATA_ADDRESS, &failure));
    check_bound(&embedding, &data);

    assert_true(embedding.pointers.size / sizeof(uint64_t) >= relative);
    for (size_t i = 0; i < embedding.pointers.size; i += sizeof(uint64_t)) {
        uint64_t at = word_at(&embedding, &data, embedding.pointers_address + i);

        assert_true(is_in_agent(&embedding, word_at(&embedding, &data, at)));
    }
    for (size_t at = 0; at + sizeof(told) <= embedding.bytes.size && told.entry != 0x401000;
         at += 8)
        memcpy(&told, embedding.bytes.bytes + at, sizeof(told));
    assert_int_equal(told.entry, 0x401000);
    assert_true(is_in_agent(&embedding, told.address));
    assert_int_equal(told.hook_word, 0x4ffd00);
    assert_true(is_in_agent(&embedding, told.hook));
    assert_int_equal(told.pointers, embedding.pointers_address);
    assert_int_equal(told.pointer_count, embedding.pointers.size / sizeof(uint64_t));
    free(data.bytes);
    elf_embedding_close(&embedding);
}

/* The negative distance from the thread pointer, for each reference to the slot. */
static void test_the_agent_finds_its_slot(void **state)
{
    struct elf_embedding embedding;
    struct program program;
    struct buffer data = {0};
    struct failure failure;
    struct elf_table relocations;
    size_t found = 0;

    (void)state;
    agent_open(&embedding);
    program_begin(&program, 16, 40, 32);
    buffer_append_zeros(&data, 64);
    assert_true(elf_embedding_append(&embedding, &program.image, &data, DATA_ADDRESS, &failure));
    check_bound(&embedding, &data);
    relocations = elf_relocations(&embedding.image);
    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);

        if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_TPOFF64)
            continue;
        assert_int_equal(word_at(&embedding, &data, embedding.address + relocation.r_offset),
                         (uint64_t)relocation.r_addend - embedding.tls_slot);
        found++;
    }
    assert_true(found > 0);
    free(data.bytes);
    elf_embedding_close(&embedding);
}

static void test_what_is_no_agent_is_refused(void **state)
{
    struct elf_embedding embedding;
    struct elf_embedding_place place = {.address = 0x500000};
    struct program program;
    struct buffer data = {0};
    struct failure failure = {{0}};

    (void)state;
    assert_false(elf_embedding_open(&embedding, "/dev/null", &failure));
    assert_false(elf_embedding_open(&embedding, "/nowhere/libhooks.so", &failure));
    if (!elf_embedding_open(&embedding, "/proc/self/exe", &failure)) {
        assert_non_null(strstr(failure.text, "expected an agent of 4 load segments"));
        return;
    }
    program_begin(&program, 0, 0, 1);
    assert_true(elf_embedding_append(&embedding, &program.image, &data, DATA_ADDRESS, &failure));
    assert_false(elf_embedding_bind(&embedding, &place, &data, &failure));
    assert_non_null(strstr(failure.text, "expected an agent for static executables"));
    free(data.bytes);
    elf_embedding_close(&embedding);
}

int main(int argument_count, char **arguments)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_slot_precedes_what_the_program_has),
        cmocka_unit_test(test_pointers_in_the_storage_move_along),
        cmocka_unit_test(test_odd_storage_is_refused),
        cmocka_unit_test(test_pointers_of_the_agent_lead_into_it),
        cmocka_unit_test(test_the_agent_finds_its_slot),
        cmocka_unit_test(test_what_is_no_agent_is_refused),
    };

    if (argument_count != 2) {
        fprintf(stderr, "usage: %s AGENT\n", *arguments);
        return 2;
    }
    agent_path = arguments[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
