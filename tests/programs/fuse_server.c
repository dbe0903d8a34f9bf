/*
 *      fuse_server FOLDER FILE COMMAND [ARGUMENT]…
 *
 * Runs the command while it serves a file system at FOLDER (FUSE, without a library; as root):
 *
 *      FOLDER/program      FILE's content, executable
 *      FOLDER/silent…      nobody ever hears of these
 *
 * Before each answer it opens a file itself, as a server does that passes another folder on. It
 * ends with the command, with its status.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM 2 /* its node */

static int device, content;
static off_t content_size;

static void answer(const struct fuse_in_header *in, int error, const void *bytes, size_t size)
{
    struct fuse_out_header out = {(unsigned)(sizeof(out) + size), -error, in->unique};
    struct iovec parts[] = {{&out, sizeof(out)}, {(void *)bytes, size}};

    if (writev(device, parts, 2) < 0 && errno != ENOENT)
        perror("answer");
}

static struct fuse_attr attributes(unsigned long node)
{
    struct fuse_attr attributes = {.ino = node, .nlink = 1, .blksize = 4096};

    attributes.mode = node == PROGRAM ? S_IFREG | 0755 : S_IFDIR | 0755;
    attributes.size = node == PROGRAM ? (unsigned long)content_size : 0;
    attributes.blocks = (attributes.size + 511) / 512;
    return attributes;
}

static void begin(const struct fuse_in_header *in)
{
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                .minor = FUSE_KERNEL_MINOR_VERSION,
                                .max_readahead = 65536,
                                .flags = FUSE_PARALLEL_DIROPS,
                                .max_write = 4096};

    answer(in, 0, &out, sizeof(out));
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
    struct fuse_entry_out out = {.nodeid = PROGRAM, .attr = attributes(PROGRAM)};

    if (!strncmp(name, "silent", 6))
        return;
    if (strcmp(name, "program") != 0)
        answer(in, ENOENT, NULL, 0);
    else
        answer(in, 0, &out, sizeof(out));
}

static void read_some(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
    static char bytes[1 << 20];
    const size_t size = what->size < sizeof(bytes) ? what->size : sizeof(bytes);
    const ssize_t count = pread(content, bytes, size, (off_t)what->offset);

    answer(in, count < 0 ? EIO : 0, bytes, count < 0 ? 0 : (size_t)count);
}

static void serve_one(const struct fuse_in_header *in)
{
    const struct fuse_attr_out status = {.attr = attributes(in->nodeid)};
    const struct fuse_open_out opened = {0};

    close(open("/etc/passwd", O_RDONLY));
    switch (in->opcode) {
    case FUSE_INIT:
        begin(in);
        break;
    case FUSE_LOOKUP:
        look_up(in, (const char *)(in + 1));
        break;
    case FUSE_GETATTR:
        answer(in, 0, &status, sizeof(status));
        break;
    case FUSE_OPEN:
        answer(in, 0, &opened, sizeof(opened));
        break;
    case FUSE_READ:
        read_some(in, (const struct fuse_read_in *)(in + 1));
        break;
    case FUSE_FLUSH:
    case FUSE_RELEASE:
        answer(in, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        answer(in, ENOSYS, NULL, 0);
    }
}

static void *serve(void *unused)
{
    static char request[1 << 17];

    while (read(device, request, sizeof(request)) >= 0 || errno == ENOENT || errno == EINTR)
        serve_one((const struct fuse_in_header *)request);
    return unused;
}

int main(int count, char **arguments)
{
    struct stat status;
    pthread_t server;
    char options[128];
    int ended = 0;
    pid_t command;

    if (count < 4)
        return 99;
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    content = open(arguments[2], O_RDONLY | O_CLOEXEC);
    fstat(content, &status);
    content_size = status.st_size;
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
             device);
    if (device < 0 || mount("fuse_server", arguments[1], "fuse", 0, options) < 0)
        return 98;
    pthread_create(&server, NULL, serve, NULL);
    command = fork();
    if (command == 0) {
        execvp(arguments[3], arguments + 3);
        _exit(127);
    }
    waitpid(command, &ended, 0);
    umount2(arguments[1], MNT_DETACH);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 97;
}
