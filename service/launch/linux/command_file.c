#include "service/launch/linux/command_file.h"

#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 *      0   "MZ"
 *      60  place of the PE header, 32 bits
 *      ..  "PE\0\0"
 */
#define PE_PLACE_AT 60

bool command_file_find(char *path, size_t size, const char *command)
{
    const char *folders = getenv("PATH");
    size_t length;

    if (strchr(command, '/'))
        return (size_t)snprintf(path, size, "%s", command) < size;
    for (; folders; folders = folders[length] ? folders + length + 1 : NULL) {
        length = strcspn(folders, ":");
        snprintf(path, size, "%.*s/%s", (int)length, length ? folders : ".", command);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static bool is_pe_image(int file)
{
    struct stat stat;
    char start[PE_PLACE_AT + 4], signature[4];
    uint32_t place;

    if (fstat(file, &stat) < 0 || !S_ISREG(stat.st_mode) ||
        pread(file, start, sizeof(start), 0) != sizeof(start) || memcmp(start, "MZ", 2))
        return false;
    memcpy(&place, start + PE_PLACE_AT, sizeof(place));
    return pread(file, signature, sizeof(signature), le32toh(place)) == sizeof(signature) &&
           !memcmp(signature, "PE\0\0", sizeof(signature));
}

static bool is_pe_path(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_pe;

    if (file < 0)
        return false;
    is_pe = is_pe_image(file);
    close(file);
    return is_pe;
}

bool command_file_find_windows(char *path, size_t size, const char *command)
{
    return command_file_find(path, size, command) && is_pe_path(path);
}
