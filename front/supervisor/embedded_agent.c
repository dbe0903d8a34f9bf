#include "front/supervisor/embedded_agent.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/calls/tracee.h"

#define MOST_SEGMENTS 128

static int open_to_read(int name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_header(int file, Elf64_Ehdr *header)
{
    return pread(file, header, sizeof(*header), 0) == (ssize_t)sizeof(*header);
}

/* Whether the bytes at that place of the file are code in one segment with the entry point. */
static bool is_with_entry(int file, const Elf64_Ehdr *header, uint64_t offset)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < header->e_phnum && i < MOST_SEGMENTS; i++) {
        off_t at = (off_t)(header->e_phoff + i * sizeof(segment));
        if (pread(file, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
            return false;
        if (segment.p_type == PT_LOAD && header->e_entry >= segment.p_vaddr &&
            header->e_entry - segment.p_vaddr < segment.p_filesz)
            return offset >= segment.p_offset && offset - segment.p_offset < segment.p_filesz;
    }
    return false;
}

/* The entry point of a static program that is instrumented is the agent's, and no other's is
 * changed. */
static bool begins_with_agent(int original, const Elf64_Ehdr *header)
{
    int file = open_to_read(original);
    Elf64_Ehdr before;
    bool is = file >= 0 && read_header(file, &before) && before.e_entry != header->e_entry;

    if (file >= 0)
        close(file);
    return is;
}

bool embedded_agent_has(int copy, int original, pid_t pid, uint64_t instruction)
{
    int file = open_to_read(copy);
    struct tracee_place place;
    Elf64_Ehdr header;
    struct stat status;
    bool has = file >= 0 && read_header(file, &header) && begins_with_agent(original, &header) &&
               fstat(file, &status) == 0 && tracee_find_place(pid, instruction, &place) &&
               place.inode == status.st_ino && is_with_entry(file, &header, place.offset);

    if (file >= 0)
        close(file);
    return has;
}
