#include "hooks/lasting.h"

#include <link.h>

#include "hooks/memory.h"

#define MOST_IMAGES 512 /* a program that needs more has some that are not known */

#pragma weak dl_iterate_phdr

static struct image {
    uint64_t start, end;
    const ElfW(Dyn) * dynamic;
    const char *names; /* DT_STRTAB */
    const char *name;  /* DT_SONAME, or its path */
    bool lasts;
} images[MOST_IMAGES];
static uint32_t image_count;

/* glibc has addresses there by now, musl still has them as linked, less the bias. */
static const char *pointer(const struct dl_phdr_info *info, uint64_t value)
{
    return (const char *)(uintptr_t)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static const char *base_name(const char *path)
{
    const char *base = path;

    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

static void read_dynamic(struct image *image, const struct dl_phdr_info *info)
{
    uint64_t soname = 0;

    for (const ElfW(Dyn) *entry = image->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            image->names = pointer(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SONAME)
            soname = entry->d_un.d_val;
    }
    image->name = soname && image->names ? image->names + soname : base_name(info->dlpi_name);
}

static int add(struct dl_phdr_info *info, size_t size, void *with)
{
    struct image image = {.start = UINT64_MAX};

    (void)size;
    (void)with;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_DYNAMIC)
            image.dynamic = (const void *)(uintptr_t)start;
        if (segment->p_type != PT_LOAD)
            continue;
        image.start = start < image.start ? start : image.start;
        if (start + segment->p_memsz > image.end)
            image.end = start + segment->p_memsz;
    }
    if (!image.dynamic || image_count == MOST_IMAGES)
        return 0;
    read_dynamic(&image, info);
    images[image_count++] = image;
    return 0;
}

static void note_needed(const char *name)
{
    for (uint32_t i = 0; i < image_count; i++)
        if (text_equal(images[i].name, base_name(name)))
            images[i].lasts = true;
}

/* What an image needs stands behind it or before it: so all are looked at until no more are found.
 */
void lasting_images_find(void)
{
    bool is_done[MOST_IMAGES] = {false}, is_changed = true;

    if (!dl_iterate_phdr)
        return;
    dl_iterate_phdr(add, NULL);
    images[0].lasts = image_count > 0; /* the program is the first */
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = 0; i < image_count; i++) {
            if (!images[i].lasts || is_done[i] || !images[i].names)
                continue;
            is_done[i] = is_changed = true;
            for (const ElfW(Dyn) *entry = images[i].dynamic; entry->d_tag != DT_NULL; entry++)
                if (entry->d_tag == DT_NEEDED)
                    note_needed(images[i].names + entry->d_un.d_val);
        }
    }
}

bool lasting_image_has(uint64_t address)
{
    for (uint32_t i = 0; i < image_count; i++)
        if (images[i].lasts && address - images[i].start < images[i].end - images[i].start)
            return true;
    return false;
}
