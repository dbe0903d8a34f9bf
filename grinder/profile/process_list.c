#include "grinder/profile/process_list.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/profile/own_name.h"
#include "support/memory.h"

#define NONE          SIZE_MAX
#define LEAST_PERCENT 1

static struct listed_process *find(const struct process_list *list, uint32_t pid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->processes[i].pid == pid)
            return &list->processes[i];
    return NULL;
}

static struct listed_process *find_or_add(struct process_list *list,
                                          const struct trace_header *header)
{
    struct listed_process *found = find(list, header->pid);

    if (found)
        return found;
    list->processes =
        memory_grow(list->processes, list->count, &list->room, sizeof(*list->processes));
    found = &list->processes[list->count++];
    *found =
        (struct listed_process){.pid = header->pid,
                                .ppid = header->fork_of_pid ? header->fork_of_pid : header->ppid,
                                .begin_ns = UINT64_MAX};
    return found;
}

static uint64_t end_ns(const struct trace_header *header)
{
    uint64_t end = header->end_ticks ? header->end_ticks : header->end_seen_ticks;

    if (end <= header->start_ticks || !header->ticks_per_second)
        return 0;
    return header->created_ns +
           (uint64_t)((double)(end - header->start_ticks) * 1e9 / (double)header->ticks_per_second);
}

void process_list_add(struct process_list *list, const struct process *process)
{
    const struct trace_header *header = &process->header;
    struct listed_process *listed = find_or_add(list, header);
    uint64_t end = end_ns(header);
    char name[OWN_NAME_SIZE];

    if (!listed->command || header->created_ns > listed->begin_ns) {
        free(listed->command);
        free(listed->name);
        own_name(name, header);
        listed->command = memory_copy_string(header->command);
        listed->name = memory_copy_string(name);
    }
    if (header->created_ns < listed->begin_ns)
        listed->begin_ns = header->created_ns;
    if (end > listed->end_ns)
        listed->end_ns = end;
    list->has_calls |= header->source != TRACE_OF_STACKS;
    listed->cpu_ns += process->samples.cpu_ns;
    for (size_t i = 0; i < process->thread_count; i++) {
        listed->self_ns += process->threads[i].self_ns;
        listed->calls += process->threads[i].entries;
    }
}

void process_list_free(struct process_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->processes[i].command);
        free(list->processes[i].name);
    }
    free(list->processes);
    *list = (struct process_list){0};
}

static bool takes_more(const struct listed_process *a, const struct listed_process *b)
{
    if (a->cpu_ns != b->cpu_ns)
        return a->cpu_ns > b->cpu_ns;
    return a->self_ns != b->self_ns ? a->self_ns > b->self_ns : a->calls > b->calls;
}

uint32_t process_list_largest(const struct process_list *list)
{
    const struct listed_process *largest = &list->processes[0];

    for (size_t i = 1; i < list->count; i++)
        if (takes_more(&list->processes[i], largest))
            largest = &list->processes[i];
    return largest->pid;
}

static struct process_program *program_of(struct process_program *programs, size_t *count,
                                          const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(programs[i].name, name))
            return &programs[i];
    programs[*count].name = name;
    return &programs[(*count)++];
}

static int by_cost(const void *left, const void *right)
{
    const struct process_program *a = left, *b = right;

    if (a->cpu_ns != b->cpu_ns)
        return a->cpu_ns > b->cpu_ns ? -1 : 1;
    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    return (a->calls < b->calls) - (a->calls > b->calls);
}

struct process_program *process_list_programs(const struct process_list *list, size_t *count)
{
    struct process_program *programs = memory_zeroed(list->count + 1, sizeof(*programs));

    *count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct listed_process *process = &list->processes[i];
        struct process_program *program = program_of(programs, count, process->name);
        program->count++;
        program->wall_ns +=
            process->end_ns > process->begin_ns ? process->end_ns - process->begin_ns : 0;
        program->cpu_ns += process->cpu_ns;
        program->self_ns += process->self_ns;
        program->calls += process->calls;
    }
    qsort(programs, *count, sizeof(*programs), by_cost);
    return programs;
}

static int by_beginning(const void *left, const void *right)
{
    const struct listed_process *a = left, *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* By the place in a list that is ordered: a parent stands before its children. */
struct node {
    size_t parent, first_child, last_child, sibling; /* NONE: there is none */
    uint64_t weight;                                 /* of it and all below */
};

static size_t find_parent(const struct process_list *list, size_t child)
{
    for (size_t i = child; i-- > 0;)
        if (list->processes[i].pid == list->processes[child].ppid)
            return i;
    return NONE;
}

static void append_child(struct node *nodes, struct node *parent, size_t child)
{
    if (parent->last_child == NONE)
        parent->first_child = child;
    else
        nodes[parent->last_child].sibling = child;
    parent->last_child = child;
}

/* nodes[list->count] is above all. weight is what tells large from small: of all the same. */
static struct node *make_nodes(const struct process_list *list)
{
    struct node *nodes = memory_zeroed(list->count + 1, sizeof(*nodes));
    uint64_t cpu_ns = 0, self_ns = 0;

    for (size_t i = 0; i <= list->count; i++)
        nodes[i] = (struct node){list->count, NONE, NONE, NONE, 0};
    for (size_t i = 0; i < list->count; i++) {
        size_t parent = find_parent(list, i);
        nodes[i].parent = parent == NONE ? list->count : parent;
        append_child(nodes, &nodes[nodes[i].parent], i);
        cpu_ns += list->processes[i].cpu_ns;
        self_ns += list->processes[i].self_ns;
    }
    for (size_t i = list->count; i-- > 0;) {
        const struct listed_process *process = &list->processes[i];
        nodes[i].weight += cpu_ns ? process->cpu_ns : self_ns ? process->self_ns : process->calls;
        nodes[nodes[i].parent].weight += nodes[i].weight;
    }
    return nodes;
}

static void fold(struct process_row *row, const struct listed_process *process)
{
    row->folded++;
    row->process.cpu_ns += process->cpu_ns;
    row->process.self_ns += process->self_ns;
    row->process.calls += process->calls;
}

/* The next in the order of the tree. */
static size_t next_of(const struct node *nodes, size_t at, size_t top, unsigned *depth)
{
    if (nodes[at].first_child != NONE) {
        ++*depth;
        return nodes[at].first_child;
    }
    while (at != top && nodes[at].sibling == NONE) {
        at = nodes[at].parent;
        --*depth;
    }
    return at == top ? NONE : nodes[at].sibling;
}

struct process_row *process_list_rows(struct process_list *list, size_t *count)
{
    struct process_row *rows = memory_zeroed(list->count + 1, sizeof(*rows)), folded = {0};
    size_t top = list->count;
    struct node *nodes;
    unsigned depth = 0;

    if (list->count)
        qsort(list->processes, list->count, sizeof(*list->processes), by_beginning);
    nodes = make_nodes(list);
    *count = 0;
    for (size_t at = nodes[top].first_child; at != NONE; at = next_of(nodes, at, top, &depth)) {
        if (nodes[at].weight * 100 < nodes[top].weight * LEAST_PERCENT)
            fold(&folded, &list->processes[at]);
        else
            rows[(*count)++] = (struct process_row){list->processes[at], depth, 0};
    }
    if (folded.folded)
        rows[(*count)++] = folded;
    free(nodes);
    return rows;
}
