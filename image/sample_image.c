#include "image/sample_image.h"

#include <stddef.h>
#include <string.h>
#include <xxhash.h>

#define OFFSET(member)                                                                             \
    (uint32_t)(offsetof(struct sample_added, member) - sizeof(struct image_header))

static const uint8_t prologue[5] = {0x55, 0x48, 0x89, 0xe5, 0x53}, jump[5] = {0xe9, 1, 2, 3, 4};

static void make_original(struct sample_image *image, uint8_t original[SAMPLE_ADDED])
{
    image->header = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                                 .e_type = ET_DYN,
                                 .e_machine = EM_X86_64,
                                 .e_phoff = offsetof(struct sample_image, segments),
                                 .e_phentsize = sizeof(Elf64_Phdr),
                                 .e_phnum = 1};
    image->segments[0] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x800, .p_memsz = 0x800};
    image->segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_W,
                                      .p_offset = SAMPLE_ADDED,
                                      .p_vaddr = SAMPLE_ADDED,
                                      .p_filesz = sizeof(struct sample_added),
                                      .p_memsz = sizeof(struct sample_added)};
    memcpy(image->bytes + SAMPLE_FUNCTION, prologue, sizeof(prologue));
    memcpy(original, image->bytes, SAMPLE_ADDED);
}

void sample_image_make(struct sample_image *image, uint8_t original[SAMPLE_ADDED])
{
    struct sample_added *added = &image->added;
    size_t change = offsetof(Elf64_Ehdr, e_phnum);

    *image = (struct sample_image){0};
    make_original(image, original);
    added->header = (struct image_header){
        .magic = IMAGE_MAGIC,
        .version = IMAGE_VERSION,
        .header_rva = SAMPLE_ADDED,
        .manifest_rva = SAMPLE_ADDED + sizeof(struct image_header),
    };
    added->head = (struct image_manifest){
        .magic = MANIFEST_MAGIC,
        .version = IMAGE_VERSION,
        .size = (uint32_t)(sizeof(*added) - sizeof(struct image_header)),
        .function_count = 2,
        .functions = OFFSET(functions),
        .original_path = OFFSET(path),
        .original_size = SAMPLE_ADDED,
        .original_hash = XXH3_64bits(original, SAMPLE_ADDED),
        .changes = OFFSET(changes),
        .change_count = 1,
        .imports = OFFSET(imports),
        .import_count = 1,
        .copies = OFFSET(copies),
        .copy_count = 1,
        .sites = OFFSET(sites),
        .site_count = 2,
        .stretches = OFFSET(stretches),
        .blocks = OFFSET(blocks),
        .ways = OFFSET(ways),
        .block_count = 3,
        .stretch_count = 2,
    };
    added->functions[0] = (struct manifest_function){
        .rva = SAMPLE_FUNCTION, .size = 32, .state = FUNCTION_HOOKED, .patch_size = sizeof(jump)};
    memcpy(added->functions[0].original, prologue, sizeof(prologue));
    added->functions[1] = (struct manifest_function){.rva = 0x400, .state = FUNCTION_HOOKED};
    added->changes[0] = (struct manifest_change){
        .file_offset = (uint32_t)change, .size = 2, .original = {image->bytes[change]}};
    added->imports[0] = (struct manifest_import){.function = 1, .name = OFFSET(name)};
    added->copies[0] = (struct manifest_copy){.rva = SAMPLE_COPY, .size = 64, .function = 0};
    added->stretches[0] = (struct manifest_stretch){8, 7};
    added->stretches[1] = (struct manifest_stretch){20, 29};
    added->blocks[0] = (struct manifest_block){SAMPLE_FUNCTION, 10};
    added->blocks[1] = (struct manifest_block){SAMPLE_FUNCTION + 10, 0};
    added->blocks[2] = (struct manifest_block){SAMPLE_FUNCTION + 12, 20};
    added->sites[0] = (struct manifest_site){SAMPLE_COPY + 20, SAMPLE_FUNCTION + 10};
    added->sites[1] = (struct manifest_site){SAMPLE_COPY + 64, SAMPLE_FUNCTION + 10};
    strcpy(added->name, "read");
    strcpy(added->path, "/bin/program");
    image->header.e_phnum = 2;
    memcpy(image->bytes + SAMPLE_FUNCTION, jump, sizeof(jump));
}

struct bounded_file sample_image_file(const struct sample_image *image)
{
    return bounded_file_of(image, sizeof(*image));
}
