#include "grinder/test_traces/pe_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "image/pe_format.h"
#include "trace/image_manifest.h"

#define ALIGN(value, to) (((value) + (to)-1) / (to) * (to))

static void check(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "pe_sample: %s\n", what);
    abort();
}

uint8_t *pe_sample_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    uint8_t *bytes;

    check(file != NULL, path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size);
    check(bytes && fread(bytes, 1, *size, file) == *size, path);
    fclose(file);
    return bytes;
}

void pe_sample_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    check(file && fwrite(bytes, size, 1, file) == 1 && fclose(file) == 0, path);
}

/* head, functions, one import, its name, the original's path */
static uint8_t *make_manifest(const struct pe_sample *sample, size_t original_size,
                              uint64_t image_base, const char *original_path, const uint32_t *rvas,
                              size_t count, size_t *size)
{
    size_t functions = sizeof(struct image_manifest);
    size_t imports = functions + count * sizeof(struct manifest_function);
    size_t name = imports + sizeof(struct manifest_import);
    size_t path = name + sizeof(PE_SAMPLE_IMPORT);
    struct manifest_function *function;
    struct manifest_import import = {(uint32_t)count - 1, (uint32_t)name};
    uint8_t *bytes;

    *size = path + strlen(original_path) + 1;
    bytes = calloc(1, *size);
    check(bytes != NULL, "out of memory");
    *(struct image_manifest *)bytes = (struct image_manifest){
        .magic = MANIFEST_MAGIC,
        .version = IMAGE_VERSION,
        .size = (uint32_t)*size,
        .function_count = (uint32_t)count,
        .functions = (uint32_t)functions,
        .original_path = (uint32_t)path,
        .original_size = original_size,
        .original_hash = sample->original_hash,
        .preferred_base = image_base,
        .changes = (uint32_t)imports,
        .imports = (uint32_t)imports,
        .import_count = 1,
        .copies = (uint32_t)imports,
        .sites = (uint32_t)imports,
        .stretches = (uint32_t)imports,
        .blocks = (uint32_t)imports,
        .ways = (uint32_t)imports,
    };
    function = (struct manifest_function *)(bytes + functions);
    for (size_t i = 0; i < count; i++)
        function[i] = (struct manifest_function){.rva = rvas[i], .state = FUNCTION_HOOKED};
    memcpy(bytes + imports, &import, sizeof(import));
    strcpy((char *)bytes + name, PE_SAMPLE_IMPORT);
    strcpy((char *)bytes + path, original_path);
    return bytes;
}

static struct pe_file_header *file_header(const struct pe_sample *sample)
{
    uint32_t at;

    memcpy(&at, sample->bytes + PE_DOS_LFANEW, sizeof(at));
    return (struct pe_file_header *)(sample->bytes + at + 4);
}

static struct pe_optional_header *optional_header(const struct pe_sample *sample)
{
    return (struct pe_optional_header *)(file_header(sample) + 1);
}

/* Appends a section, whose RVA is size_of_image. */
static void add_section(struct pe_sample *sample, const char *name, uint32_t flags,
                        const void *bytes, size_t size)
{
    struct pe_file_header *header = file_header(sample);
    struct pe_optional_header *optional = optional_header(sample);
    struct pe_section *section =
        (struct pe_section *)((uint8_t *)optional + header->optional_header_size) +
        header->section_count;
    size_t raw = ALIGN(sample->size, optional->file_alignment);
    size_t raw_size = ALIGN(size, optional->file_alignment);
    uint32_t rva = optional->size_of_image;

    check((uint8_t *)(section + 1) <= sample->bytes + optional->size_of_headers,
          "no room for a section header");
    *section = (struct pe_section){.virtual_size = (uint32_t)size,
                                   .rva = rva,
                                   .raw_size = (uint32_t)raw_size,
                                   .raw = (uint32_t)raw,
                                   .flags = flags};
    memcpy(section->name, name, strnlen(name, sizeof(section->name)));
    header->section_count++;
    optional->size_of_image = ALIGN(rva + (uint32_t)size, optional->section_alignment);
    sample->bytes = realloc(sample->bytes, raw + raw_size);
    check(sample->bytes != NULL, "out of memory");
    memset(sample->bytes + sample->size, 0, raw + raw_size - sample->size);
    memcpy(sample->bytes + raw, bytes, size);
    sample->size = raw + raw_size;
}

struct pe_sample pe_sample_make(const char *path, const char *original_path, const uint32_t *rvas,
                                size_t count)
{
    struct image_header header = {.magic = IMAGE_MAGIC, .version = IMAGE_VERSION};
    struct pe_sample sample = {0};
    size_t size;
    uint8_t *manifest;

    sample.bytes = pe_sample_read(path, &sample.size);
    sample.original_hash = XXH3_64bits(sample.bytes, sample.size);
    manifest = make_manifest(&sample, sample.size, optional_header(&sample)->image_base,
                             original_path, rvas, count, &size);
    header.manifest_rva = optional_header(&sample)->size_of_image;
    add_section(&sample, IMAGE_PE_MANIFEST, PE_SECTION_READ, manifest, size);
    header.header_rva = optional_header(&sample)->size_of_image;
    add_section(&sample, IMAGE_PE_HEADER, PE_SECTION_READ | PE_SECTION_WRITE, &header,
                sizeof(header));
    free(manifest);
    return sample;
}
