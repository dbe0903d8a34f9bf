#include "rewriter/copy/copy_tables.h"

#include <stdlib.h>

#include "support/memory.h"

bool copy_tables_are_writable(const struct code *code, const struct flow *flow)
{
    for (size_t i = 0; i < flow->table_count; i++) {
        const struct flow_table *table = &flow->tables[i];
        size_t room;

        if (table->is_bounded &&
            (!code_data_at(code, table->address, &room) || code_range_at(code, table->address) ||
             room / table->entry_size < table->count))
            return false;
    }
    return true;
}

/* How many entries lead to a function's first instruction, and how many to any other place. */
static void count_entries(const struct flow_table *table, const struct flow_source *source,
                          uint32_t *functions, uint32_t *others)
{
    *functions = *others = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t target = flow_table_target(source, table, i);
        const struct function *function =
            target ? function_list_at(source->functions, target) : NULL;

        if (function && function->reason != PATCH_FRAGMENT &&
            function->reason != PATCH_INSIDE_FUNCTION)
            ++*functions;
        else if (target)
            ++*others;
    }
}

bool copy_tables_take_out_pointers(struct flow *flow, const struct flow_source *source)
{
    size_t kept = 0;

    for (size_t i = 0; i < flow->table_count; i++) {
        const struct flow_table *table = &flow->tables[i];
        uint32_t functions = 0, others = 1;

        if (table->entry_size == sizeof(uint64_t))
            count_entries(table, source, &functions, &others);
        if (functions && others)
            return false;
        if (!functions)
            flow->tables[kept++] = *table;
    }
    flow->table_count = kept;
    return true;
}

void copy_tables_keep(struct copy_plan *plan, const struct flow *flow, uint32_t member)
{
    for (size_t i = 0; i < flow->table_count; i++) {
        plan->tables =
            memory_grow(plan->tables, plan->table_count, &plan->table_room, sizeof(*plan->tables));
        plan->tables[plan->table_count++] = (struct copy_table){flow->tables[i], member};
    }
}

static int by_address(const void *left, const void *right)
{
    const struct copy_table *a = left, *b = right;

    if (a->table.address != b->table.address)
        return a->table.address < b->table.address ? -1 : 1;
    return a->table.count < b->table.count ? 1 : a->table.count > b->table.count ? -1 : 0;
}

static uint64_t table_end(const struct flow_table *table)
{
    return table->address + (uint64_t)table->count * table->entry_size;
}

/* Whether what one is made to hold serves the other. */
static bool is_compatible(const struct flow_table *table, const struct flow_table *other)
{
    return (table->address - other->address) % table->entry_size == 0 &&
           table->origin == other->origin && table->entry_size == other->entry_size &&
           table->is_bounded == other->is_bounded;
}

void copy_tables_check(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    const struct copy_table *last = NULL; /* that reaches furthest */

    if (plan->table_count)
        qsort(plan->tables, plan->table_count, sizeof(*plan->tables), by_address);
    for (size_t i = 0; i < plan->table_count; i++) {
        const struct copy_table *table = &plan->tables[i];

        if (last && table_end(&last->table) > table->table.address) {
            if (is_compatible(&last->table, &table->table)) {
                family_join(work, last->member, table->member);
            } else if (last->table.is_bounded || table->table.is_bounded) {
                doubt_member(plan, last->member, FLOW_UNKNOWN_JUMP);
                doubt_member(plan, table->member, FLOW_UNKNOWN_JUMP);
            }
        }
        if (!last || table_end(&table->table) > table_end(&last->table))
            last = table;
    }
}

static int by_jump(const void *left, const void *right)
{
    const struct copy_table *a = left, *b = right;

    return a->table.jump < b->table.jump ? -1 : a->table.jump > b->table.jump;
}

static int by_word(const void *left, const void *right)
{
    const struct copy_word *a = left, *b = right;

    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static void collect_word(struct copy_plan_work *work, const struct copy_table *table,
                         uint32_t entry)
{
    struct copy_plan *plan = work->plan;
    const struct flow_table *from = &table->table;
    struct copy_word word = {
        .slot = from->address + (uint64_t)entry * from->entry_size,
        .target = flow_table_target(&work->source, from, entry),
        .origin = from->entry_size == sizeof(uint32_t) ? from->origin : 0,
        .size = from->entry_size,
    };

    if (!word.target || copy_target_of_jump(plan, work->patches->functions, table->member,
                                            word.target, false) != COPY_TARGET_INSIDE)
        return;
    plan->words = memory_grow(plan->words, plan->word_count, &plan->word_room, sizeof(word));
    plan->words[plan->word_count++] = word;
}

static void collect_words(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->table_count; i++)
        for (uint32_t j = 0; plan->tables[i].table.is_bounded && j < plan->tables[i].table.count;
             j++)
            collect_word(work, &plan->tables[i], j);
    if (plan->word_count)
        qsort(plan->words, plan->word_count, sizeof(*plan->words), by_word);
    for (size_t i = 0; i < plan->word_count; i++)
        if (kept == 0 || plan->words[kept - 1].slot != plan->words[i].slot)
            plan->words[kept++] = plan->words[i];
    plan->word_count = kept;
}

void copy_tables_settle(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->table_count; i++)
        if (copy_plan_has(plan, plan->tables[i].member))
            plan->tables[kept++] = plan->tables[i];
    plan->table_count = kept;
    if (plan->table_count)
        qsort(plan->tables, plan->table_count, sizeof(*plan->tables), by_jump);
    collect_words(work);
}
