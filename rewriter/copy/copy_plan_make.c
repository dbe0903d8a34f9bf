#include "rewriter/copy/copy_plan_make.h"

#include <stdlib.h>

#include "rewriter/copy/copy_blocks.h"
#include "rewriter/copy/copy_nodes.h"
#include "rewriter/copy/copy_tables.h"
#include "rewriter/copy/copy_trampolines.h"
#include "rewriter/flow/flow_flags.h"
#include "rewriter/flow/flow_keepers.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/sorted.h"

/* Hooked functions with code of their own, and their fragments. To whom a fragment belongs may not
   be known before its jumps are. */
static bool is_member(const struct function_list *functions, const struct function *function)
{
    if (function->is_import)
        return false;
    if (function->reason == PATCH_FRAGMENT)
        return !function->owner ||
               patch_reason_is_hooked(functions->items[function->owner - 1].reason);
    return patch_reason_is_hooked(function->reason);
}

static void find_members(struct copy_plan *plan, const struct function_list *functions)
{
    plan->count = functions->count;
    plan->doubts = memory_zeroed(functions->count, sizeof(*plan->doubts));
    for (size_t i = 0; i < functions->count; i++)
        if (!is_member(functions, &functions->items[i]))
            plan->doubts[i] = COPY_NO_MEMBER;
}

/* What is behind this is linear in the code, as no two members have any in common. */
static void doubt_overlaps(struct copy_plan *plan, const struct function_list *functions)
{
    size_t last = functions->count; /* that reaches furthest */

    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        if (function->reason == PATCH_INSIDE_FUNCTION || function->is_import)
            continue;
        if (last < functions->count && functions->items[last].end > function->address) {
            doubt_member(plan, last, FLOW_ENTERED);
            doubt_member(plan, i, FLOW_ENTERED);
        }
        if (last == functions->count || function->end > functions->items[last].end)
            last = i;
    }
}

static void doubt_called(struct copy_plan *plan, const struct patch_plan *patches)
{
    const struct function_list *functions = patches->functions;

    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        if (function->reason == PATCH_INSIDE_FUNCTION && function->owner &&
            function->evidence & (EVIDENCE_CALL | EVIDENCE_SYMBOL | EVIDENCE_ENTRY))
            doubt_member(plan, function->owner - 1, FLOW_ENTERED);
        if (plan->doubts[i] == FLOW_CERTAIN &&
            address_set_next(&patches->map->calls, function->address + 1, function->end) !=
                function->end)
            doubt_member(plan, i, FLOW_ENTERED);
    }
}

/* The function or fragment that an address is in, or null. */
static const struct function *owner_of(const struct function_list *functions, uint64_t address)
{
    const struct function *function = function_list_owner(functions, address);

    return function && address < function->end ? function : NULL;
}

/* The member that a branch enters other than where functions are entered; null if it enters none.
 */
static const struct function *entered_by(const struct copy_plan *plan,
                                         const struct function_list *functions,
                                         const struct branch *branch)
{
    const struct function *to = owner_of(functions, branch->target);

    if (!to || plan->doubts[to - functions->items] == COPY_NO_MEMBER ||
        (branch->target == to->address && to->reason != PATCH_FRAGMENT))
        return NULL;
    return to;
}

/* What stands in front of a return, or in its block, changes flags, too, if instructions or blocks
 * are counted. */
static void doubt_keepers(struct copy_plan_work *work)
{
    bool counts = work->plan->counts_instructions || work->plan->counts_blocks;
    bool *is_keeper =
        counts ? flow_keepers_find_returning(&work->source) : flow_keepers_find(&work->source);

    for (size_t i = 0; i < work->plan->count; i++)
        if (is_keeper[i])
            doubt_member(work->plan, i, FLOW_FLAGS);
    free(is_keeper);
}

/* Jumps from code that is no member of what may be copied. */
static void doubt_entered(struct copy_plan *plan, const struct patch_plan *patches)
{
    const struct function_list *functions = patches->functions;

    for (size_t i = 0; i < patches->map->branch_count; i++) {
        const struct branch *branch = &patches->map->branches[i];
        const struct function *to = entered_by(plan, functions, branch);
        const struct function *from = to ? owner_of(functions, branch->source) : NULL;

        if (to && (!from || plan->doubts[from - functions->items] == COPY_NO_MEMBER))
            doubt_member(plan, (size_t)(to - functions->items), FLOW_ENTERED);
    }
}

