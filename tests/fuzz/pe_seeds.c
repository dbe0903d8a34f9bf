/* Writes images made by hand into a folder: what linkers at hand do not make. */
#include "rewriter/pe/pe_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* push rbx; sub rsp, 32; call 0x1040; add rsp, 32; pop rbx; ret */
#define CALLER      "\x40\x53\x48\x83\xec\x20\xe8\x35\x00\x00\x00\x48\x83\xc4\x20\x5b\xc3"
#define CALLER_INFO "\x01\x06\x02\x00\x06\x32\x02\x30"
/* A table in the code: see pe_code_test.c */
#define TABLE                                                                                      \
    "\x48\x8d\x15\xb9\xef\xff\xff\x8b\x8c\x82\x60\x10\x00\x00\x48\x03\xca\xff\xe1\x90\x90\xc3"
#define GUARDED_INFO "\x09\x04\x01\x00\x04\x42\x00\x00\x00\x15\x00\x00"

static void save(const struct pe_sample *sample, const char *folder, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file || fwrite(sample->bytes, sample->size, 1, file) != 1 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void fill(struct pe_sample *sample)
{
    pe_sample_init(sample);
    pe_sample_code(sample, 0x1000, CALLER, sizeof(CALLER) - 1);
    pe_sample_unwind(sample, 0x1000, 0x1011, CALLER_INFO, sizeof(CALLER_INFO) - 1);
    pe_sample_code(sample, 0x1040, TABLE, sizeof(TABLE) - 1);
    pe_sample_code(sample, 0x1060, "\x53\x10\x00\x00\x4b\x10\x00\x00", 8);
    pe_sample_code(sample, 0x1100, "\x48\x83\xec\x28\x8b\x01\x48\x83\xc4\x28\xc3", 11);
    pe_sample_unwind(sample, 0x1100, 0x110b, GUARDED_INFO, sizeof(GUARDED_INFO) - 1);
    pe_sample_relocate(sample, 0x1200);
}

/* Sections that hold nothing: no room is left for more headers. */
static void crowd(struct pe_sample *sample)
{
    for (unsigned i = 2; i < 15; i++)
        ((struct pe_section *)(sample->bytes + 0x188))[i] =
            (struct pe_section){.virtual_size = 0x1000, .rva = 0x1000 + i * 0x1000};
    pe_sample_file(sample)->section_count = 15;
}

/* The debug directory, and what it leads to, among the code, as with .rdata merged into .text. */
static void merge(struct pe_sample *sample)
{
    struct pe_directory *debug = pe_sample_directory(sample, PE_DEBUG);
    struct pe_debug entries[2];

    memcpy(entries, pe_sample_at(sample, debug->rva), sizeof(entries));
    pe_sample_code(sample, 0x1400, pe_sample_at(sample, entries[1].rva), 4);
    entries[1].rva = 0x1400;
    debug->rva = 0x1300;
    pe_sample_code(sample, debug->rva, entries, sizeof(entries));
}

/* A third section over the same bytes of the file as the second. */
static void share(struct pe_sample *sample)
{
    struct pe_section *sections = (struct pe_section *)(sample->bytes + 0x188);

    sections[2] = sections[1];
    sections[2].rva = 0x3000;
    pe_sample_file(sample)->section_count = 3;
}

int main(int count, char **arguments)
{
    struct pe_sample sample;

    if (count != 2)
        return 2;
    fill(&sample);
    *pe_sample_directory(&sample, PE_CERTIFICATES) =
        (struct pe_directory){(uint32_t)sample.size + 16, 16};
    memset(sample.bytes + sample.size, 'o', 32);
    sample.size += 32;
    save(&sample, arguments[1], "signed.exe");
    fill(&sample);
    *pe_sample_directory(&sample, PE_BOUND_IMPORTS) = (struct pe_directory){0x1d8, 16};
    save(&sample, arguments[1], "bound.exe");
    fill(&sample);
    crowd(&sample);
    save(&sample, arguments[1], "crowded.exe");
    merge(&sample);
    save(&sample, arguments[1], "merged.exe");
    fill(&sample);
    share(&sample);
    save(&sample, arguments[1], "shared.exe");
    return 0;
}
