/*
 * flow_check [-v] FILE...: how much of each ELF image can be copied, as far as the functions' own
 * control flow tells.
 *
 *      libsqlite3.so.0: 2662 of 2665 functions and fragments certain, 946031 of 956901 bytes; ...
 *      unknown-jump           3 functions     10870 bytes
 *
 * -v: also a line for each that is not certain, and for each jump table.
 *
 * flow_check -l FILE...: at how many calls, and jumps that leave, of functions that are copied,
 * registers are dead (flow_registers.h), with the time and memory that finding them took:
 *
 *      lua5.4: 7210 calls and exits; one dead at 6513 (90.3%), two at 5701 (79.1%)
 *
 * -lv: also a line for each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "rewriter/base/input_file.h"
#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_plan_make.h"
#include "rewriter/elf/copies/elf_copy_source.h"
#include "rewriter/flow/flow_registers.h"
#include "rewriter/patch/patch_decide.h"
#include "support/memory.h"

struct count {
    size_t functions, tables, bounded, entries, labels;
    uint64_t bytes;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void count(struct count *counts, const struct flow *flow, const struct function *function)
{
    struct count *one = &counts[flow->doubt];

    one->functions++;
    one->bytes += function->end - function->address;
    one->tables += flow->table_count;
    one->labels += flow->label_count;
    for (size_t i = 0; i < flow->table_count; i++) {
        one->bounded += flow->tables[i].is_bounded;
        one->entries += flow->tables[i].count;
    }
}

static void print_details(const struct flow *flow, const struct function *function)
{
    if (flow->doubt)
        printf("  %" PRIx64 " %" PRIu64 " %s%s%s\n", function->address,
               function->end - function->address, flow_doubt_word(flow->doubt),
               function->reason == PATCH_FRAGMENT ? " fragment " : " ",
               function->name ? function->name : "");
    for (size_t i = 0; i < flow->table_count; i++) {
        const struct flow_table *table = &flow->tables[i];

        printf("  %" PRIx64 " table %" PRIx64 " origin %" PRIx64 " %" PRIu32 " * %u%s\n",
               table->jump, table->address, table->origin, table->count, table->entry_size,
               table->is_bounded ? "" : " unbounded");
    }
}

static void print_counts(const char *path, const struct count *counts)
{
    const struct count *certain = &counts[FLOW_CERTAIN];
    size_t functions = 0;
    uint64_t bytes = 0;

    for (int i = 0; i < FLOW_DOUBTS; i++) {
        functions += counts[i].functions;
        bytes += counts[i].bytes;
    }
    printf("%s: %zu of %zu functions and fragments certain, %" PRIu64 " of %" PRIu64
           " bytes; %zu tables, %zu bounded, %zu entries, %zu labels\n",
           path, certain->functions, functions, certain->bytes, bytes, certain->tables,
           certain->bounded, certain->entries, certain->labels);
    for (int i = 1; i < FLOW_DOUBTS; i++)
        if (counts[i].functions)
            printf("%-17s %6zu functions %9" PRIu64 " bytes\n", flow_doubt_word(i),
                   counts[i].functions, counts[i].bytes);
}

static void check(const char *path, const struct elf_image *elf, const struct elf_code *code,
                  const struct patch_plan *plan, bool is_verbose)
{
    struct copy_source pointers = {0};
    struct flow_source source;
    struct count counts[FLOW_DOUBTS] = {0};
    double begin = now(), read;
    struct rusage usage;

    elf_copy_source(&pointers, code, elf);
    source = copy_source_settle(&pointers, plan);
    read = now();
    for (size_t i = 0; i < code->functions.count; i++) {
        const struct function *function = &code->functions.items[i];
        struct flow flow;

        if (function->is_import ||
            (!patch_reason_is_hooked(function->reason) && function->reason != PATCH_FRAGMENT))
            continue;
        flow_read(&flow, &source, function);
        count(counts, &flow, function);
        if (is_verbose)
            print_details(&flow, function);
        flow_free(&flow);
    }
    print_counts(path, counts);
    getrusage(RUSAGE_SELF, &usage);
    printf("%.2f s, and %.2f s for pointers and landing pads; peak %ld MB\n", now() - read,
           read - begin, usage.ru_maxrss >> 10);
    copy_source_free(&pointers);
}

/* ---- registers */

/* Calls of a function, and jumps out of it. */
struct sites {
    size_t count, with_one, with_two;
    bool is_verbose;
};

static void count_site(struct sites *sites, const struct flow_registers *registers,
                       uint64_t address)
{
    unsigned dead = flow_registers_dead(registers, address);

    sites->count++;
    sites->with_one += __builtin_popcount(dead) >= 1;
    sites->with_two += __builtin_popcount(dead) >= 2;
    if (sites->is_verbose)
        printf("  %" PRIx64 " %x %x\n", address, dead,
               flow_registers_dead_taken(registers, address));
}

