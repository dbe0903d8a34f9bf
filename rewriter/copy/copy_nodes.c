#include "rewriter/copy/copy_nodes.h"

#include <stdlib.h>

#include "rewriter/copy/copy_jumps.h"
#include "rewriter/copy/copy_target.h"
#include "support/memory.h"
#include "support/sorted.h"

/* Where jumps of a member lead in other parts of its family. */
struct entries {
    struct copy_plan *plan;
    const struct function_list *functions;
    size_t member;
};

static bool is_in(const struct function *function, uint64_t address)
{
    return address - function->address < function->end - function->address;
}

static void note_entry(void *user, uint64_t target)
{
    const struct entries *entries = user;

    if (!is_in(&entries->functions->items[entries->member], target) &&
        copy_target_of_jump(entries->plan, entries->functions, entries->member, target, false) ==
            COPY_TARGET_INSIDE)
        address_set_add(&entries->plan->entered, target);
}

void copy_nodes_find_entered(struct copy_plan *plan, const struct flow_source *source)
{
    struct entries entries = {plan, source->functions, 0};

    address_set_init(&plan->entered, source->code);
    for (; entries.member < plan->count; entries.member++)
        if (copy_plan_has(plan, entries.member))
            copy_jumps_each(source->code, &source->functions->items[entries.member], note_entry,
                            &entries);
    copy_plan_add_entries(plan, source, &plan->entered);
}

static bool is_joined(const struct copy_nodes *nodes, uint32_t offset)
{
    return nodes->joins[offset / 64] >> offset % 64 & 1;
}

static void note_join(void *user, uint64_t target)
{
    const struct copy_nodes *nodes = user;
    uint64_t offset = target - nodes->function->address;

    if (is_in(nodes->function, target))
        nodes->joins[offset / 64] |= 1ull << offset % 64;
}

static uint8_t end_of_jump(struct copy_nodes *nodes, const struct instruction *at)
{
    struct return_slot slot = copy_slot_at(&nodes->slots, at->address);
    bool is_certain = at->flow == FLOW_JUMP;

    if (is_in(nodes->function, at->target))
        return is_certain ? END_JUMP : END_BRANCH;
    if (copy_target_leaves(nodes->plan, nodes->patches->functions, nodes->member, at->target, slot))
        return is_certain ? END_COUNT : END_COUNT_IF;
    return is_certain ? END_AWAY : END_AWAY_IF;
}

static uint8_t end_of(struct copy_nodes *nodes, const struct instruction *at)
{
    switch (at->flow) {
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        return end_of_jump(nodes, at);
    case FLOW_CALL:
    case FLOW_INDIRECT_CALL:
        return END_CALL;
    case FLOW_INDIRECT_JUMP:
        return copy_target_pointer_leaves(nodes->plan, at->address,
                                          copy_slot_at(&nodes->slots, at->address))
                   ? END_COUNT
                   : END_AWAY;
    case FLOW_END:
        return instruction_is_return(at) ? END_RETURN : END_STOP;
    default:
        return END_ON;
    }
}

static struct copy_node *add_node(struct copy_nodes *nodes, uint64_t address, bool is_behind_call)
{
    uint32_t offset = (uint32_t)(address - nodes->function->address);
    struct return_slot slot = copy_slot_at(&nodes->slots, address);

    nodes->items = memory_grow(nodes->items, nodes->count + 1, &nodes->room, sizeof(*nodes->items));
    nodes->items[nodes->count] = (struct copy_node){
        .offset = offset,
        .target = COPY_NO_BLOCK,
        .parent = nodes->count,
        .is_near = copy_slot_is_near(slot),
        .is_entered = !offset || is_behind_call || address_set_has(&nodes->plan->entered, address),
        .held = address_set_has(&nodes->plan->entered, address) ||
                        (!offset && nodes->function->reason == PATCH_FRAGMENT)
                    ? UINT8_MAX
                    : 0,
    };
    return &nodes->items[nodes->count++];
}

static void read_all(struct copy_nodes *nodes,
                     void (*visit)(void *user, const struct instruction *at, uint8_t end),
                     void *user)
{
    const struct function *function = nodes->function;
    struct instruction at = {.address = function->address};
    uint8_t last = END_STOP;
    struct copy_node *node = NULL;

    for (; at.address < function->end; at.address += at.length) {
        uint32_t offset = (uint32_t)(at.address - function->address);

        if (!node || last != END_ON || is_joined(nodes, offset) ||
            address_set_has(&nodes->plan->entered, at.address))
            node = add_node(nodes, at.address, last == END_CALL);
        if (!copy_read_next(&nodes->decoder, nodes->bytes + offset, function->end - at.address,
                            &at))
            return;
        node->instructions++;
        node->end = last = end_of(nodes, &at);
        if (visit && last != END_ON)
            visit(user, &at, last);
        if (last == END_JUMP || last == END_BRANCH)
            node->target = (uint32_t)(at.target - function->address);
    }
}

