#include "grinder/image/debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/debuginfod.h>

#include "grinder/base/message.h"
#include "support/progress.h"

#define TIMEOUT_S "20" /* for each file to begin to come; the library's own default is 90 */

static struct {
    __typeof__(debuginfod_begin) *begin;
    __typeof__(debuginfod_find_debuginfo) *find_debuginfo;
    __typeof__(debuginfod_set_progressfn) *set_progress;
    debuginfod_client *client; /* null until the first file is asked for */
    const char *name;          /* of the image that is asked for */
    bool is_disabled;
} server;

void debug_server_disable(void)
{
    server.is_disabled = true;
}

static int show_progress(debuginfod_client *client, long done, long all)
{
    (void)client;
    if (done >= 0 && all > 0)
        progress_share((size_t)done, (size_t)all, server.name);
    return 0;
}

static bool load(const char **why)
{
    void *library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);

    *why = DEBUGINFOD_SONAME " is not installed";
    if (!library)
        return false;
    server.begin = (__typeof__(server.begin))dlsym(library, "debuginfod_begin");
    server.find_debuginfo =
        (__typeof__(server.find_debuginfo))dlsym(library, "debuginfod_find_debuginfo");
    server.set_progress =
        (__typeof__(server.set_progress))dlsym(library, "debuginfod_set_progressfn");
    *why = DEBUGINFOD_SONAME " is of another version";
    if (!server.begin || !server.find_debuginfo || !server.set_progress)
        return false;
    setenv(DEBUGINFOD_TIMEOUT_ENV_VAR, TIMEOUT_S, 0);
    server.client = server.begin();
    *why = DEBUGINFOD_SONAME " does not begin";
    if (!server.client)
        return false;
    server.set_progress(server.client, show_progress);
    return true;
}

/* One server that does not answer is enough: each image would wait for it. */
static void give_up(const char *why)
{
    progress_clear();
    message("DEBUGINFOD_URLS=%s: %s; separate debug files are looked for on this machine only",
            getenv(DEBUGINFOD_URLS_ENV_VAR), why);
    server.is_disabled = true;
}

char *debug_server_find(const unsigned char *build_id, size_t size, const char *name)
{
    const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR), *why;
    char *path = NULL;
    int result;

    if (server.is_disabled || !urls || !urls[strspn(urls, " ")])
        return NULL;
    if (!server.client && !load(&why)) {
        give_up(why);
        return NULL;
    }
    server.name = name;
    result = server.find_debuginfo(server.client, build_id, (int)size, &path);
    progress_clear();
    if (result >= 0) {
        close(result);
        return path;
    }
    if (result != -ENOENT)
        give_up(strerror(-result));
    return NULL;
}