/* Whether the loader changes any of its bytes, which would stay as they are in the copy. */
static bool is_filled_in(const struct copy_source *format, const struct function *function)
{
    size_t next = partition_point(i, format->filled_in_count,
                                  format->filled_in[i] + sizeof(uint64_t) <= function->address);

    return next < format->filled_in_count && format->filled_in[next] < function->end;
}

static enum flow_doubt examine(struct copy_plan_work *work, uint32_t member)
{
    const struct function *function = &work->patches->functions->items[member];
    const struct copy_source *format = work->format;
    enum flow_doubt doubt = format->doubt ? format->doubt(format->context, function) : FLOW_CERTAIN;
    struct flow flow = {0};

    if (function->is_timed)
        return FLOW_TIMED;
    if (!doubt && is_filled_in(format, function))
        doubt = FLOW_UNMOVABLE;
    if (doubt)
        return doubt;
    flow_read(&flow, &work->source, function);
    doubt = flow.doubt;
    if (!doubt && !copy_tables_take_out_pointers(&flow, &work->source))
        doubt = FLOW_UNKNOWN_JUMP;
    if (!doubt)
        doubt = copy_survey_member(&work->survey, &flow, member);
    if (!doubt && !copy_tables_are_writable(work->patches->code, &flow))
        doubt = FLOW_UNKNOWN_JUMP;
    if (!doubt)
        copy_tables_keep(work->plan, &flow, member);
    for (size_t i = 0; !doubt && i < flow.label_count; i++)
        copy_trampoline_add(work->plan, flow.labels[i]);
    flow_free(&flow);
    return doubt;
}

/*
 * What stays as it is and jumps into the middle of another member would find trampolines there. Of
 * what is certain the survey knows all jumps; what the sweep took for its tables may be none.
 */
static void join_doubtful(struct copy_plan_work *work)
{
    const struct function_list *functions = work->patches->functions;
    const struct code_map *map = work->patches->map;
    const struct copy_plan *plan = work->plan;

    for (size_t i = 0; i < map->branch_count; i++) {
        const struct function *to = entered_by(plan, functions, &map->branches[i]);
        const struct function *from = to ? owner_of(functions, map->branches[i].source) : NULL;

        if (from && plan->doubts[from - functions->items] != FLOW_CERTAIN)
            family_join(work, (uint32_t)(from - functions->items),
                        (uint32_t)(to - functions->items));
    }
}

/* A fragment is copied with the function that it belongs to, and with whatever it jumps into. */
static void join_families(struct copy_plan_work *work)
{
    const struct function_list *functions = work->patches->functions;
    struct copy_survey *survey = &work->survey;

    for (size_t i = 0; i < functions->count; i++)
        if (work->plan->doubts[i] != COPY_NO_MEMBER &&
            functions->items[i].reason == PATCH_FRAGMENT && functions->items[i].owner)
            family_join(work, (uint32_t)i, functions->items[i].owner - 1);
    for (size_t i = 0; i < survey->link_count; i++) {
        const struct copy_link *link = &survey->links[i];
        const struct function *to = function_list_owner(functions, link->target);
        uint32_t member = (uint32_t)(to - functions->items);

        family_join(work, link->member, member);
        if (work->plan->doubts[member] == FLOW_CERTAIN &&
            !address_set_has(&survey->starts, link->target))
            doubt_member(work->plan, link->member, FLOW_MISALIGNED);
    }
    join_doubtful(work);
}

/* The original of what is redirected (patch/patch_redirect.h) may run all the same. */
static void doubt_redirected(struct copy_plan_work *work)
{
    const struct function_list *functions = work->patches->functions;
    struct copy_plan *plan = work->plan;
    bool *is_redirected = memory_zeroed(plan->count, sizeof(*is_redirected));

    for (size_t i = 0; i < plan->count; i++)
        if (functions->items[i].reason == PATCH_REDIRECTED)
            is_redirected[family_of(work, (uint32_t)i)] = true;
    for (size_t i = 0; i < plan->trampoline_count; i++) {
        const struct function *member = owner_of(functions, plan->trampolines[i].address);
        uint32_t place = (uint32_t)(member - functions->items);

        if (is_redirected[family_of(work, place)])
            doubt_member(plan, place, FLOW_NO_ROOM);
    }
    free(is_redirected);
}

