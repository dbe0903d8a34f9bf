#include "front/tool/hooked_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "support/memory.h"

/* --- reading --- */

/* The columns of instrument --list: address, size, state, how, name. */
enum { FIELD_ADDRESS, FIELD_SIZE, FIELD_STATE, FIELD_HOW, FIELD_NAME, FIELD_COUNT };

static void add(struct hooked_functions *functions, char *const *fields, size_t behind)
{
    functions->list =
        memory_grow(functions->list, functions->count, &functions->room, sizeof(*functions->list));
    functions->list[functions->count++] = (struct hooked_function){
        .address = strtoull(fields[FIELD_ADDRESS], NULL, 16),
        .name = *fields[FIELD_NAME] ? memory_copy_string(fields[FIELD_NAME]) : NULL,
        .behind = behind};
}

static void take_line(struct hooked_functions *functions, char *line, size_t *excluded)
{
    char *fields[FIELD_COUNT];

    for (int i = 0; i < FIELD_COUNT; i++) {
        fields[i] = strsep(&line, "\t\n");
        if (!fields[i])
            return;
    }
    if (!strcmp(fields[FIELD_HOW], "excluded"))
        ++*excluded;
    else if (!strcmp(fields[FIELD_STATE], "hooked"))
        add(functions, fields, *excluded);
}

static int by_address(const void *left, const void *right)
{
    const struct hooked_function *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

static void read_list(struct hooked_functions *functions, const char *path)
{
    FILE *file = fopen(path, "re");
    size_t room = 0, excluded = 0;
    char *line = NULL;

    if (!file)
        say_and_exit(STATUS_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    while (getline(&line, &room, file) >= 0)
        take_line(functions, line, &excluded);
    fclose(file);
    free(line);
    if (functions->count)
        qsort(functions->list, functions->count, sizeof(*functions->list), by_address);
}

void hooked_functions_read(struct hooked_functions *functions, const char *image,
                           const char *folder)
{
    char *path = memory_print("%s/functions", folder);
    char *const command[] = {tools_find()->instrument, "--list", "--", (char *)(uintptr_t)image,
                             NULL};
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    *functions = (struct hooked_functions){0};
    if (file < 0)
        say_and_exit(STATUS_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    if (tool_run_to(command, file) != 0)
        say_and_exit(STATUS_FAILED, "%s: instrument cannot list its functions", image);
    close(file);
    read_list(functions, path);
    unlink(path);
    free(path);
}

void hooked_functions_free(struct hooked_functions *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        free(functions->list[i].name);
    free(functions->list);
    *functions = (struct hooked_functions){0};
}

bool hooked_function_is_alone(const struct hooked_functions *functions, size_t which)
{
    const char *name = functions->list[which].name;

    for (size_t i = 0; name && i < functions->count; i++)
        if (i != which && functions->list[i].name && !strcmp(functions->list[i].name, name))
            return false;
    return name != NULL;
}

/* --- a filter --- */

/* How many of the chosen, from the first on, stand in a row. */
static size_t stretch_length(const struct hooked_functions *functions, const uint64_t *chosen,
                             size_t count)
{
    size_t length = 1;

    while (length < count && chosen[length] == chosen[length - 1] + 1 &&
           functions->list[chosen[length]].behind == functions->list[chosen[0]].behind)
        length++;
    return length;
}

void hooked_functions_write_filter(const struct hooked_functions *functions, const uint64_t *chosen,
                                   size_t count, const char *path)
{
    FILE *file = fopen(path, "we");
    size_t length;

    if (!file)
        say_and_exit(STATUS_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    fputs("exclude 0x0-0xffffffffffffffff\n", file);
    for (; count; count -= length, chosen += length) {
        length = stretch_length(functions, chosen, count);
        fprintf(file, "include %#" PRIx64 "-%#" PRIx64 "\n", functions->list[chosen[0]].address,
                functions->list[chosen[length - 1]].address + 1);
    }
    if (ferror(file) | fclose(file))
        say_and_exit(STATUS_FAILED, "%s: cannot be written: %s", path, strerror(errno));
}
