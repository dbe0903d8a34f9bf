/* The agent in a process that runs, as trace/attached_agent.h says: read, mapped, and bound as a linker would. */
#ifndef UMBRA_SERVICE_ATTACHED_AGENT_H
#define UMBRA_SERVICE_ATTACHED_AGENT_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/attach/linux/tracees.h"

#define AGENT_LOADS 8

struct attached_agent {
    char *path;
    Elf64_Phdr loads[AGENT_LOADS];
    size_t load_count;
    uint64_t size; /* of all of it, in the process */
    uint8_t *data; /* of the writable segment, relocated for `base`; file_size bytes */
    const Elf64_Phdr *data_load;
    uint64_t mapped, mapped_size; /* what is reserved for it in the process; 0: nothing */
    uint64_t base;                /* where in that it begins */
    /* Distances from base: */
    uint64_t attachment, nobody, memory, entry, frames;
};

/* Finds libattach.so where this program is installed, and reads it. */
bool attached_agent_read(struct attached_agent *agent, struct failure *failure);
void attached_agent_free(struct attached_agent *agent);

/*
 * Where the agent begins in what is reserved for it, a page more than its size: there, or a page behind.
 *
 * libgcc takes a function for one that the linker has removed if the low 32 bits of its address are
 * 0. The stash, of 256 MB, is likely to end where another mapping begins, such as a heap that glibc
 * has aligned, and then to begin at such an address: all is moved by a page there.
 */
uint64_t attached_agent_place(const struct attached_agent *agent, uint64_t mapped);

/* Maps it by calls of a thread that stands. file: a descriptor of it in the process. */
bool attached_agent_map(struct attached_agent *agent, const struct tracees *tracees, struct tracee *caller,
                        uint64_t file, struct failure *failure);

#endif