/* Fragments that no hooked function has to do with. */
static void drop_strays(struct copy_plan_work *work)
{
    const struct function_list *functions = work->patches->functions;
    struct copy_plan *plan = work->plan;
    bool *is_hooked = memory_zeroed(plan->count, sizeof(*is_hooked));

    for (size_t i = 0; i < plan->count; i++)
        if (plan->doubts[i] != COPY_NO_MEMBER && functions->items[i].reason != PATCH_FRAGMENT)
            is_hooked[family_of(work, (uint32_t)i)] = true;
    for (size_t i = 0; i < plan->count; i++)
        if (!is_hooked[family_of(work, (uint32_t)i)])
            plan->doubts[i] = COPY_NO_MEMBER;
    free(is_hooked);
}

static void spread_doubts(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    bool *is_doubtful = memory_zeroed(plan->count, sizeof(*is_doubtful));

    for (size_t i = 0; i < plan->count; i++)
        if (plan->doubts[i] != FLOW_CERTAIN)
            is_doubtful[family_of(work, (uint32_t)i)] = true;
    for (size_t i = 0; i < plan->count; i++)
        if (is_doubtful[family_of(work, (uint32_t)i)])
            doubt_member(plan, i, FLOW_FAMILY);
    free(is_doubtful);
}

static void examine_all(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;

    copy_survey_begin(&work->survey, plan, work->patches, &work->source);
    for (uint32_t i = 0; i < plan->count; i++) {
        work->family[i] = i;
        progress_share(i, plan->count, "the functions looked at for copying");
        if (plan->doubts[i] == FLOW_CERTAIN)
            plan->doubts[i] = (uint8_t)examine(work, i);
    }
    join_families(work);
    copy_tables_check(work);
    copy_trampolines_place(work);
    copy_survey_end(&work->survey);
}

static void find_registers(struct copy_plan_work *work)
{
    struct copy_plan *plan = work->plan;
    struct flow_table *tables = memory_zeroed(plan->table_count, sizeof(*tables));

    for (size_t i = 0; i < plan->table_count; i++)
        tables[i] = plan->tables[i].table;
    flow_registers_find(&plan->registers,
                        &(struct flow_registers_scope){.source = &work->source,
                                                       .doubts = plan->doubts,
                                                       .tables = tables,
                                                       .table_count = plan->table_count,
                                                       .keeps_blocks = plan->counts_instructions ||
                                                                       plan->counts_blocks});
    free(tables);
}

void copy_plan_make(struct copy_plan *plan, const struct patch_plan *patches,
                    struct copy_source *source)
{
    const struct function_list *functions = patches->functions;
    struct flow_fates fates;
    struct copy_plan_work work = {
        .plan = plan,
        .patches = patches,
        .format = source,
        .family = memory_zeroed(functions->count, sizeof(*work.family)),
    };

    work.source = copy_source_settle(source, patches);
    work.source.fates = &fates;
    work.source.returns = memory_zeroed(functions->count, sizeof(*work.source.returns));
    flow_fates_init(&fates, patches->code);
    find_members(plan, functions);
    doubt_overlaps(plan, functions);
    doubt_called(plan, patches);
    doubt_entered(plan, patches);
    doubt_keepers(&work);
    copy_trampolines_begin(plan, patches);
    examine_all(&work);
    doubt_redirected(&work);
    drop_strays(&work);
    spread_doubts(&work);
    copy_trampolines_settle(&work);
    copy_tables_settle(&work);
    plan->families = work.family;
    find_registers(&work);
    if (plan->marks_blocks)
        copy_blocks_find(plan, &work.source);
    if (plan->counts_instructions || plan->counts_blocks)
        copy_nodes_find_entered(plan, &work.source);
    flow_fates_free(&fates);
    free(work.source.returns);
    plan->import_count = work.source.import_count;
    plan->imports = memory_zeroed(plan->import_count, sizeof(*plan->imports));
    for (size_t i = 0; i < plan->import_count; i++)
        plan->imports[i] = work.source.imports[i];
}
