#include "rewriter/copy/copy_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_classify.h"
#include "rewriter/code/code_discover.h"
#include "rewriter/copy/copy_plan_make.h"
#include "rewriter/copy/copy_resolve.h"
#include "rewriter/copy/copy_write.h"
#include "rewriter/patch/patch_decide.h"

#include <cmocka.h>

/* The return address lies on top of the stack throughout. */
static void unwind_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

static struct return_slot unwind_slot_at(void *context, uint64_t address)
{
    const struct return_slot *slot = context;

    (void)address;
    return *slot;
}

void copied_begin(struct copied *copied)
{
    memset(copied, 0, sizeof(*copied));
    memset(copied->bytes, 0xf4, SIZE); /* hlt: no padding */
    copied->range = (struct code_range){BASE, copied->bytes, SIZE};
    memset(copied->data, 0x7f, sizeof(copied->data)); /* no entries of a table */
    copied->data_range = (struct code_range){TABLE, copied->data, sizeof(copied->data)};
    copied->slot = (struct return_slot){.base = RETURN_SLOT_RSP, .until = UINT64_MAX};
    copied->code = (struct code){
        .processor = &processor_x86_64,
        .ranges = &copied->range,
        .range_count = 1,
        .data = &copied->data_range,
        .data_count = 1,
        .unwind = {&copied->slot, unwind_begin, unwind_slot_at},
    };
    code_map_init(&copied->map, &copied->code);
}

void copied_add(struct copied *copied, uint64_t offset, const char *bytes, size_t size)
{
    memcpy(copied->bytes + offset, bytes, size);
    function_list_add(&copied->functions, (struct function){
                                              .address = BASE + offset,
                                              .end = BASE + offset + size,
                                              .evidence = EVIDENCE_SYMBOL | EVIDENCE_EXTENT,
                                          });
}

void copied_plan(struct copied *copied)
{
    function_list_settle(&copied->functions);
    code_discover(&copied->code, &copied->functions, &copied->map);
    code_classify(&copied->map, &copied->functions);
    copied->patches = (struct patch_plan){
        .code = &copied->code,
        .functions = &copied->functions,
        .map = &copied->map,
        .base = BASE,
        .end = STUBS,
    };
    patch_decide(&copied->patches);
    copy_plan_make(&copied->plan, &copied->patches, &copied->source);
}

void copied_emit(struct copied *copied)
{
    struct stub_moves *moves = calloc(copied->functions.count, sizeof(*moves));
    struct failure failure;

    for (size_t i = 0; i < copied->functions.count; i++)
        moves[i] = (struct stub_moves){.is_copied = copy_plan_has(&copied->plan, i)};
    copied->stubs.address = STUBS;
    assert_true(patch_stubs_append(&copied->stubs, &copied->patches, "test", moves, &failure));
    copied->writer = (struct copy_writer){.stubs = &copied->stubs, .set = &copied->set};
    assert_true(copies_append(&copied->writer, &copied->plan, &copied->patches, "test", &failure));
    free(moves);
}

void copied_store(struct copied *copied)
{
    copied_emit(copied);
    copies_store(&copied->writer, &copied->plan, &copied->patches,
                 &(struct stub_targets){IMAGE, HOOK});
}

void copied_end(struct copied *copied)
{
    copy_fields_free(&copied->writer.fields);
    copy_set_free(&copied->set);
    free(copied->stubs.code.bytes);
    copy_plan_free(&copied->plan);
    copy_source_free(&copied->source);
    patch_plan_free(&copied->patches);
    code_map_free(&copied->map);
    function_list_free(&copied->functions);
}

uint64_t copy_at(const struct copied *copied, uint64_t offset)
{
    uint64_t address = copy_address(&copied->set, &copied->functions, BASE + offset);

    assert_int_not_equal(address, 0);
    return address;
}

const uint8_t *bytes_at(const struct copied *copied, uint64_t address)
{
    assert_true(address - STUBS < copied->stubs.code.size);
    return copied->stubs.code.bytes + (address - STUBS);
}

int32_t word_at(const struct copied *copied, uint64_t address)
{
    int32_t word;

    memcpy(&word, bytes_at(copied, address), sizeof(word));
    return word;
}

uint64_t lead(const struct copied *copied, uint64_t address, uint64_t size)
{
    return address + size + (uint64_t)(int64_t)word_at(copied, address + size - 4);
}

void add_caller(struct copied *copied)
{
    ADD(copied, 0, "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3");
}

void add_table(struct copied *copied, uint64_t first, uint64_t step)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t distance = BASE + (uint32_t)(first + i * step) - TABLE;

        memcpy(copied->data + i * sizeof(distance), &distance, sizeof(distance));
    }
}

void assert_doubt(const struct copied *copied, size_t function, enum flow_doubt doubt)
{
    assert_string_equal(flow_doubt_word(copied->plan.doubts[function]), flow_doubt_word(doubt));
}

bool has_site(const struct copied *copied, uint64_t copy, uint64_t original)
{
    for (size_t i = 0; i < copied->set.site_count; i++)
        if (copied->set.sites[i].copy == copy)
            return copied->set.sites[i].original == BASE + original;
    return false;
}

void assert_branch_before(const struct copied *copied, uint64_t next, uint8_t opcode,
                          uint64_t target)
{
    uint64_t at = copy_at(copied, next) - 5;

    assert_int_equal(*bytes_at(copied, at), opcode);
    assert_int_equal(lead(copied, at, 5), target);
}
