/* What a process has mapped, by /proc. */
#ifndef UMBRA_SERVICE_ADDRESS_SPACE_H
#define UMBRA_SERVICE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/failure.h"

struct address_range {
    uint64_t start, end;
    uint64_t offset; /* of start, in the file */
    uint64_t device, inode;
    bool is_readable, is_writable, is_executable, is_shared;
    char *path; /* "" of memory that no file has */
};

struct address_space {
    struct address_range *ranges; /* ascending */
    size_t count, room;
};

bool address_space_read(struct address_space *space, pid_t pid, struct failure *failure);
void address_space_free(struct address_space *space);

/* The range that has the address; null: nothing is mapped there. */
const struct address_range *address_space_at(const struct address_space *space, uint64_t address);

/* The lowest address from `from` on where `size` bytes are free, with a page free in front and behind, which end at
   `to` at most. 0: there is none. */
uint64_t address_space_gap(const struct address_space *space, uint64_t from, uint64_t to, uint64_t size);

/* Nobody else is to take it: as if it were mapped. False: out of memory. */
bool address_space_take(struct address_space *space, uint64_t start, uint64_t end);

#endif
