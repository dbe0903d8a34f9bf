#include "image/debug_file.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/elf_file.h"
#include "support/bounded_file.h"
#include "support/memory.h"

#define SYSTEM_DIR "/usr/lib/debug"

/* Notes: namesz, descsz, type, name and desc each padded to 4. */
struct build_id build_id_read(const unsigned char *bytes, uint64_t size)
{
    struct build_id id = {.size = 0};
    Elf64_Nhdr note;

    if (!bytes || size < sizeof(note) + 4)
        return id;
    memcpy(&note, bytes, sizeof(note));
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > BUILD_ID_MOST ||
        note.n_descsz < 2 || size < sizeof(note) + 4 + note.n_descsz)
        return id;
    memcpy(id.bytes, bytes + sizeof(note) + 4, note.n_descsz);
    id.size = note.n_descsz;
    return id;
}

bool build_id_is_of(const char *path, const struct build_id *wanted)
{
    struct bounded_file file;
    struct elf_file elf;
    struct build_id id = {.size = 0};
    const Elf64_Shdr *section;
    unsigned char *note;
    struct failure failure;

    if (!bounded_file_open(&file, path, &failure) || !elf_open(&elf, file, &failure))
        return false;
    section = elf_section_named(&elf, DEBUG_NOTE_SECTION);
    note = section ? elf_section_read(&elf, section) : NULL;
    if (note)
        id = build_id_read(note, section->sh_size);
    free(note);
    elf_close(&elf);
    return id.size == wanted->size && !memcmp(id.bytes, wanted->bytes, id.size);
}

static char *find_by_build_id(const char *dir, const struct build_id *id)
{
    char hex[2 * BUILD_ID_MOST + 1];
    char *path;

    for (size_t i = 0; i < id->size; i++)
        sprintf(hex + 2 * i, "%02x", id->bytes[i]);
    path = memory_print("%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2);
    if (build_id_is_of(path, id))
        return path;
    free(path);
    return NULL;
}

/* CRC-32 as in zlib and .gnu_debuglink: polynomial edb88320, reflected. */
static bool file_has_crc(const char *path, uint32_t wanted)
{
    static uint32_t table[256];
    unsigned char bytes[1 << 15];
    uint32_t crc = 0xffffffffu;
    struct bounded_file file;
    struct failure failure;
    bool has_it = false;
    uint64_t part;

    if (!bounded_file_open(&file, path, &failure))
        return false;
    for (uint32_t i = 0; !table[255] && i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        table[i] = value;
    }
    for (uint64_t at = 0; at < file.size; at += part) {
        part = file.size - at < sizeof(bytes) ? file.size - at : sizeof(bytes);
        if (bounded_file_read(&file, bytes, part, at) < 0)
            goto err;
        for (uint64_t i = 0; i < part; i++)
            crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    }
    has_it = ~crc == wanted;
err:
    bounded_file_close(&file);
    return has_it;
}

/* .gnu_debuglink: name, zero, padding to 4, CRC. */
struct debug_link {
    const char *name; /* null if there is none */
    uint32_t crc;
};

static struct debug_link read_debug_link(const char *bytes, uint64_t size)
{
    struct debug_link link = {0};
    size_t length = bytes ? strnlen(bytes, size) : 0;
    size_t crc_at = (length + 4) & ~(size_t)3;

    if (!length || length > NAME_MAX || memchr(bytes, '/', length) || crc_at > size ||
        size - crc_at < sizeof(link.crc))
        return link;
    memcpy(&link.crc, bytes + crc_at, sizeof(link.crc));
    link.name = bytes;
    return link;
}

/* The path, taken over, if the file there is the one that is meant; else null. */
static char *if_linked(const struct debug_link *link, char *path)
{
    if (file_has_crc(path, link->crc))
        return path;
    free(path);
    return NULL;
}

static char *find_by_link(const char *const *debug_dirs, const char *image_path,
                          const struct debug_link *link)
{
    const char *slash = strrchr(image_path, '/');
    int folder = slash ? (int)(slash - image_path) : 0;
    char *path;

    if (!slash)
        return NULL;
    path = if_linked(link, memory_print("%.*s/%s", folder, image_path, link->name));
    if (!path)
        path = if_linked(link, memory_print("%.*s/.debug/%s", folder, image_path, link->name));
    for (size_t i = 0; !path && debug_dirs[i]; i++)
        path = if_linked(link,
                         memory_print("%s%.*s/%s", debug_dirs[i], folder, image_path, link->name));
    if (!path)
        path = if_linked(link, memory_print(SYSTEM_DIR "%.*s/%s", folder, image_path, link->name));
    return path;
}

char *debug_file_find(const char *const *debug_dirs, const char *image_path,
                      const struct debug_marks *marks)
{
    struct build_id id = build_id_read(marks->note, marks->note_size);
    struct debug_link link;
    char *path = NULL;

    for (size_t i = 0; id.size && !path && debug_dirs[i]; i++)
        path = find_by_build_id(debug_dirs[i], &id);
    if (id.size && !path)
        path = find_by_build_id(SYSTEM_DIR, &id);
    if (path)
        return path;
    link = read_debug_link(marks->link, marks->link_size);
    return link.name ? find_by_link(debug_dirs, image_path, &link) : NULL;
}
