#include "trace/protocol.h"

/* Appends text at *at; a text that does not fit sets *at past the end. */
static void append(char *path, size_t *at, const char *text)
{
    while (*text && *at < PROTOCOL_PATH_SIZE)
        path[(*at)++] = *text++;
}

static void append_number(char *path, size_t *at, unsigned number)
{
    char digits[12] = {0};
    int first = 11;

    do
        digits[--first] = (char)('0' + number % 10);
    while (number /= 10);
    append(path, at, digits + first);
}

static int instance_is_well_formed(const char *instance)
{
    if (*instance == '.')
        return 0;
    for (; *instance; instance++) {
        char c = *instance;
        int ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_' || c == '.';
        if (!ok)
            return 0;
    }
    return 1;
}

size_t protocol_socket_path(char path[PROTOCOL_PATH_SIZE], const char *runtime_dir,
                            const char *instance, unsigned uid)
{
    size_t at = 0;

    if (!instance || !*instance)
        instance = PROTOCOL_DEFAULT_INSTANCE;
    if (!instance_is_well_formed(instance))
        return 0;
    if (runtime_dir && *runtime_dir) {
        append(path, &at, runtime_dir);
        append(path, &at, "/umbra/");
    } else {
        append(path, &at, "/tmp/umbra-");
        append_number(path, &at, uid);
        append(path, &at, "/");
    }
    append(path, &at, instance);
    append(path, &at, ".socket");
    if (at >= PROTOCOL_PATH_SIZE)
        return 0;
    path[at] = 0;
    return at;
}

size_t protocol_command_link(char path[PROTOCOL_PATH_SIZE], unsigned pid, unsigned uid)
{
    size_t at = 0;

    append(path, &at, "/tmp/umbra-");
    append_number(path, &at, uid);
    append(path, &at, "/commands/");
    append_number(path, &at, pid);
    path[at] = 0;
    return at;
}
