/*
 * run_i386 FILE ADDRESS OFFSET NUMBER…: makes a file's bytes code at an address, calls the function
 * at an offset in it with four numbers, and prints what it returns. A program of i386, for tests
 * that are none.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static unsigned number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 0);
}

int main(int argument_count, char **arguments)
{
    unsigned (*function)(unsigned, unsigned, unsigned, unsigned);
    struct stat status;
    char *place, *entry;
    int file;

    if (argument_count != 8)
        return 2;
    file = open(arguments[1], O_RDONLY);
    if (file < 0 || fstat(file, &status) < 0)
        return 2;
    place = (char *)number(arguments[2]);
    if (mmap(place, (size_t)status.st_size, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0) != place)
        return 2;
    entry = place + number(arguments[3]);
    memcpy(&function, &entry, sizeof(function));
    printf("%u\n", function(number(arguments[4]), number(arguments[5]), number(arguments[6]),
                            number(arguments[7])));
    return 0;
}
