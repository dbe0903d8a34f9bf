#include "front/supervisor/embedded_agent.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "front/calls/tracee.h"
#include "image/elf_wide.h"
#include "support/bounded_file.h"

static bool open_to_read(struct bounded_file *file, int name, Elf64_Ehdr *header)
{
    struct failure ignored;

    if (!bounded_file_take(file, name, "", &ignored))
        return false;
    if (elf_header_read(header, file))
        return true;
    bounded_file_close(file);
    return false;
}

/* Whether the bytes at that place of the file are code in one segment with the entry point. */
static bool is_with_entry(const struct bounded_file *file, const Elf64_Ehdr *header,
                          uint64_t offset)
{
    Elf64_Phdr *segments = elf_segments_copy(header, file);
    bool is = false;

    for (unsigned i = 0; segments && i < header->e_phnum; i++) {
        const Elf64_Phdr *segment = &segments[i];
        if (segment->p_type != PT_LOAD || header->e_entry < segment->p_vaddr ||
            header->e_entry - segment->p_vaddr >= segment->p_filesz)
            continue;
        is = offset >= segment->p_offset && offset - segment->p_offset < segment->p_filesz;
        break;
    }
    free(segments);
    return is;
}

/* The entry point of a static program that is instrumented is the agent's, and no other's is
 * changed. */
static bool begins_with_agent(int original, const Elf64_Ehdr *header)
{
    struct bounded_file file;
    Elf64_Ehdr before;

    if (!open_to_read(&file, original, &before))
        return false;
    bounded_file_close(&file);
    return before.e_entry != header->e_entry;
}

bool embedded_agent_has(int copy, int original, pid_t pid, uint64_t instruction)
{
    struct bounded_file file;
    struct tracee_place place;
    Elf64_Ehdr header;
    struct stat status;
    bool has;

    if (!open_to_read(&file, copy, &header))
        return false;
    has = begins_with_agent(original, &header) && fstat(file.fd, &status) == 0 &&
          tracee_find_place(pid, instruction, &place) && place.inode == status.st_ino &&
          is_with_entry(&file, &header, place.offset);
    bounded_file_close(&file);
    return has;
}
