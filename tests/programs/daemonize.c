/*
 * Becomes a daemon the old way: forks twice, leaves its session and directory, closes every
 * descriptor, and works on. The first process waits for the file the daemon leaves.
 */
#define _GNU_SOURCE
#include "program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

COUNTED void close_everything(void)
{
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        close(descriptor);
}

COUNTED void daemon_work(const char *result_path, const char *temporary_path)
{
    char line[64];
    int length = snprintf(line, sizeof(line), "daemon: %ld\n", fib(22));
    int file = open(temporary_path, O_CREAT | O_WRONLY, 0600);
    REQUIRE(file == 0); /* every descriptor is free, and none was taken by anyone else */
    REQUIRE(write(file, line, length) == length);
    close(file);
    REQUIRE(rename(temporary_path, result_path) == 0);
}

COUNTED void become_daemon(const char *result_path, const char *temporary_path)
{
    if (fork() != 0)
        _exit(0);
    setsid();
    if (fork() != 0)
        _exit(0);
    REQUIRE(chdir("/") == 0);
    close_everything();
    daemon_work(result_path, temporary_path);
    exit(0);
}

/* Both paths absolute, the first one not there yet. */
int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    pid_t child = fork();
    if (child == 0)
        become_daemon(argv[1], argv[2]);
    waitpid(child, NULL, 0);
    for (int i = 0; i < 1000 && access(argv[1], F_OK) != 0; i++)
        usleep(10000);
    char line[64] = "";
    FILE *file = fopen(argv[1], "r");
    REQUIRE(file && fgets(line, sizeof(line), file));
    fclose(file);
    unlink(argv[1]);
    printf("%s", line);
    return 0;
}
