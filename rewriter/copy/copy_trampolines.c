#include "rewriter/copy/copy_trampolines.h"

#include <stdlib.h>

#include "rewriter/patch/import_sites.h"
#include "support/memory.h"

static void occupy(struct copy_plan *plan, uint64_t address, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        address_set_add(&plan->occupied, address + i);
}

/* Whether it is in what is copied or not. */
void copy_trampolines_begin(struct copy_plan *plan, const struct patch_plan *patches)
{
    const struct function_list *functions = patches->functions;

    address_set_init(&plan->occupied, patches->code);
    for (size_t i = 0; i < functions->count; i++)
        if (patch_reason_is_hooked(functions->items[i].reason) && !functions->items[i].is_import)
            occupy(plan, functions->items[i].address,
                   (uint64_t)functions->items[i].patch_offset + functions->items[i].patch_size);
    for (size_t i = 0; i < patches->hole_count; i++)
        occupy(plan, patches->holes[i], PATCH_JUMP_SIZE);
    for (size_t i = 0; i < patches->retarget_count; i++)
        occupy(plan, patches->retargets[i].field, sizeof(uint32_t));
    for (size_t i = 0; i < patches->redirect_count; i++)
        occupy(plan, patches->redirects[i].field, sizeof(uint32_t));
    for (size_t i = 0; i < patches->map->slot_use_count; i++)
        if (import_site_function(functions, &patches->map->slot_uses[i]))
            occupy(plan, patches->map->slot_uses[i].opcode, IMPORT_SITE_SIZE);
}

void copy_trampoline_add(struct copy_plan *plan, uint64_t address)
{
    plan->trampolines = memory_grow(plan->trampolines, plan->trampoline_count,
                                    &plan->trampoline_room, sizeof(*plan->trampolines));
    plan->trampolines[plan->trampoline_count++] = (struct copy_trampoline){.address = address};
}

static int by_place(const void *left, const void *right)
{
    const struct copy_trampoline *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

/* Keeps each once. */
static void sort_trampolines(struct copy_plan *plan)
{
    size_t kept = 0;

    if (plan->trampoline_count)
        qsort(plan->trampolines, plan->trampoline_count, sizeof(*plan->trampolines), by_place);
    for (size_t i = 0; i < plan->trampoline_count; i++)
        if (kept == 0 || plan->trampolines[kept - 1].address != plan->trampolines[i].address)
            plan->trampolines[kept++] = plan->trampolines[i];
    plan->trampoline_count = kept;
}

/* The targets of tables that cannot be written, as far as they are within members. */
static void collect_trampolines(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;

    for (size_t i = 0; i < plan->table_count; i++) {
        const struct copy_table *table = &plan->tables[i];

        for (uint32_t j = 0; !table->table.is_bounded && j < table->table.count; j++) {
            uint64_t target = flow_table_target(&work->source, &table->table, j);

            if (!target || copy_target_of_jump(plan, work->patches->functions, table->member,
                                               target, false) != COPY_TARGET_INSIDE)
                continue;
            if (address_set_has(&work->survey.starts, target))
                copy_trampoline_add(plan, target);
            else
                doubt_member(plan, table->member, FLOW_MISALIGNED);
        }
    }
    sort_trampolines(plan);
}

static bool is_free(const struct copy_plan *plan, uint64_t address, uint64_t size)
{
    return address_set_next(&plan->occupied, address, address + size) == address + size;
}

/* The member that a trampoline's address, which is in one, is in. */
static size_t member_at(const struct copy_plan_work *work, uint64_t address)
{
    const struct function_list *functions = work->patches->functions;

    return (size_t)(function_list_owner(functions, address) - functions->items);
}

/* Bytes free from a trampoline's address on, up to the next one. */
static uint64_t room_at(const struct copy_plan_work *work, size_t trampoline)
{
    const struct copy_plan *plan = work->plan;
    uint64_t address = plan->trampolines[trampoline].address;
    uint64_t end = work->patches->functions->items[member_at(work, address)].end;

    if (trampoline + 1 < plan->trampoline_count && plan->trampolines[trampoline + 1].address < end)
        end = plan->trampolines[trampoline + 1].address;
    return address_set_next(&plan->occupied, address, end) - address;
}

/* Bytes within reach of a short jump that ends at `next`; 0 if none are free. */
static uint64_t find_hole(const struct copy_plan_work *work, const struct function *function,
                          uint64_t next)
{
    uint64_t low = function->address, high = function->end - PATCH_JUMP_SIZE;

    if (function->end - function->address < PATCH_JUMP_SIZE)
        return 0;
    if (next - low > 0u - (uint64_t)INT8_MIN)
        low = next + (uint64_t)INT8_MIN;
    if (high > next + INT8_MAX)
        high = next + INT8_MAX;
    for (; low <= high; low++)
        if (is_free(work->plan, low, PATCH_JUMP_SIZE))
            return low;
    return 0;
}

static void take_hole(struct copy_plan_work *work, struct copy_trampoline *trampoline)
{
    size_t member = member_at(work, trampoline->address);
    uint64_t next = trampoline->address + PATCH_SHORT_JUMP_SIZE;

    trampoline->hole = find_hole(work, &work->patches->functions->items[member], next);
    if (trampoline->hole)
        occupy(work->plan, trampoline->hole, PATCH_JUMP_SIZE);
    else
        doubt_member(work->plan, member, FLOW_NO_ROOM);
}

/* What takes room where it is comes first, then the holes. */
void copy_trampolines_place(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    bool *is_short;

    collect_trampolines(work);
    is_short = memory_zeroed(plan->trampoline_count, sizeof(*is_short));
    for (size_t i = 0; i < plan->trampoline_count; i++) {
        uint64_t address = plan->trampolines[i].address, room = room_at(work, i);

        is_short[i] = room >= PATCH_SHORT_JUMP_SIZE && room < PATCH_JUMP_SIZE;
        if (room < PATCH_SHORT_JUMP_SIZE)
            doubt_member(plan, member_at(work, address), FLOW_NO_ROOM);
        else
            occupy(plan, address, is_short[i] ? PATCH_SHORT_JUMP_SIZE : PATCH_JUMP_SIZE);
    }
    for (size_t i = 0; i < plan->trampoline_count; i++)
        if (is_short[i])
            take_hole(work, &plan->trampolines[i]);
    free(is_short);
}

void copy_trampolines_settle(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->trampoline_count; i++)
        if (copy_plan_has(plan, member_at(work, plan->trampolines[i].address)))
            plan->trampolines[kept++] = plan->trampolines[i];
    plan->trampoline_count = kept;
}
