#include "service/attach/linux/attach_map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "service/attach/linux/attach_filters.h"
#include "service/attach/linux/attach_listen.h"
#include "service/attach/linux/tracees.h"
#include "service/base/message.h"
#include "support/bounded_file.h"
#include "trace/attached_agent.h"

#define STRING_ROOM (PATH_MAX + 64)
#define ENVIRONMENT 3 /* pointers */
#define IMAGES      (1 + ATTACHED_IMAGES)

static uint64_t call(struct tracees *tracees, long number, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d, uint64_t e, uint64_t f)
{
    struct tracee *caller = tracees_caller(tracees);

    return caller ? (uint64_t)tracee_call(tracees, caller, number, (uint64_t[6]){a, b, c, d, e, f})
                  : (uint64_t)-ESRCH;
}

static bool is_error(uint64_t result)
{
    return result > (uint64_t) - (int64_t)ATTACHED_PAGE;
}

static uint64_t close_there(struct tracees *tracees, uint64_t file)
{
    return call(tracees, SYS_close, file, 0, 0, 0, 0, 0);
}

/* Memory of the process, by a descriptor there; its name is for people. */
static uint64_t make_memory_there(const struct attached *attached, struct tracees *tracees,
                                  const char *name)
{
    uint64_t place = attached->letter.address;

    if (!attached_put(attached, place, name, strlen(name) + 1))
        return (uint64_t)-EFAULT;
    return call(tracees, SYS_memfd_create, place, MFD_CLOEXEC, 0, 0, 0, 0);
}

static bool copy_part(const struct bounded_file *source, int memory, uint64_t offset, uint64_t size)
{
    void *bytes = bounded_file_copy(source, offset, size);
    bool is_copied = bytes && pwrite(memory, bytes, size, (off_t)offset) == (ssize_t)size;

    free(bytes);
    return is_copied;
}

/* Of a file, what the image maps of it; without an image, all. */
static bool fill_memory_there(const struct attached *attached, uint64_t file, const char *path,
                              const struct hooked_image *image)
{
    char there[64];
    struct bounded_file source;
    struct failure ignored;
    bool is_filled;
    int memory;

    if (!bounded_file_open(&source, path, &ignored))
        return false;
    snprintf(there, sizeof(there), "/proc/%d/fd/%d", (int)attached->pid, (int)file);
    memory = open(there, O_WRONLY | O_CLOEXEC);
    is_filled = memory >= 0 && ftruncate(memory, (off_t)source.size) == 0 &&
                (image || copy_part(&source, memory, 0, source.size));
    for (size_t i = 0; image && is_filled && i < image->added_count; i++)
        if (!image->added[i].is_writable)
            is_filled =
                copy_part(&source, memory, image->added[i].offset, image->added[i].file_size);
    if (memory >= 0)
        close(memory);
    bounded_file_close(&source);
    return is_filled;
}

/* A descriptor of a file of ours, there; of a copy in memory, where the program cannot open it. */
static uint64_t open_there(const struct attached *attached, struct tracees *tracees,
                           const char *path, const struct hooked_image *image)
{
    uint64_t place = attached->letter.address, file;

    if (attached->files.are_ours)
        return attached_put(attached, place, path, strlen(path) + 1)
                   ? call(tracees, SYS_openat, (uint64_t)AT_FDCWD, place, O_RDONLY | O_CLOEXEC, 0,
                          0, 0)
                   : (uint64_t)-EFAULT;
    file = make_memory_there(attached, tracees, attached_base_name(path));
    if (is_error(file) || fill_memory_there(attached, file, path, image))
        return file;
    close_there(tracees, file);
    return (uint64_t)-EIO;
}

/* What is not written to is the file's pages; the rest is written, and the hook word's page behind
 * it stays 0. */
static bool map_range(const struct attached *attached, struct tracees *tracees,
                      const struct hooked_image *image, struct added_range *range, uint64_t file)
{
    int protection =
        PROT_READ | (range->is_executable ? PROT_EXEC : 0) | (range->is_writable ? PROT_WRITE : 0);
    struct bounded_file source;
    struct failure ignored;
    void *bytes;
    bool is_put;

    /* The program may have taken the place meanwhile: then it is not ours. */
    range->is_mapped =
        call(tracees, SYS_mmap, range->address, range->size, (uint64_t)protection,
             MAP_PRIVATE | MAP_FIXED_NOREPLACE | (range->is_writable ? MAP_ANONYMOUS : 0),
             range->is_writable ? (uint64_t)-1 : file,
             range->is_writable ? 0 : range->offset) == range->address;
    if (!range->is_mapped || !range->is_writable)
        return range->is_mapped;
    if (!bounded_file_open(&source, image->path, &ignored))
        return false;
    bytes = bounded_file_copy(&source, range->offset, range->file_size);
    is_put = bytes && attached_put(attached, range->address, bytes, range->file_size);
    free(bytes);
    bounded_file_close(&source);
    return is_put;
}

