/* timed FILE PROGRAM…: runs the program; its user and system time, in seconds, go to FILE. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    struct rusage used;
    FILE *file;
    int status;
    pid_t child;

    if (count < 3)
        return 2;
    child = vfork();
    if (!child) {
        execvp(arguments[2], arguments + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return 126;
    file = fopen(arguments[1], "w");
    if (!file)
        return 126;
    fprintf(file, "%ld.%06ld %ld.%06ld\n", (long)used.ru_utime.tv_sec, (long)used.ru_utime.tv_usec,
            (long)used.ru_stime.tv_sec, (long)used.ru_stime.tv_usec);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
