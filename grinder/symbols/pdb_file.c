#include "grinder/symbols/pdb_file.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

static uint32_t blocks_of(const struct pdb_file *pdb, uint64_t size)
{
    return (uint32_t)((size + pdb->block_size - 1) / pdb->block_size);
}

/* Gathers size bytes from blocks into bytes. 0, or -1. */
static int read_blocks(const struct pdb_file *pdb, char *bytes, uint64_t size,
                       const uint32_t *blocks)
{
    for (uint64_t done = 0; done < size; done += pdb->block_size, blocks++) {
        uint64_t part = size - done < pdb->block_size ? size - done : pdb->block_size;
        if (bounded_file_read(&pdb->file, bytes + done, part, (uint64_t)*blocks * pdb->block_size) <
            0)
            return -1;
    }
    return 0;
}

/* size bytes and a zero behind them, whose blocks' numbers are at blocks; null if they are not in
   the file. */
static char *gather(const struct pdb_file *pdb, uint64_t size, const uint32_t *blocks)
{
    char *bytes = size <= pdb->file.size ? malloc(size + 1) : NULL;

    if (!bytes || read_blocks(pdb, bytes, size, blocks) < 0) {
        free(bytes);
        return NULL;
    }
    bytes[size] = 0;
    return bytes;
}

static bool read_header(struct pdb_file *pdb, struct msf_header *header, struct failure *failure)
{
    if (bounded_file_read(&pdb->file, header, sizeof(*header), 0) < 0 ||
        memcmp(header->magic, MSF_MAGIC, sizeof(header->magic)))
        return fail_because(failure, "is not a PDB");
    pdb->block_size = header->block_size;
    if (pdb->block_size < 512 || pdb->block_size > 1 << 16 ||
        (pdb->block_size & (pdb->block_size - 1)))
        return fail_because(failure, "is a PDB with a malformed header");
    return true;
}

/* Where the blocks of each stream are listed; all streams together are no larger than the file. */
static int index_streams(struct pdb_file *pdb, uint64_t words)
{
    uint64_t at, sum = 0;

    pdb->stream_count = words ? pdb->directory[0] : 0;
    if (pdb->stream_count >= words)
        return -1;
    at = 1 + (uint64_t)pdb->stream_count;
    pdb->first_block = memory_zeroed(pdb->stream_count, sizeof(*pdb->first_block));
    for (uint32_t i = 0; i < pdb->stream_count; i++) {
        uint32_t size = pdb->directory[1 + i];
        pdb->first_block[i] = (uint32_t)at;
        if (size == MSF_NO_STREAM)
            continue;
        sum += size;
        at += blocks_of(pdb, size);
        if (at > words || sum > pdb->file.size)
            return -1;
    }
    return 0;
}

static bool read_directory(struct pdb_file *pdb, struct failure *failure)
{
    struct msf_header header;
    uint32_t *map = NULL;

    if (!read_header(pdb, &header, failure))
        return false;
    if (header.directory_size <= pdb->file.size)
        map = bounded_file_copy(&pdb->file, (uint64_t)header.block_map * pdb->block_size,
                                (uint64_t)blocks_of(pdb, header.directory_size) * sizeof(*map));
    if (map)
        pdb->directory = (uint32_t *)gather(pdb, header.directory_size, map);
    free(map);
    if (!pdb->directory || index_streams(pdb, header.directory_size / sizeof(*pdb->directory)) < 0)
        return fail_because(failure, "is a PDB with a malformed directory");
    return true;
}

struct pdb_stream pdb_stream_read(const struct pdb_file *pdb, uint32_t number)
{
    struct pdb_stream stream = {0};

    if (number >= pdb->stream_count || pdb->directory[1 + number] == MSF_NO_STREAM)
        return stream;
    stream.bytes =
        gather(pdb, pdb->directory[1 + number], pdb->directory + pdb->first_block[number]);
    stream.size = stream.bytes ? pdb->directory[1 + number] : 0;
    return stream;
}

/* The word at *at, which moves on; 0 past the end. */
static uint32_t take_word(const struct pdb_stream *stream, size_t *at)
{
    uint32_t word = 0;

    if (*at <= stream->size && stream->size - *at >= sizeof(word))
        memcpy(&word, stream->bytes + *at, sizeof(word));
    *at += sizeof(word);
    return word;
}

/*
 * The names of streams:   | names, zero-terminated | count | capacity | bits of used slots |
 *                         | bits of deleted slots  | (place of the name, number) [count]   |
 * Bits are a count of words and the words.
 */