static void find_targets(struct copy_nodes *nodes)
{
    const struct copy_node *items = nodes->items;

    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t target = items[i].target;
        size_t place;

        if (target == COPY_NO_BLOCK)
            continue;
        place = partition_point(j, nodes->count, items[j].offset < target);
        /* Else it leads into an instruction; what is read there is counted as if it led away. */
        if (place < nodes->count && items[place].offset == target) {
            nodes->items[i].target = (uint32_t)place;
            continue;
        }
        nodes->items[i].target = COPY_NO_BLOCK;
        nodes->items[i].end = items[i].end == END_JUMP ? END_AWAY : END_AWAY_IF;
    }
}

static void find_depths(struct copy_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t target = nodes->items[i].target;

        if (i + 1 < nodes->count && copy_node_goes_on(&nodes->items[i]))
            nodes->items[i + 1].is_reached = true;
        if (target == COPY_NO_BLOCK)
            continue;
        nodes->items[target].is_reached = true;
        if (target > i)
            continue;
        nodes->items[target].depth++;
        nodes->items[i + 1].depth--; /* the ground's, behind the last */
    }
    for (uint32_t i = 1; i < nodes->count; i++)
        nodes->items[i].depth += nodes->items[i - 1].depth;
}

static void begin(struct copy_nodes *nodes)
{
    size_t size;

    decoder_init(&nodes->decoder, &processor_x86_64);
    nodes->slots = copy_slots_begin(nodes->patches->code, nodes->function);
    nodes->bytes = code_at(nodes->patches->code, nodes->function->address, &size);
    size = nodes->function->end - nodes->function->address;
    nodes->joins = memory_zeroed(size / 64 + 1, sizeof(*nodes->joins));
}

void copy_nodes_read(struct copy_nodes *nodes, const struct copy_plan *plan,
                     const struct patch_plan *patches, struct flow_fates *fates, uint32_t member,
                     void (*visit)(void *user, const struct instruction *at, uint8_t end),
                     void *user)
{
    *nodes = (struct copy_nodes){
        .plan = plan,
        .fates = fates,
        .patches = patches,
        .function = &patches->functions->items[member],
        .member = member,
    };
    begin(nodes);
    copy_jumps_each(patches->code, nodes->function, note_join, nodes);
    read_all(nodes, visit, user);
    find_targets(nodes);
    nodes->items[nodes->count] =
        (struct copy_node){.target = COPY_NO_BLOCK, .parent = nodes->count, .end = END_STOP};
    find_depths(nodes);
}

void copy_nodes_free(struct copy_nodes *nodes)
{
    free(nodes->items);
    free(nodes->joins);
    *nodes = (struct copy_nodes){0};
}

/* ---- the forest */

uint32_t copy_nodes_root(const struct copy_nodes *nodes, uint32_t block, int32_t *above)
{
    struct copy_node *items = nodes->items;

    for (*above = 0; items[block].parent != block; block = items[block].parent) {
        uint32_t parent = items[block].parent;

        if (items[parent].parent != parent) { /* next time it is shorter */
            items[block].above += items[parent].above;
            items[block].parent = items[parent].parent;
        }
        *above += items[block].above;
    }
    return block;
}

bool copy_nodes_join(struct copy_nodes *nodes, uint32_t from, uint32_t to, int32_t more)
{
    int32_t above_from, above_to;
    uint32_t root_from = copy_nodes_root(nodes, from, &above_from);
    uint32_t root_to = copy_nodes_root(nodes, to, &above_to);

    if (root_from == root_to)
        return false;
    if (root_to == nodes->count) { /* the ground stays a root */
        nodes->items[root_from].parent = root_to;
        nodes->items[root_from].above = above_to - more - above_from;
    } else {
        nodes->items[root_to].parent = root_from;
        nodes->items[root_to].above = above_from + more - above_to;
    }
    return true;
}

uint32_t copy_nodes_behind(const struct copy_nodes *nodes, uint32_t block)
{
    const struct copy_node *node = &nodes->items[block];

    if (node->end == END_AWAY || node->end == END_AWAY_IF)
        return nodes->count;
    if (node->target != COPY_NO_BLOCK)
        return node->target;
    return copy_node_goes_on(node) ? block + 1 : COPY_NO_BLOCK;
}

int copy_node_order(const struct copy_node *node)
{
    if (!node->is_reached && !node->is_entered)
        return -1;
    return node->depth < COPY_MOST_DEPTH ? node->depth : COPY_MOST_DEPTH;
}

void copy_nodes_join_alternatives(struct copy_nodes *nodes, bool exits_lead_there)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct copy_node *node = &nodes->items[i];

        if (node->is_entered)
            copy_nodes_join(nodes, nodes->count, i, 0);
        if (node->end == END_BRANCH)
            copy_nodes_join(nodes, node->target, i + 1, 0);
        if (node->end == END_AWAY_IF || (node->end == END_COUNT_IF && exits_lead_there))
            copy_nodes_join(nodes, nodes->count, i + 1, 0);
    }
}