static bool map_image(const struct attached *attached, struct tracees *tracees,
                      struct hooked_image *image, struct failure *failure)
{
    uint64_t file = open_there(attached, tracees, image->path, image);
    bool is_mapped = !is_error(file);

    for (size_t i = 0; is_mapped && i < image->added_count; i++)
        is_mapped = map_range(attached, tracees, image, &image->added[i], file);
    if (!is_error(file))
        close_there(tracees, file);
    return is_mapped || fail(failure, image->path, "cannot be mapped there");
}

static bool map_agent(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    struct tracee *caller = tracees_caller(tracees);
    uint64_t file = open_there(attached, tracees, attached->agent.path, NULL);
    bool is_mapped;

    if (is_error(file) || !caller)
        return fail(failure, attached->agent.path, "cannot be opened there");
    is_mapped = attached_agent_map(&attached->agent, tracees, caller, file, failure);
    close_there(tracees, file);
    return is_mapped;
}

/* Where the agent finds the service: what protocol.h says of these variables. */
static void make_environment(const struct attach_settings *settings, char instance[STRING_ROOM],
                             char runtime[STRING_ROOM])
{
    const char *end = strrchr(settings->socket_path, '/');
    size_t length = end ? (size_t)(end - settings->socket_path) : 0;

    snprintf(instance, STRING_ROOM, "UMBRA_INSTANCE_ID=%s", settings->instance);
    if (length > 6 && !strncmp(end - 6, "/umbra", 6))
        snprintf(runtime, STRING_ROOM, "UMBRA_RUNTIME_DIR=%.*s", (int)length - 6,
                 settings->socket_path);
    else
        *runtime = 0;
}

/* Puts a string behind the others; 0: there is no room. */
static uint64_t put_string(struct attached *attached, const char *text)
{
    struct letter *letter = &attached->letter;
    uint64_t place = letter->next, size = strlen(text) + 1;

    if (letter->address + letter->size - place < size || !attached_put(attached, place, text, size))
        return 0;
    letter->next += size;
    return place;
}

static uint64_t environment_of(const struct letter *letter)
{
    return letter->address + LETTER_PATH_SIZE;
}

static uint64_t images_of(const struct letter *letter)
{
    return environment_of(letter) + ENVIRONMENT * sizeof(uint64_t);
}

static bool write_environment(struct attached *attached, const struct attach_settings *settings)
{
    char instance[STRING_ROOM], runtime[STRING_ROOM];
    uint64_t pointers[ENVIRONMENT] = {0};

    make_environment(settings, instance, runtime);
    pointers[0] = put_string(attached, instance);
    pointers[1] = *runtime ? put_string(attached, runtime) : 0;
    if (attached->listener >= 0)
        attached->letter.socket_name = put_string(attached, attached->socket_name);
    return pointers[0] &&
           attached_put(attached, environment_of(&attached->letter), pointers, sizeof(pointers));
}

static bool put_image(const struct attached *attached, size_t place, struct attached_image image)
{
    return attached_put(attached, images_of(&attached->letter) + place * sizeof(image), &image,
                        sizeof(image));
}

static bool write_image(struct attached *attached, size_t place, const char *path,
                        struct attached_image image)
{
    image.path = put_string(attached, path);
    return image.path && put_image(attached, place, image);
}

/* What the agent is to know of an image: of libgcc, nothing. False: it cannot be written. */
static bool tell_of(struct attached *attached, size_t place, const struct hooked_image *image)
{
    struct attached_image told = {.base = image->base,
                                  .header = image->hook_count ? image->header : 0};

    return image->is_unwinder ? put_image(attached, place, (struct attached_image){0})
                              : write_image(attached, place, image->path, told);
}

/* Images from that one on, behind the agent, and then how many there are. */
static bool write_images(struct attached *attached, size_t first, struct failure *failure)
{
    struct attachment attachment = {
        .environment = environment_of(&attached->letter),
        .images = images_of(&attached->letter),
        .image_count = 1 + attached->image_count,
        .thunks = attached->agent.thunks,
        .socket = attached->letter.socket_name,
    };
    bool is_put = first || write_image(attached, 0, attached->agent.path,
                                       (struct attached_image){.base = attached->agent.base});

    for (size_t i = first; is_put && i < attached->image_count; i++) {
        is_put = tell_of(attached, 1 + i, &attached->images[i]);
    }
    return (is_put && attached_put(attached, attached->agent.base + attached->agent.attachment,
                                   &attachment, sizeof(attachment))) ||
           fail_because(failure, "cannot be written to: %s", strerror(errno));
}