static uint32_t find_named_stream(const struct pdb_stream *stream, uint32_t names_size,
                                  const char *name)
{
    const char *names = stream->bytes + sizeof(struct pdb_info);
    size_t at = sizeof(struct pdb_info) + (size_t)names_size;
    uint32_t count;

    if (at > stream->size)
        return 0;
    count = take_word(stream, &at);
    take_word(stream, &at);
    for (int bits = 0; bits < 2; bits++) {
        size_t words = take_word(stream, &at);
        at += words * sizeof(uint32_t);
    }
    for (uint32_t i = 0; i < count && at < stream->size; i++) {
        uint32_t place = take_word(stream, &at), number = take_word(stream, &at);
        if (place < names_size && !strcmp(names + place, name))
            return number;
    }
    return 0;
}

static int read_info(struct pdb_file *pdb)
{
    struct pdb_stream stream = pdb_stream_read(pdb, PDB_INFO);

    if (stream.size < sizeof(pdb->info)) {
        free(stream.bytes);
        return -1;
    }
    memcpy(&pdb->info, stream.bytes, sizeof(pdb->info));
    pdb->names = find_named_stream(&stream, pdb->info.names_size, "/names");
    free(stream.bytes);
    return 0;
}

static void read_modules(struct pdb_file *pdb, const char *bytes, size_t size)
{
    size_t room = 0;

    for (size_t at = 0; size - at > sizeof(struct module_info);) {
        struct module_info info;
        memcpy(&info, bytes + at, sizeof(info));
        at += sizeof(info);
        for (int names = 0; names < 2 && at < size; names++)
            at += strnlen(bytes + at, size - at) + 1;
        at = (at + 3) & ~(size_t)3;
        pdb->modules = memory_grow(pdb->modules, pdb->module_count, &room, sizeof(*pdb->modules));
        pdb->modules[pdb->module_count++] = (struct pdb_module){
            info.stream, info.symbols_size, info.symbols_size + info.c11_size, info.lines_size};
        if (at >= size)
            break;
    }
}

static void read_sections(struct pdb_file *pdb, uint32_t number)
{
    struct pdb_stream stream = pdb_stream_read(pdb, number);
    struct pe_section header;

    pdb->section_count = stream.size / sizeof(header);
    pdb->section_rvas = memory_zeroed(pdb->section_count, sizeof(*pdb->section_rvas));
    for (size_t i = 0; i < pdb->section_count; i++) {
        memcpy(&header, stream.bytes + i * sizeof(header), sizeof(header));
        pdb->section_rvas[i] = header.rva;
    }
    free(stream.bytes);
}

static int read_dbi(struct pdb_file *pdb)
{
    struct pdb_stream stream = pdb_stream_read(pdb, PDB_DBI);
    const struct dbi_header *dbi = &pdb->dbi;
    uint64_t at = sizeof(*dbi);
    uint16_t sections;
    int result = -1;

    if (stream.size < sizeof(*dbi))
        goto err;
    memcpy(&pdb->dbi, stream.bytes, sizeof(*dbi));
    if (dbi->modules_size > stream.size - at)
        goto err;
    read_modules(pdb, stream.bytes + at, dbi->modules_size);
    at += (uint64_t)dbi->modules_size + dbi->contributions_size + dbi->section_map_size +
          dbi->sources_size + dbi->type_servers_size + dbi->edit_and_continue_size;
    at += DBI_SECTIONS * sizeof(sections);
    if (dbi->optional_size < (DBI_SECTIONS + 1) * sizeof(sections) ||
        at + sizeof(sections) > stream.size)
        goto err;
    memcpy(&sections, stream.bytes + at, sizeof(sections));
    read_sections(pdb, sections);
    result = 0;
err:
    free(stream.bytes);
    return result;
}

bool pdb_open(struct pdb_file *pdb, const char *path, struct failure *failure)
{
    *pdb = (struct pdb_file){0};
    if (!bounded_file_open(&pdb->file, path, failure))
        return false;
    if (!read_directory(pdb, failure))
        goto err;
    if (read_info(pdb) < 0 || read_dbi(pdb) < 0) {
        fail_because(failure, "is a PDB with malformed streams");
        goto err;
    }
    return true;

err:
    pdb_close(pdb);
    return false;
}

void pdb_close(struct pdb_file *pdb)
{
    bounded_file_close(&pdb->file);
    free(pdb->directory);
    free(pdb->first_block);
    free(pdb->modules);
    free(pdb->section_rvas);
    *pdb = (struct pdb_file){.file.fd = -1};
}

/* The age in the image is that of the DBI stream: tools that add to a PDB raise the other one. */
int pdb_belongs_to(const struct pdb_file *pdb, const struct pe_codeview *codeview)
{
    uint32_t age = pdb->dbi.age ? pdb->dbi.age : pdb->info.age;

    return !memcmp(pdb->info.guid, codeview->guid, sizeof(codeview->guid)) && age == codeview->age;
}

uint32_t pdb_rva(const struct pdb_file *pdb, uint32_t section, uint32_t offset)
{
    if (section < 1 || section > pdb->section_count)
        return 0;
    return pdb->section_rvas[section - 1] + offset;
}
