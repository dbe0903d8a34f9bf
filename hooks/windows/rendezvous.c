#include "hooks/windows/rendezvous.h"

#include "hooks/memory.h"
#include "hooks/windows/environment.h"
#include "hooks/windows/file.h"
#include "hooks/windows/port.h"
#include "support/windows/ntdll.h"

#define PATH_SIZE     1024
#define CONTENT_SIZE  4096
#define VERSION_START "umbra 2 "
#define SUFFIX        ".rendezvous"

/* All of these run once, at the agent's beginning. */
static char path[PATH_SIZE];
static char content[CONTENT_SIZE];

static void append(const char *text)
{
    size_t length = text_length(path);

    text_copy(path + length, sizeof(path) - length, text);
}

static const char *parse_number(const char *text, uint32_t *number)
{
    *number = 0;
    for (; *text >= '0' && *text <= '9' && *number < 100000; text++)
        *number = *number * 10 + (uint32_t)(*text - '0');
    return text;
}

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* What is behind it; null if it is none. */
static const char *parse_secret(const char *text, uint8_t secret[PROTOCOL_SECRET_SIZE])
{
    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++, text += 2) {
        int high = hexadecimal(text[0]), low = high < 0 ? -1 : hexadecimal(text[1]);

        if (low < 0)
            return NULL;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return text;
}

static bool parse(const char *text, struct rendezvous *at)
{
    uint32_t port;

    if (memcmp(text, VERSION_START, sizeof(VERSION_START) - 1))
        return false;
    text = parse_number(text + sizeof(VERSION_START) - 1, &port);
    if (!port || port > UINT16_MAX || *text++ != ' ')
        return false;
    at->port = (uint16_t)port;
    text = parse_secret(text, at->secret);
    if (!text || *text++ != ' ')
        return false;
    text = parse_secret(text, at->proof);
    return text && *text == '\n';
}

static bool is_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version");
}

/* The user of the Linux that Wine runs on. */
static bool linux_user(uint32_t *uid)
{
    static const char key[] = "\nUid:\t";

    if (!file_read("Z:\\proc\\self\\status", content, sizeof(content)))
        return false;
    for (const char *at = content; *at; at++)
        if (!memcmp(at, key, sizeof(key) - 1))
            return parse_number(at + sizeof(key) - 1, uid) != at + sizeof(key) - 1;
    return false;
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

    return file_read_private(path, content, sizeof(content)) && parse(content, &at) &&
           is_ours(&at) && visit(&at, with);
}

bool rendezvous_each(bool (*visit)(const struct rendezvous *, void *), void *with)
{
    if (name_given_file())
        return try(visit, with);
    return (name_native_file() && try(visit, with)) || (name_windows_file() && try(visit, with));
}
