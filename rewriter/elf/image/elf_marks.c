#include "rewriter/elf/image/elf_marks.h"

#include <string.h>

/*
 * Mono's ahead-of-time compiler. Its code calls through PLT entries of its own, of which Mono reads
 * the bytes to find the slot, and it is unwound by Mono's own tables. The description of such a
 * module is exported, or is one of the program's symbols if that is linked with it.
 */
static bool is_mono_name(const char *name)
{
    static const char library[] = "mono_aot_file_info", module[] = "mono_aot_module_";

    return strcmp(name, library) == 0 || strncmp(name, module, sizeof(module) - 1) == 0;
}

typedef bool name_test(const char *name);

/* Has it a dynamic symbol of such a name that it defines, or that it asks for? */
static bool has_symbol(const struct elf_image *image, bool is_defined, name_test *is_meant)
{
    struct elf_table symbols = elf_dynamic_symbols(image), strings = {0};
    uint64_t size = elf_dynamic_value(image, DT_STRSZ, 0);

    strings.bytes = elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), size);
    strings.count = strings.bytes ? size : 0;
    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const char *name = elf_string(strings, symbol.st_name);

        if (name && (symbol.st_shndx != SHN_UNDEF) == is_defined && is_meant(name))
            return true;
    }
    return false;
}

/*
 * A tool of Valgrind's: a static program which loads another program beside itself and sends some
 * of that one's calls (strlen, vsyscall) to its own functions. These run without what the agent
 * needs. It is started by a launcher, whose name it takes from the environment.
 */
static bool is_valgrind_tool(const struct elf_image *image)
{
    static const char variable[] = "VALGRIND_LAUNCHER";

    for (size_t i = 0; elf_image_is_static(image) && i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        const uint8_t *bytes = elf_at(image, segment->p_vaddr, segment->p_filesz);

        if (segment->p_type == PT_LOAD && bytes &&
            memmem(bytes, segment->p_filesz, variable, sizeof(variable)))
            return true;
    }
    return false;
}

static bool is_break_name(const char *name)
{
    return strcmp(name, "sbrk") == 0 || strcmp(name, "brk") == 0;
}

/*
 * A program with its heap, which was written to a file while it ran ("unexec"): GCL's, Emacs' of
 * old. The heap ends where the file's data do, and grows by moving the program break, which it
 * expects there. Segments of ours would be in its way, and the break lies behind all segments. Such
 * a program has no memory that is not in the file. Of some thousand other programs none is like
 * that.
 */
static bool is_dumped(const struct elf_image *image)
{
    const Elf64_Phdr *last = NULL;

    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_type == PT_LOAD &&
            (!last || image->segments[i].p_vaddr > last->p_vaddr))
            last = &image->segments[i];
    return last && last->p_flags & PF_W && last->p_filesz == last->p_memsz &&
           elf_segment(image, PT_INTERP) && has_symbol(image, false, is_break_name);
}

const char *elf_marks_find(const struct elf_image *image)
{
    if (has_symbol(image, true, is_mono_name))
        return "code that Mono compiled ahead of time, whose bytes Mono reads while it runs";
    if (is_valgrind_tool(image))
        return "a tool of Valgrind's, some of which runs within the program that it looks at";
    if (is_dumped(image))
        return "a program that was dumped with its heap, behind which there is to be nothing";
    return NULL;
}
