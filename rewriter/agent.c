#include "rewriter/agent.h"

#include "rewriter/elf/elf_image.h"
#include "rewriter/input_file.h"
#include "rewriter/output_file.h"
#include "trace/image_manifest.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the directory of this tool: installed, then in the build tree. */
static const char *const places[] = {
    "../lib*/umbra/" IMAGE_AGENT_NAME,
    "../lib/*/umbra/" IMAGE_AGENT_NAME,
    "../hooks/" IMAGE_AGENT_NAME,
};

static bool exports_hook(const struct elf_image *image)
{
    struct elf_table symbols = elf_dynamic_symbols(image);

    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const char *name = elf_dynamic_string(image, symbol.st_name);

        if (symbol.st_shndx != SHN_UNDEF && name && strcmp(name, IMAGE_HOOK_SYMBOL) == 0)
            return true;
    }
    return false;
}

static bool agent_check(const char *path, struct failure *failure)
{
    struct input_file file;
    struct elf_image image;
    bool is_agent;

    if (!input_file_open(&file, path, failure))
        return false;
    is_agent = elf_image_read(&image, path, file.bytes, file.size, failure);
    if (is_agent) {
        is_agent = exports_hook(&image) ||
                   fail(failure, path, "expected the agent, found a library without %s",
                        IMAGE_HOOK_SYMBOL);
        elf_image_free(&image);
    }
    input_file_close(&file);
    return is_agent;
}

/* The first file that matches, made absolute. */
static bool find_place(const char *directory, const char *place, char path[PATH_MAX])
{
    char pattern[PATH_MAX];
    glob_t found;
    bool is_found = false;

    if (snprintf(pattern, sizeof pattern, "%s/%s", directory, place) >= PATH_MAX)
        return false;
    if (glob(pattern, 0, NULL, &found) == 0)
        is_found = realpath(found.gl_pathv[0], path);
    globfree(&found);
    return is_found;
}

static bool search(char path[PATH_MAX])
{
    char directory[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    char *slash;

    if (length < 0)
        return false;
    directory[length] = 0;
    slash = strrchr(directory, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (find_place(directory, places[i], path))
            return true;
    return false;
}

bool agent_find(struct agent *agent, const char *wanted, struct failure *failure)
{
    *agent = (struct agent){.bundle = ""};
    if (wanted && !realpath(wanted, agent->path))
        return fail(failure, wanted, "cannot read the agent: %s", strerror(errno));
    if (!wanted && !search(agent->path))
        return fail(failure, IMAGE_AGENT_NAME,
                    "expected the agent where this tool is installed, found none; name it with "
                    "--agent=PATH");
    memcpy(agent->needed, agent->path, sizeof agent->needed);
    return agent_check(agent->path, failure);
}

static bool same_content(const char *path, const struct input_file *file)
{
    struct failure ignored;
    struct input_file other;
    bool is_same;

    if (!input_file_open(&other, path, &ignored))
        return false;
    is_same = other.size == file->size && memcmp(other.bytes, file->bytes, file->size) == 0;
    input_file_close(&other);
    return is_same;
}

static bool copy(const struct input_file *file, const char *path, bool overwrite,
                 struct failure *failure)
{
    struct output_file output;

    if (!output_file_begin(&output, path, overwrite, failure))
        return false;
    if (output_file_write(&output, 0, file->bytes, file->size, failure) &&
        output_file_settle(&output, &file->status, failure) &&
        output_file_commit(&output, overwrite, failure))
        return true;
    output_file_abandon(&output);
    return false;
}

bool agent_bundle(struct agent *agent, const char *output, bool overwrite, struct failure *failure)
{
    const char *slash = strrchr(output, '/');
    int directory = slash ? (int)(slash - output + 1) : 0;
    char path[PATH_MAX];
    struct input_file file;
    bool is_there;

    snprintf(agent->needed, sizeof agent->needed, "$ORIGIN/%s", IMAGE_AGENT_NAME);
    if (snprintf(path, sizeof path, "%.*s%s", directory, output, IMAGE_AGENT_NAME) >= PATH_MAX)
        return fail(failure, output, "cannot write beside it: %s", strerror(ENAMETOOLONG));
    if (!input_file_open(&file, agent->path, failure))
        return false;
    is_there = same_content(path, &file);
    if (!is_there && (is_there = copy(&file, path, overwrite, failure)))
        memcpy(agent->bundle, path, sizeof path);
    input_file_close(&file);
    return is_there;
}

void agent_unbundle(struct agent *agent)
{
    if (*agent->bundle)
        unlink(agent->bundle);
    *agent->bundle = 0;
}
