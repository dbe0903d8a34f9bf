#include "service/attach/linux/attached_agent.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "service/attach/linux/elf_symbol.h"
#include "support/neighbour.h"
#include "trace/attached_agent.h"
#include "trace/image_manifest.h"

#define PAGE 4096u

static uint64_t page_up(uint64_t number)
{
    return (number + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* To be freed; null: it is nowhere. */
static char *find(void)
{
    static const char *const places[] = {"../lib/*/umbra/" ATTACHED_AGENT_NAME,
                                         "../lib*/umbra/" ATTACHED_AGENT_NAME,
                                         "../hooks/" ATTACHED_AGENT_NAME, NULL};
    char folder[PATH_MAX], path[PATH_MAX];

    return neighbour_folder(folder) && neighbour_find(folder, places, F_OK, path) ? strdup(path)
                                                                                  : NULL;
}

static bool read_loads(struct attached_agent *agent, const struct elf_file *elf)
{
    const Elf64_Ehdr *header = &elf->header;
    Elf64_Phdr *all = elf_segments_copy(header, &elf->file);

    for (unsigned i = 0; all && i < header->e_phnum; i++) {
        if (all[i].p_type != PT_LOAD || agent->load_count == AGENT_LOADS)
            continue;
        agent->loads[agent->load_count] = all[i];
        agent->size = page_up(all[i].p_vaddr + all[i].p_memsz);
        if (all[i].p_flags & PF_W)
            agent->data_load = &agent->loads[agent->load_count];
        agent->load_count++;
    }
    free(all);
    if (agent->data_load)
        agent->data = elf_read(elf, agent->data_load->p_offset, agent->data_load->p_filesz);
    return agent->data != NULL;
}

/* What is relocated lies in the data; the base is yet to be added, where one is due. */
static bool read_relocations(struct attached_agent *agent, const struct elf_file *elf,
                             uint64_t base)
{
    const Elf64_Shdr *section = elf_section_named(elf, ".rela.dyn");
    const Elf64_Shdr *symbol_section = elf_section_of_type(elf, SHT_DYNSYM);
    Elf64_Rela *relocations = section ? elf_section_read(elf, section) : NULL;
    uint64_t symbol_count = 0;
    Elf64_Sym *symbols =
        symbol_section ? elf_section_symbols(elf, symbol_section, &symbol_count) : NULL;
    bool is_read = relocations && symbols;

    for (size_t i = 0; is_read && i < section->sh_size / sizeof(*relocations); i++) {
        const Elf64_Rela *each = &relocations[i];
        uint64_t at = each->r_offset - agent->data_load->p_vaddr, value = 0;
        uint32_t symbol = ELF64_R_SYM(each->r_info);

        is_read = at < agent->data_load->p_filesz &&
                  agent->data_load->p_filesz - at >= sizeof(value) && symbol < symbol_count;
        if (!is_read)
            break;
        if (ELF64_R_TYPE(each->r_info) == R_X86_64_RELATIVE)
            value = base + (uint64_t)each->r_addend;
        else if (ELF64_R_TYPE(each->r_info) != R_X86_64_GLOB_DAT)
            is_read = false;
        else if (symbols[symbol].st_shndx != SHN_UNDEF) /* what is not there is 0: it is weak */
            value = base + symbols[symbol].st_value;
        memcpy(agent->data + at, &value, sizeof(value));
    }
    free(relocations);
    free(symbols);
    return is_read;
}

/* Reads all that does not depend on where it will be, or binds it to there. */
static bool read_file(struct attached_agent *agent,
                      bool (*read)(struct attached_agent *, const struct elf_file *),
                      struct failure *failure)
{
    struct bounded_file file;
    struct elf_file elf;
    struct failure why;
    bool is_read;

    if (!bounded_file_open(&file, agent->path, &why) || !elf_open(&elf, file, &why))
        return fail(failure, agent->path, "%s", why.text);
    is_read = elf.header.e_machine == EM_X86_64 && read(agent, &elf);
    elf_close(&elf);
    return is_read ||
           fail(
               failure, agent->path,
               "expected the agent for programs that run, found another file; install Umbra as a whole");
}

/* Of its data: addresses are right once it is bound. */
static struct attached_memory memory_of(const struct attached_agent *agent)
{
    struct attached_memory memory;

    memcpy(&memory, agent->data + (agent->memory - agent->data_load->p_vaddr), sizeof(memory));
    return memory;
}

static bool read_unbound(struct attached_agent *agent, const struct elf_file *elf)
{
    agent->attachment = elf_symbol_value(elf, ATTACHMENT_SYMBOL);
    agent->nobody = elf_symbol_value(elf, ATTACHED_NOBODY_SYMBOL);
    agent->memory = elf_symbol_value(elf, ATTACHED_MEMORY_SYMBOL);
    agent->entry = elf_symbol_value(elf, IMAGE_HOOK_SYMBOL);
    agent->finder = elf_symbol_value(elf, ATTACHED_FINDER_SYMBOL);
    if (!agent->attachment || !agent->nobody || !agent->memory || !agent->entry || !agent->finder ||
        !read_loads(agent, elf) || agent->memory < agent->data_load->p_vaddr ||
        agent->data_load->p_filesz < sizeof(struct attached_memory) ||
        agent->memory - agent->data_load->p_vaddr >
            agent->data_load->p_filesz - sizeof(struct attached_memory))
        return false;
    agent->thunks_size = memory_of(agent).thunks_size;
    agent->room = agent->size + agent->thunks_size;
    return true;
}

static bool bind(struct attached_agent *agent, const struct elf_file *elf)
{
    return read_relocations(agent, elf, agent->base);
}

bool attached_agent_read(struct attached_agent *agent, struct failure *failure)
{
    *agent = (struct attached_agent){.path = find()};
    if (!agent->path)
        return fail(
            failure, ATTACHED_AGENT_NAME,
            "expected it where this program is installed, found none; install Umbra as a whole");
    if (read_file(agent, read_unbound, failure))
        return true;
    attached_agent_free(agent);
    return false;
}

void attached_agent_free(struct attached_agent *agent)
{
    free(agent->path);
    free(agent->data);
    *agent = (struct attached_agent){0};
}

static bool call_map(const struct tracees *tracees, struct tracee *caller, uint64_t address,
                     uint64_t size, int protection, int flags, uint64_t file, uint64_t offset,
                     uint64_t *at)
{
    long result = tracee_call(
        tracees, caller, SYS_mmap,
        (uint64_t[6]){address, size, (uint64_t)protection, (uint64_t)flags, file, offset});

    if (at)
        *at = (uint64_t)result;
    return result > 0 || result < -4095;
}

/* Code and constants are the file's pages, the data are written; all else is reserved. */
static bool map_load(const struct attached_agent *agent, const struct tracees *tracees,
                     struct tracee *caller, const Elf64_Phdr *load, uint64_t file)
{
    uint64_t start = load->p_vaddr & ~(uint64_t)(PAGE - 1),
             end = page_up(load->p_vaddr + load->p_memsz);
    int protection = PROT_READ | (load->p_flags & PF_X ? PROT_EXEC : 0);

    if (!load->p_filesz)
        return true;
    if (!(load->p_flags & PF_W))
        return call_map(tracees, caller, agent->base + start, end - start, protection,
                        MAP_PRIVATE | MAP_FIXED, file, load->p_offset & ~(uint64_t)(PAGE - 1),
                        NULL);
    return call_map(tracees, caller, agent->base + start, end - start, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1, 0, NULL) &&
           process_vm_writev(tracees->pid, &(struct iovec){agent->data, load->p_filesz}, 1,
                             &(struct iovec){(void *)(agent->base + load->p_vaddr), load->p_filesz},
                             1, 0) == (ssize_t)load->p_filesz;
}

/* In the file, as the linker script has it: code that is a segment's. */
static bool map_thunks(struct attached_agent *agent, const struct tracees *tracees,
                       struct tracee *caller, uint64_t file)
{
    uint64_t linked = memory_of(agent).thunks - agent->base;

    agent->thunks = agent->base + agent->size;
    for (size_t i = 0; i < agent->load_count; i++) {
        const Elf64_Phdr *load = &agent->loads[i];

        if (linked - load->p_vaddr < load->p_filesz)
            return call_map(tracees, caller, agent->thunks, agent->thunks_size,
                            PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file,
                            load->p_offset + (linked - load->p_vaddr), NULL);
    }
    return false;
}

bool attached_agent_map(struct attached_agent *agent, const struct tracees *tracees,
                        struct tracee *caller, uint64_t file, struct failure *failure)
{
    if (!call_map(tracees, caller, 0, agent->room, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1, 0, &agent->base)) {
        agent->base = 0;
        return fail_because(failure, "has no %llu MB of address space for the agent",
                            (unsigned long long)agent->room >> 20);
    }
    if (!read_file(agent, bind, failure))
        return false;
    for (size_t i = 0; i < agent->load_count; i++)
        if (!map_load(agent, tracees, caller, &agent->loads[i], file))
            return fail_because(failure, "cannot map the agent");
    return map_thunks(agent, tracees, caller, file) ||
           fail_because(failure, "cannot map the agent's thunks");
}
