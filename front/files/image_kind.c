#include "front/files/image_kind.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "support/regular_file.h"

static const struct image_of {
    unsigned char class;
    uint16_t machine;
    ssize_t header_size;
} images_of[PROCESSORS] = {
    [PROCESSOR_X86_64] = {ELFCLASS64, EM_X86_64, sizeof(Elf64_Ehdr)},
    [PROCESSOR_I386] = {ELFCLASS32, EM_386, sizeof(Elf32_Ehdr)},
};

/* Up to e_entry, headers of both classes are the same. PROCESSORS: of none whose programs are
 * instrumented. */
static enum processor processor_of(const Elf64_Ehdr *header)
{
    enum processor processor = 0;

    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        (header->e_type != ET_EXEC && header->e_type != ET_DYN))
        return PROCESSORS;
    while (processor < PROCESSORS &&
           (header->e_ident[EI_CLASS] != images_of[processor].class ||
            header->e_machine != images_of[processor].machine || !tools_find()->agents[processor]))
        processor++;
    return processor;
}

/* What else has the mark of ELF. */
static const char *why_foreign(const Elf64_Ehdr *header)
{
    unsigned machine = header->e_machine;

    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    if (machine == EM_386 && header->e_ident[EI_CLASS] == ELFCLASS32)
        return "it is of 32 bits (i386), and only programs of 64 bits for x86-64 are instrumented";
    if (machine == EM_X86_64 && header->e_ident[EI_CLASS] == ELFCLASS32)
        return "it is of 32 bits (x32), and only programs of 64 bits for x86-64 are instrumented";
    if (machine == EM_X86_64 && header->e_type == ET_REL)
        return "it is an object file, and no program before it is linked";
    if (machine == EM_X86_64 && header->e_type == ET_CORE)
        return "it is a core dump, and no program";
    return "it is for another processor, and only programs for x86-64 are instrumented";
}

static void trim(char *text)
{
    size_t length = strlen(text);

    while (length && strchr(" \t", text[length - 1]))
        text[--length] = 0;
}

/* How much of a script's first line the kernel takes. If the line does not end where the kernel
   ends reading, that is all but a byte; 0 if the interpreter's name may be cut off there. */
static size_t line_length(const char *line)
{
    size_t length = strcspn(line, "\n"), name = 2 + strspn(line + 2, " \t");

    if (length < SCRIPT_LINE_SIZE)
        return length;
    return line[name + strcspn(line + name, " \t")] ? length - 1 : 0;
}

/* Reads a line as fs/binfmt_script.c of Linux does. */
static int is_script(struct image_look *look, char line[SCRIPT_LINE_SIZE + 1])
{
    char *name, *end;
    size_t length;

    if (strncmp(line, "#!", 2) != 0 || !(length = line_length(line)))
        return 0;
    line[length] = 0;
    trim(line);
    name = line + 2 + strspn(line + 2, " \t");
    end = name + strcspn(name, " \t");
    strcpy(look->argument, end + strspn(end, " \t"));
    *end = 0;
    strcpy(look->interpreter, name);
    return *name != 0;
}

void image_look_at(struct image_look *look, int file)
{
    union {
        Elf64_Ehdr header;
        char line[SCRIPT_LINE_SIZE + 1];
    } head = {0};
    ssize_t size = pread(file, head.line, SCRIPT_LINE_SIZE, 0);
    enum processor processor = processor_of(&head.header);

    *look = (struct image_look){.kind = IMAGE_KIND_OTHER};
    if (processor < PROCESSORS) {
        look->kind = size >= images_of[processor].header_size ? IMAGE_KIND_ELF : IMAGE_KIND_OTHER;
        look->processor = processor;
    } else if (size >= (ssize_t)offsetof(Elf64_Ehdr, e_entry) &&
               (look->why = why_foreign(&head.header)))
        look->kind = IMAGE_KIND_FOREIGN;
    else if (size > 2 && is_script(look, head.line))
        look->kind = IMAGE_KIND_SCRIPT;
}

int image_look_at_path(struct image_look *look, int name)
{
    int file = regular_file_take(name, "");

    *look = (struct image_look){.kind = IMAGE_KIND_OTHER};
    if (file < 0)
        return 0;
    image_look_at(look, file);
    close(file);
    return 1;
}
