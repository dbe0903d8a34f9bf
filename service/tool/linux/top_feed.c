#include "service/tool/linux/top_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/base/linux/packet.h"
#include "service/tool/control.h"
#include "service/tool/show.h"
#include "service/traces/trace_file.h"

struct feed {
    const struct options *options;
    uint32_t last; /* session that was seen */
    struct table sessions;
    size_t next; /* line of these; 0: the service is to be asked */
};

/* Opens the trace of a program that runs, or the file of one that came and ended since the last
   look. -1 if there is none. */
static int open_trace(const struct feed *feed, const char *line)
{
    char name[TRACE_FILE_NAME_SIZE], path[FILE_PATH_SIZE];
    int trace = control_open(feed->options, feed->last, name, sizeof(name));

    if (trace >= 0)
        return trace;
    table_field(line, SHOW_LIST_TRACE, path, sizeof(path));
    return *path == '/' ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
}

/* The first line has the names of the columns. */
static int open_next(struct feed *feed)
{
    int trace = -1;

    if (!feed->next && control_sessions(feed->options, &feed->sessions) == 0)
        feed->next = 1;
    while (trace < 0 && feed->next < feed->sessions.count) {
        const char *line = feed->sessions.lines[feed->next++];
        uint32_t number = (uint32_t)strtoul(line, NULL, 10);

        if (number <= feed->last)
            continue;
        feed->last = number;
        trace = open_trace(feed, line);
    }
    if (trace < 0) {
        table_free(&feed->sessions);
        feed->next = 0;
    }
    return trace;
}

static void answer(struct feed *feed, int socket)
{
    int trace = open_next(feed);

    packet_send(socket, "", 1, &trace, trace >= 0 ? 1 : 0);
    file_close(trace);
}

/* It has nothing of the terminal, nor of the traces that the grinder has. */
static void detach(int socket)
{
    int nothing = open("/dev/null", O_RDWR);

    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        dup2(nothing, i);
    dup2(socket, STDERR_FILENO + 1);
    close_range(STDERR_FILENO + 2, ~0u, 0);
}

int top_feed_start(const struct options *options, uint32_t last)
{
    struct feed feed = {.options = options, .last = last};
    int ends[2];
    pid_t pid;
    char byte;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0)
        return -1;
    pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    if (pid > 0) {
        close(ends[1]);
        return ends[0];
    }
    detach(ends[1]);
    while (recv(STDERR_FILENO + 1, &byte, 1, 0) == 1)
        answer(&feed, STDERR_FILENO + 1);
    _exit(0);
}
