#include "hooks/windows/rendezvous.h"

#include "hooks/memory.h"
#include "hooks/windows/environment.h"
#include "hooks/windows/file.h"
#include "hooks/windows/port.h"
#include "support/windows/ntdll.h"

#define PATH_SIZE    1024
#define CONTENT_SIZE 4096
#define SUFFIX       ".rendezvous"

/* All of these run once, at the agent's beginning. */
static char path[PATH_SIZE];
static char content[CONTENT_SIZE];

static void append(const char *text)
{
    size_t length = text_length(path);

    text_copy(path + length, sizeof(path) - length, text);
}

static bool is_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version");
}

/* The user of the Linux that Wine runs on. */
static bool linux_user(uint32_t *uid)
{
    return file_read("Z:\\proc\\self\\status", content, sizeof(content)) &&
           rendezvous_user(content, uid);
}

/* A folder's file of this instance. protocol_socket_path checks the instance's name, and puts
   `.socket` behind it. */
static bool name_file(const char *before, const char *runtime, uint32_t uid)
{
    static const char suffix[] = ".socket";
    char socket[PROTOCOL_PATH_SIZE], instance[PROTOCOL_PATH_SIZE];
    bool has_instance = environment_get("UMBRA_INSTANCE_ID", instance, sizeof(instance));
    size_t length = protocol_socket_path(socket, runtime, has_instance ? instance : NULL, uid);

    if (!length)
        return false;
    socket[length - (sizeof(suffix) - 1)] = 0;
    text_copy(path, sizeof(path), before);
    append(socket);
    append(SUFFIX);
    return true;
}

static bool name_native_file(void)
{
    char runtime[PROTOCOL_PATH_SIZE];
    uint32_t uid = 0;

    if (!is_wine())
        return false;
    if (environment_get("XDG_RUNTIME_DIR", runtime, sizeof(runtime)))
        return name_file("Z:", runtime, 0);
    return linux_user(&uid) && name_file("Z:", NULL, uid);
}

static bool name_windows_file(void)
{
    char folder[PATH_SIZE];

    return environment_get("LOCALAPPDATA", folder, sizeof(folder)) &&
           name_file(folder, "/", 0); /* …/umbra/INSTANCE */
}

static bool name_given_file(void)
{
    return environment_get("UMBRA_RENDEZVOUS", path, sizeof(path));
}

/* The lock beside the file: Windows removes it with the service, however that ends. */
static bool lock_is_there(void)
{
    size_t stem = text_length(path) - (sizeof(SUFFIX) - 1);

    if (stem >= sizeof(path) || !text_equal(path + stem, SUFFIX))
        return true; /* a name of somebody's own */
    path[stem] = 0;
    append(".lock");
    return file_exists(path);
}

/* Without a word to anybody. */
static bool is_ours(const struct rendezvous *at)
{
    uint32_t uid;

    return lock_is_there() && (!is_wine() || !linux_user(&uid) || port_may_be_of(at->port, uid));
}

static bool try(bool (*visit)(const struct rendezvous *, void *), void *with)
{
    struct rendezvous at;

    return file_read_private(path, content, sizeof(content)) && rendezvous_parse(content, &at) &&
           is_ours(&at) && visit(&at, with);
}

bool rendezvous_each(bool (*visit)(const struct rendezvous *, void *), void *with)
{
    if (name_given_file())
        return try(visit, with);
    return (name_native_file() && try(visit, with)) || (name_windows_file() && try(visit, with));
}