static bool map_letter(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    uint64_t fixed =
        LETTER_PATH_SIZE + ENVIRONMENT * sizeof(uint64_t) + IMAGES * sizeof(struct attached_image);
    uint64_t size = fixed + (IMAGES + ENVIRONMENT) * STRING_ROOM, address;

    size = (size + ATTACHED_PAGE - 1) & ~(uint64_t)(ATTACHED_PAGE - 1);
    address = call(tracees, SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   (uint64_t)-1, 0);
    if (is_error(address))
        return fail_because(failure, "has no memory for %llu bytes: %s", (unsigned long long)size,
                            strerror((int)-(int64_t)address));
    attached->letter = (struct letter){.address = address, .size = size, .next = address + fixed};
    return true;
}

static uint64_t start_of(uint64_t area)
{
    return (area >> ATTACHED_AREA_SIZE_BITS) * ATTACHED_PAGE;
}

static uint64_t size_of(uint64_t area)
{
    return (area & ((1ull << ATTACHED_AREA_SIZE_BITS) - 1)) * ATTACHED_PAGE;
}

/* A trace, a thread's state: what the agent itself keeps a list of. The thunks, which are in it, go
   with the agent. */
static void unmap_areas(const struct attached *attached, struct tracees *tracees)
{
    struct attached_memory memory;
    uint64_t *areas;
    size_t size;

    if (pread(attached->memory, &memory, sizeof(memory),
              (off_t)(attached->agent.base + attached->agent.memory)) != sizeof(memory))
        return;
    size = memory.area_count * sizeof(*areas);
    areas = malloc(size);
    if (areas && pread(attached->memory, areas, size, (off_t)memory.areas) == (ssize_t)size)
        for (uint64_t i = 0; i < memory.area_count; i++)
            if (areas[i] && start_of(areas[i]) != attached->agent.thunks)
                call(tracees, SYS_munmap, start_of(areas[i]), size_of(areas[i]), 0, 0, 0, 0);
    free(areas);
}

static void unmap(const struct attached *attached, struct tracees *tracees)
{
    if (attached->agent.base) {
        unmap_areas(attached, tracees);
        call(tracees, SYS_munmap, attached->agent.base, attached->agent.room, 0, 0, 0, 0);
    }
    for (size_t i = 0; i < attached->image_count; i++)
        for (size_t k = 0; k < attached->images[i].added_count; k++) {
            const struct added_range *range = &attached->images[i].added[k];

            if (range->is_mapped)
                call(tracees, SYS_munmap, range->address, range->size, 0, 0, 0, 0);
        }
    if (attached->letter.address)
        call(tracees, SYS_munmap, attached->letter.address, attached->letter.size, 0, 0, 0, 0);
}

/* The place of one may have been taken meanwhile: it has no hooks then. False: libgcc's was. */
static bool map_images(struct attached *attached, struct tracees *tracees, size_t first,
                       bool is_quiet, struct failure *failure)
{
    for (size_t i = first; i < attached->image_count; i++) {
        struct hooked_image *image = &attached->images[i];
        struct failure why;

        if (map_image(attached, tracees, image, &why))
            continue;
        if (image->is_unwinder)
            return fail_because(failure, "has no room for what libgcc needs: %s", why.text);
        if (!is_quiet)
            message("%s: left alone", why.text);
        hooked_image_close(image);
    }
    return true;
}

/* The agent and its letter, or nothing. */
bool attach_map(struct attached *attached, const struct attach_settings *settings,
                struct failure *failure)
{
    struct tracees tracees;
    bool is_mapped;

    if (!tracees_stop_one(&tracees, attached->pid, failure))
        return false;
    is_mapped = attach_filters_allow(attached, &tracees, failure) &&
                map_letter(attached, &tracees, failure) && map_agent(attached, &tracees, failure) &&
                (attached->files.are_ours || attach_listen(attached, &tracees, failure)) &&
                map_images(attached, &tracees, 0, settings->is_quiet, failure);
    if (is_mapped && !write_environment(attached, settings))
        is_mapped = fail_because(failure, "cannot be written to: %s", strerror(errno));
    is_mapped = is_mapped && write_images(attached, 0, failure);
    if (!is_mapped)
        unmap(attached, &tracees);
    tracees_release(&tracees);
    return is_mapped;
}

bool attach_map_later(struct attached *attached, const struct attach_settings *settings,
                      size_t first, struct failure *failure)
{
    struct tracees tracees;
    bool is_written;

    if (!tracees_stop_one(&tracees, attached->pid, failure))
        return false;
    is_written = attach_filters_allow(attached, &tracees, failure) &&
                 map_images(attached, &tracees, first, settings->is_quiet, failure) &&
                 write_images(attached, first, failure);
    tracees_release(&tracees);
    return is_written;
}

bool attach_unmap(const struct attached *attached, struct failure *failure)
{
    struct tracees tracees;

    if (!tracees_stop_one(&tracees, attached->pid, failure))
        return false;
    unmap(attached, &tracees);
    tracees_release(&tracees);
    return true;
}
