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
    uint64_t base; /* where it begins in the process; 0: it is not there */
    uint64_t room; /* that is reserved for it there */
    uint64_t thunks, thunks_size; /* behind all of it, the thunks once more, shared */
    /* Distances from base: */
    uint64_t attachment, nobody, memory, entry, finder;
};

/* Finds libattach.so where this program is installed, and reads it. */
bool attached_agent_read(struct attached_agent *agent, struct failure *failure);
void attached_agent_free(struct attached_agent *agent);

/* Maps it by calls of a thread that stands. file: a descriptor of it in the process. */
bool attached_agent_map(struct attached_agent *agent, const struct tracees *tracees, struct tracee *caller,
                        uint64_t file, struct failure *failure);

#endif
