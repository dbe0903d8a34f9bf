#include "front/test_ground/own_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/memory.h"
#include "support/temporary.h"

#include <cmocka.h>

static char folder[PATH_MAX];

int own_folder_enter(void **state)
{
    char made[] = "/tmp/umbra-front-XXXXXX";

    (void)state;
    if (!mkdtemp(made) || !realpath(made, folder) || chdir(folder) < 0)
        return -1;
    umask(022);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_CONFIG_HOME");
    return setenv("HOME", folder, 1);
}

int own_folder_leave(void **state)
{
    int above = open("..", O_PATH | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    temporary_remove(above, strrchr(folder, '/') + 1);
    close(above);
    return access(folder, F_OK) < 0 ? 0 : -1;
}

const char *own_folder_path(void)
{
    return folder;
}

void own_file_write(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(close(file), 0);
}

char *own_file_read(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    char *text;

    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    text = memory_zeroed(1, (size_t)status.st_size + 1);
    assert_int_equal(read(file, text, (size_t)status.st_size), status.st_size);
    close(file);
    return text;
}

bool own_file_is(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}
