#include "rewriter/tool/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/base/input_file.h"
#include "rewriter/base/output_file.h"
#include "rewriter/base/place.h"
#include "rewriter/base/say.h"
#include "rewriter/tool/image_formats.h"
#include "support/neighbour.h"
#include "trace/image_manifest.h"

static bool agent_check(const char *path, const struct agent_format *format,
                        struct failure *failure)
{
    struct input_file file;
    bool is_agent;

    if (!input_file_open(&file, path, failure))
        return false;
    is_agent = format->check(path, file.bytes, file.size, failure);
    input_file_close(&file);
    return is_agent;
}

/* Whether a file is of another format, and so an agent for other images. */
static bool is_foreign(const char *path, const struct agent_format *format)
{
    struct input_file file;
    struct failure ignored;
    bool is_foreign;

    if (!input_file_open(&file, path, &ignored))
        return false;
    is_foreign = image_format_of(file.bytes, file.size)->agent != format;
    input_file_close(&file);
    return is_foreign;
}

static bool search(const char *const *places, char path[PATH_MAX])
{
    char folder[PATH_MAX];

    return neighbour_folder(folder) && neighbour_find(folder, places, F_OK, path);
}

bool agent_find(struct agent *agent, const char *wanted, const struct agent_format *format,
                struct failure *failure)
{
    *agent = (struct agent){.format = format};
    if (wanted && !realpath(wanted, agent->path))
        return fail(failure, wanted, "cannot read the agent: %s", strerror(errno));
    if (wanted && is_foreign(agent->path, format))
        wanted = NULL;
    if (!wanted && !search(format->places, agent->path))
        return fail(failure, format->name,
                    "expected the agent where this tool is installed, found none; %s, or name it "
                    "with --agent=PATH",
                    format->advice);
    memcpy(agent->needed, agent->path, sizeof(agent->needed));
    return agent_check(agent->path, format, failure);
}

static bool is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* Whether a copy of it is there already, and nobody else's: an owner may change it afterwards. */
static bool has_copy(const char *path, const struct input_file *file)
{
    struct failure ignored;
    struct input_file other;
    struct stat link;
    bool is_same;

    if (lstat(path, &link) < 0 || !input_file_open(&other, path, &ignored))
        return false;
    is_same = is_trusted(link.st_uid) && is_trusted(other.status.st_uid) &&
              other.size == file->size && memcmp(other.bytes, file->bytes, file->size) == 0;
    input_file_close(&other);
    return is_same;
}

static bool copy(const struct input_file *file, const char *path, bool overwrite,
                 struct failure *failure)
{
    struct output_file output;

    output_file_sweep(path);
    if (!output_file_begin(&output, path, overwrite, failure))
        return false;
    if (output_file_write(&output, 0, file->bytes, file->size, failure) &&
        output_file_settle(&output, &file->status, failure) &&
        output_file_commit(&output, overwrite, failure))
        return true;
    output_file_abandon(&output);
    return false;
}

/* An image that names no path must have it in its folder: that is not what the user asked for. */
static void say_once(const char *name)
{
    static bool is_said;

    if (!is_said)
        say_note("%s, the agent, was put beside the output, which loads it", name);
    is_said = true;
}

bool agent_bundle(struct agent *agent, const char *output, bool overwrite, struct failure *failure)
{
    char path[PATH_MAX];
    struct input_file file;
    bool is_there;

    snprintf(agent->needed, sizeof(agent->needed), "%s%s", agent->format->bundle_prefix,
             agent->format->name);
    if (!path_beside(path, output, agent->format->name))
        return fail(failure, output, "cannot write beside it: %s", strerror(ENAMETOOLONG));
    if (strcmp(path, output) == 0)
        return fail(failure, output,
                    "expected another name than that of the agent, which is put beside it");
    if (!input_file_open(&file, agent->path, failure))
        return false;
    is_there = has_copy(path, &file);
    if (!is_there && (is_there = copy(&file, path, overwrite, failure)))
        memcpy(agent->bundle, path, sizeof(path));
    input_file_close(&file);
    if (*agent->bundle && agent->format->is_always_bundled)
        say_once(agent->format->name);
    return is_there;
}

void agent_unbundle(struct agent *agent)
{
    if (*agent->bundle)
        unlink(agent->bundle);
    *agent->bundle = 0;
}
