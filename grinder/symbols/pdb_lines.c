/*
 * Source lines in a PDB: for each function, blocks of (offset, line), a block a file.
 *
 * As with DWARF (lines_dwarf.c) a line holds up to the next one, and where several begin at one
 * address the last one holds, but for that address itself, where the first one does. What two
 * functions both claim goes to the first: `next` leads past addresses whose line is known.
 */
#include <stdlib.h>
#include <string.h>

#include "grinder/symbols/lines.h"
#include "grinder/symbols/pdb_file.h"
#include "support/memory.h"
#include "support/sorted.h"

struct row {
    uint32_t offset;
    uint32_t order; /* as in the file */
    uint32_t line;
    uint32_t file; /* offset of its file_checksum */
};

struct reading {
    struct line_table *table;
    const struct pdb_file *pdb;
    uint64_t image_base;
    size_t *next;            /* of each address: itself, or a later one to look at instead */
    struct pdb_stream names; /* "/names" */
    uint32_t *name_files;    /* of each byte of the names: number of the file, 0 if not added */
    size_t file_room;
    struct row *rows; /* of the function at hand */
    size_t row_count, row_room;
    /* The module's. */
    const char *files;
    uint32_t files_size;
};

/* The first place not below i whose line is not known. */
static size_t next_unknown(struct reading *reading, size_t i)
{
    while (reading->next[i] != i) {
        reading->next[i] = reading->next[reading->next[i]];
        i = reading->next[i];
    }
    return i;
}

/* The strings of "/names" are behind its first word, a version and their size. */
#define NAMES_AT 12u