static bool is_site(const struct copy_plan *copies, const struct function *function,
                    const struct instruction *at)
{
    switch (at->flow) {
    case FLOW_CALL:
    case FLOW_INDIRECT_CALL:
        return true;
    case FLOW_INDIRECT_JUMP:
        return !copy_plan_is_table_jump(copies, at->address);
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        return at->target - function->address >= function->end - function->address;
    default:
        return false;
    }
}

static void count_sites(struct sites *sites, const struct flow_registers *registers,
                        const struct copy_plan *copies, const struct patch_plan *plan)
{
    struct instruction at;
    ZydisDecoder decoder;
    size_t room;

    decoder_init(&decoder, &processor_x86_64);
    for (size_t i = 0; i < plan->functions->count; i++) {
        const struct function *function = &plan->functions->items[i];
        const uint8_t *bytes = code_at(plan->code, function->address, &room);

        if (copies->doubts[i] != FLOW_CERTAIN)
            continue;
        for (uint64_t address = function->address; address < function->end; address += at.length) {
            size_t offset = address - function->address;

            if (!instruction_decode(&decoder, address, bytes + offset, room - offset, &at))
                break;
            if (is_site(copies, function, &at))
                count_site(sites, registers, address);
        }
    }
}

static long peak(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss >> 10;
}

static void find_registers(struct flow_registers *registers, const struct copy_plan *copies,
                           const struct flow_source *source)
{
    struct flow_table *tables = memory_zeroed(copies->table_count, sizeof(*tables));

    for (size_t i = 0; i < copies->table_count; i++)
        tables[i] = copies->tables[i].table;
    flow_registers_find(registers,
                        &(struct flow_registers_scope){.source = source,
                                                       .doubts = copies->doubts,
                                                       .tables = tables,
                                                       .table_count = copies->table_count});
    free(tables);
}

static void check_registers(const char *path, const struct elf_image *elf,
                            const struct elf_code *code, const struct patch_plan *plan,
                            bool is_verbose)
{
    struct copy_source pointers = {0};
    struct copy_plan copies = {0};
    struct flow_registers registers;
    struct flow_source source;
    struct sites sites = {.is_verbose = is_verbose};
    double begin, end;
    long before;

    elf_copy_source(&pointers, code, elf);
    copy_plan_make(&copies, plan, &pointers);
    free(pointers.by_target); /* made once more */
    source = copy_source_settle(&pointers, plan);
    before = peak();
    begin = now();
    find_registers(&registers, &copies, &source);
    end = now();
    count_sites(&sites, &registers, &copies, plan);
    printf("%s: %zu calls and exits; one dead at %zu (%.1f%%), two at %zu (%.1f%%)\n", path,
           sites.count, sites.with_one,
           100.0 * (double)sites.with_one / (double)(sites.count + !sites.count), sites.with_two,
           100.0 * (double)sites.with_two / (double)(sites.count + !sites.count));
    printf("%.2f s; peak %ld MB, %ld MB before\n", end - begin, peak(), before);
    flow_registers_free(&registers);
    copy_plan_free(&copies);
    copy_source_free(&pointers);
}

/* Analyses a file as analysis.c does, but ELF only, and keeps what the format-neutral part hides.
 */
static bool check_file(const char *path, const char *option)
{
    struct input_file input;
    struct elf_image image;
    struct elf_code code;
    struct patch_plan plan;
    struct failure failure;

    if (!input_file_open(&input, path, &failure)) {
        fprintf(stderr, "flow_check: %s\n", failure.text);
        return false;
    }
    if (!elf_image_read(&image, path, input.bytes, input.size, &failure)) {
        fprintf(stderr, "flow_check: %s\n", failure.text);
        input_file_close(&input);
        return false;
    }
    elf_code_read(&code, &image, &(struct elf_code_options){0});
    plan = (struct patch_plan){.code = &code.code,
                               .functions = &code.functions,
                               .map = &code.map,
                               .base = image.base,
                               .end = image.end};
    if (code.functions.count && !code.map.is_exhausted) {
        patch_decide(&plan);
        if (option[1] == 'l')
            check_registers(path, &image, &code, &plan, strcmp(option, "-lv") == 0);
        else
            check(path, &image, &code, &plan, strcmp(option, "-v") == 0);
    }
    patch_plan_free(&plan);
    elf_code_free(&code);
    elf_image_free(&image);
    input_file_close(&input);
    return true;
}

int main(int count, char **arguments)
{
    const char *option = count > 1 && arguments[1][0] == '-' ? arguments[1] : "--";
    bool is_done = count > 1;

    for (int i = 1 + (option == arguments[1]); i < count; i++)
        is_done &= check_file(arguments[i], option);
    return is_done ? 0 : 1;
}
