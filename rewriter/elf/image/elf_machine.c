#include "rewriter/elf/image/elf_machine.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "rewriter/elf/image/elf_class.h"

#define WANTED "an ELF program or library for x86-64 or i386"

static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},    {EM_RISCV, "riscv"}, {EM_PPC64, "ppc64"},
    {EM_PPC, "ppc"},         {EM_S390, "s390x"}, {EM_MIPS, "mips"},   {EM_SPARCV9, "sparc"},
    {EM_68K, "m68k"},        {EM_BPF, "bpf"},    {EM_IA_64, "ia64"},  {EM_LOONGARCH, "loongarch"},
};

static const char *machine_name(uint16_t machine, char *room, size_t size)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
        if (machines[i].machine == machine)
            return machines[i].name;
    snprintf(room, size, "machine number %u", machine);
    return room;
}

static bool kind_accept(const char *path, uint16_t type, struct failure *failure)
{
    switch (type) {
    case ET_EXEC:
    case ET_DYN:
        return true;
    case ET_REL:
        return fail(failure, path,
                    "expected " WANTED ", found a relocatable object; link it first");
    case ET_CORE:
        return fail(failure, path, "expected " WANTED ", found a core dump");
    default:
        return fail(failure, path, "expected " WANTED ", found ELF type %u", type);
    }
}

static const char *format_name(const uint8_t *bytes, size_t size)
{
    if (size >= 2 && memcmp(bytes, "#!", 2) == 0)
        return "a script; instrument its interpreter";
    if (size >= 8 && memcmp(bytes, "!<arch>\n", 8) == 0)
        return "a static library; instrument what is linked from it";
    return "another kind of file";
}

bool elf_machine_accept(const char *path, const uint8_t *bytes, size_t size,
                        struct failure *failure)
{
    Elf64_Ehdr header;
    bool is_64_bit;
    char room[32];

    if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return fail(failure, path, "expected " WANTED ", found %s", format_name(bytes, size));
    if (size < sizeof(Elf32_Ehdr))
        return fail(failure, path, "truncated: the file ends in its ELF header");
    memcpy(&header, bytes, sizeof(header) < size ? sizeof(header) : size);
    if (bytes[EI_DATA] == ELFDATA2MSB)
        header.e_machine = (uint16_t)(header.e_machine << 8 | header.e_machine >> 8);
    if (header.e_machine != EM_X86_64 && header.e_machine != EM_386)
        return fail(failure, path, "expected " WANTED ", found one for %s",
                    machine_name(header.e_machine, room, sizeof(room)));
    is_64_bit = header.e_machine == EM_X86_64;
    if (bytes[EI_CLASS] != (is_64_bit ? ELFCLASS64 : ELFCLASS32) || bytes[EI_DATA] != ELFDATA2LSB)
        return fail(failure, path, "expected " WANTED ", found one %s",
                    is_64_bit ? "with 32-bit addresses (x32)" : "for i386 with 64-bit addresses");
    if (!elf_class_of(bytes, size))
        return fail(failure, path, "truncated: the file ends in its ELF header");
    return kind_accept(path, header.e_type, failure);
}
