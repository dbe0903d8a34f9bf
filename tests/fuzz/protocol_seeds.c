/* Writes what programs and tools say to the service, as inputs of protocol_fuzz, into a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/protocol_fuzz.h"
#include "trace/protocol.h"

static void write_seed(const char *folder, const char *name, char way, char piece,
                       const void *bytes, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.message", folder, name);
    file = fopen(path, "wb");
    if (!file || putc(way, file) == EOF || putc(piece, file) == EOF ||
        fwrite(bytes, 1, size, file) != size || fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const struct protocol_hello hello = {
        PROTOCOL_MAGIC, PROTOCOL_VERSION, PROTOCOL_HELLO, 1, 2, {0}};
    struct protocol_command command = {
        PROTOCOL_MAGIC, PROTOCOL_VERSION, PROTOCOL_COMMAND_LIST, 1, 2, 3};
    const struct protocol_change change = {
        {PROTOCOL_MAGIC, PROTOCOL_VERSION, PROTOCOL_COMMAND_UNHOOK, 0, 0, 0}, 0, 2, {1, 2}};
    struct protocol_tcp_hello tcp = {.hello = hello, .ppid = 7};

    if (argc != 2)
        return 2;
    memcpy(tcp.secret, FUZZ_SECRET, sizeof(tcp.secret));
    strcpy(tcp.exe, "C:\\programs\\app.exe");
    strcpy(tcp.command, "app.exe \xc3\xa4 --all");
    write_seed(argv[1], "hello", FUZZ_BY_PACKET, 0, &hello, sizeof(hello));
    write_seed(argv[1], "command", FUZZ_BY_PACKET, 0, &command, sizeof(command));
    write_seed(argv[1], "change", FUZZ_BY_PACKET, 0, &change, PROTOCOL_CHANGE_SIZE(2));
    write_seed(argv[1], "tcp-at-once", FUZZ_BY_TCP, (char)255, &tcp, sizeof(tcp));
    write_seed(argv[1], "tcp-in-pieces", FUZZ_BY_TCP, 3, &tcp, sizeof(tcp));
    tcp.hello.kind = PROTOCOL_COMMAND_PAUSE;
    write_seed(argv[1], "tcp-command", FUZZ_BY_TCP, 0, &tcp, sizeof(tcp));
    return 0;
}
