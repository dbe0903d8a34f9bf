/*
 * The processes of a recording as a tree: who ran what, and what each took. A process that replaced
 * itself by exec has several traces and is one line, with the last command.
 */
#ifndef UMBRA_GRINDER_PROCESS_LIST_H
#define UMBRA_GRINDER_PROCESS_LIST_H

#include "grinder/profile/profile.h"

struct listed_process {
    uint32_t pid, ppid; /* ppid: of whom it was forked, or who ran it */
    char *command, *name; /* the last one's; name: what its program is called */
    uint64_t begin_ns, end_ns; /* CLOCK_REALTIME; end_ns 0: not known */
    uint64_t cpu_ns;           /* by its samples; 0: none */
    uint64_t self_ns;          /* in recorded functions, waiting included */
    uint64_t calls;
};

struct process_list {
    struct listed_process *processes; /* in order of beginning, once process_list_rows was called */
    size_t count, room;
    bool has_calls; /* of one of them at least: else samples stand in their place */
};

/* Adds what the process took, to its earlier traces' if there were some. */
void process_list_add(struct process_list *list, const struct process *process);
void process_list_free(struct process_list *list);

/* All processes of a program. */
struct process_program {
    const char *name;   /* the list's */
    size_t count;       /* of processes */
    uint64_t wall_ns;   /* sum of their lives */
    uint64_t cpu_ns, self_ns, calls;
};

/* To be freed; *count of them, the one that took most first. */
struct process_program *process_list_programs(const struct process_list *list, size_t *count);

/* The pid of the one that took most: processor time, else time in functions, else calls. The list
   has one at least. */
uint32_t process_list_largest(const struct process_list *list);

/* A line of the tree. The last one may stand for all that took, with what they ran, less than 1%.
 */
struct process_row {
    struct listed_process process; /* strings as in the list */
    unsigned depth;
    size_t folded; /* how many it stands for; 0: it is one */
};

/* To be freed; *count of them. */
struct process_row *process_list_rows(struct process_list *list, size_t *count);

#endif