/* The number in the table of the file with that checksum; 0 if it has no name. */
static uint32_t number_file(struct reading *reading, uint32_t at)
{
    struct line_table *table = reading->table;
    struct file_checksum checksum;
    const char *name;

    if (at > reading->files_size || reading->files_size - at < sizeof(checksum))
        return 0;
    memcpy(&checksum, reading->files + at, sizeof(checksum));
    if (reading->names.size <= NAMES_AT || checksum.name >= reading->names.size - NAMES_AT)
        return 0;
    name = reading->names.bytes + NAMES_AT + checksum.name;
    if (!*name || strnlen(name, LINES_MAX_NAME) == LINES_MAX_NAME)
        return 0;
    if (!reading->name_files[checksum.name]) {
        reading->name_files[checksum.name] = (uint32_t)table->file_count;
        table->files = memory_grow(table->files, table->file_count, &reading->file_room,
                                   sizeof(*table->files));
        table->files[table->file_count++] = memory_copy_string(name);
    }
    return reading->name_files[checksum.name];
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void add_row(struct reading *reading, const struct line_entry *entry, uint32_t file)
{
    uint32_t line = entry->line & LINE_MASK;

    reading->rows =
        memory_grow(reading->rows, reading->row_count, &reading->row_room, sizeof(*reading->rows));
    reading->rows[reading->row_count] = (struct row){
        .offset = entry->offset,
        .order = (uint32_t)reading->row_count,
        .line = line == LINE_HIDDEN || line == LINE_NEVER ? 0 : line,
        .file = file,
    };
    reading->row_count++;
}

static void add_blocks(struct reading *reading, const char *bytes, uint32_t size)
{
    struct line_block block;
    struct line_entry entry;

    for (uint32_t at = 0; size - at >= sizeof(block); at += block.size) {
        memcpy(&block, bytes + at, sizeof(block));
        if (block.size < sizeof(block) || block.size > size - at ||
            block.count > (block.size - sizeof(block)) / sizeof(entry))
            return;
        for (uint32_t i = 0; i < block.count; i++) {
            memcpy(&entry, bytes + at + sizeof(block) + i * sizeof(entry), sizeof(entry));
            add_row(reading, &entry, block.file);
        }
    }
}

/* The last row that begins at or below offset; of those at offset itself the first. */
static const struct row *row_of(const struct reading *reading, uint64_t offset)
{
    size_t found = partition_point(i, reading->row_count, reading->rows[i].offset < offset);

    if (found < reading->row_count && reading->rows[found].offset == offset)
        return &reading->rows[found];
    return found ? &reading->rows[found - 1] : NULL;
}

/* Gives the addresses in [start, start + code_size) their lines, from the rows. */
static void find_lines(struct reading *reading, uint64_t start, uint32_t code_size)
{
    struct line_table *table = reading->table;
    size_t i = next_unknown(reading, line_table_first(table, start + reading->rows[0].offset));

    while (i < table->count && table->addresses[i] < start + code_size) {
        const struct row *row = row_of(reading, table->addresses[i] - start);
        if (row && row->line)
            table->lines[i] = (struct line){number_file(reading, row->file), row->line};
        reading->next[i] = i + 1;
        i = next_unknown(reading, i + 1);
    }
}

static void read_function(struct reading *reading, const char *bytes, uint32_t size)
{
    struct lines_header header;
    uint64_t start;
    uint32_t rva;
    size_t first;

    if (size < sizeof(header))
        return;
    memcpy(&header, bytes, sizeof(header));
    rva = pdb_rva(reading->pdb, header.section, header.offset);
    start = reading->image_base + rva;
    first = next_unknown(reading, line_table_first(reading->table, start));
    if (!rva || first == reading->table->count ||
        reading->table->addresses[first] >= start + header.code_size)
        return;
    reading->row_count = 0;
    add_blocks(reading, bytes + sizeof(header), size - (uint32_t)sizeof(header));
    if (!reading->row_count)
        return;
    qsort(reading->rows, reading->row_count, sizeof(*reading->rows), compare_rows);
    find_lines(reading, start, header.code_size);
}

/* Calls read for each of the module's sections of that kind. */
static void for_sections(struct reading *reading, const char *bytes, uint32_t size, uint32_t kind,
                         void (*read)(struct reading *, const char *, uint32_t))
{
    struct line_section section;

    for (uint32_t at = 0; at < size && size - at > sizeof(section);) {
        memcpy(&section, bytes + at, sizeof(section));
        at += (uint32_t)sizeof(section);
        if (section.size > size - at)
            return;
        if (section.kind == kind)
            read(reading, bytes + at, section.size);
        if (section.size > UINT32_MAX - 3 - at)
            return;
        at = (at + section.size + 3) & ~3u;
    }
}

static void take_files(struct reading *reading, const char *bytes, uint32_t size)
{
    reading->files = bytes;
    reading->files_size = size;
}

static void read_module(struct reading *reading, const struct pdb_module *module)
{
    struct pdb_stream stream = pdb_stream_read(reading->pdb, module->stream);
    const char *lines = stream.bytes + module->lines_at;

    reading->files_size = 0;
    if (module->lines_at < stream.size && module->lines_size <= stream.size - module->lines_at) {
        for_sections(reading, lines, module->lines_size, SECTION_FILES, take_files);
        for_sections(reading, lines, module->lines_size, SECTION_LINES, read_function);
    }
    free(stream.bytes);
}

static void begin(struct reading *reading)
{
    struct line_table *table = reading->table;

    reading->next = memory_zeroed(table->count + 1, sizeof(*reading->next));
    for (size_t i = 0; i <= table->count; i++)
        reading->next[i] = table->lines && i < table->count && table->lines[i].file ? i + 1 : i;
    if (reading->pdb->names)
        reading->names = pdb_stream_read(reading->pdb, reading->pdb->names);
    reading->name_files = memory_zeroed(reading->names.size, sizeof(*reading->name_files));
    reading->file_room = table->file_count;
    if (!table->file_count) {
        table->files = memory_grow(NULL, 0, &reading->file_room, sizeof(*table->files));
        table->files[0] = NULL;
        table->file_count = 1;
    }
}

void pdb_lines_read(struct line_table *table, const struct pdb_file *pdb, uint64_t image_base)
{
    struct reading reading = {.table = table, .pdb = pdb, .image_base = image_base};
    unsigned char *seen = memory_zeroed(PDB_NO_STREAM + 1, 1);

    begin(&reading);
    for (size_t i = 0; i < pdb->module_count; i++)
        if (pdb->modules[i].stream != PDB_NO_STREAM && !seen[pdb->modules[i].stream]++)
            read_module(&reading, &pdb->modules[i]);
    free(seen);
    free(reading.next);
    free(reading.names.bytes);
    free(reading.name_files);
    free(reading.rows);
}
