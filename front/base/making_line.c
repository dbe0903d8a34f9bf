#include "front/base/making_line.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "support/utf8.h"

#define INTERVAL_MS 100
#define MOST        32 /* files at a time that are known */
#define NAME_SIZE   256
#define LINE_SIZE   512

/* Makes room below the cursor, goes there and back. \033[K: what is left of the line there before
   the program wrote over it. */
#define BELOW "\033[K\033D\033[A\0337\033[B\r\033[K"
#define BACK  "\0338"

struct made {
    char name[NAME_SIZE]; /* empty: the place is free */
    uint64_t since;       /* ms */
    size_t number;        /* in order of beginning, from 1 */
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t comes; /* something is made */
    int terminal;         /* -1: nothing is shown */
    bool is_shown;
    struct made made[MOST];
    size_t count, number;
} line = {.mutex = PTHREAD_MUTEX_INITIALIZER, .comes = PTHREAD_COND_INITIALIZER, .terminal = -1};

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

int making_line_open(void)
{
    const char *name = getenv("TERM");

    if (!isatty(STDERR_FILENO) || !name || !*name || !strcmp(name, "dumb"))
        return -1;
    /* One that is stopped (Ctrl-S) stops nobody. Of what is inherited that would be the program's,
       too. */
    return open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Somebody reads lines there, as a shell's command does. */
static bool is_plain(void)
{
    struct termios modes;

    return tcgetattr(line.terminal, &modes) == 0 && modes.c_lflag & ICANON;
}

static size_t columns(void)
{
    struct winsize size = {0};

    if (ioctl(line.terminal, TIOCGWINSZ, &size) < 0 || !size.ws_col)
        return 80;
    return size.ws_col;
}

/* Bytes of the text that fill no more than that many columns. */
static size_t fitting(const char *text, size_t most)
{
    const char *end = text;

    for (size_t i = 0; i < most && *end; i++)
        utf8_next(&end);
    return (size_t)(end - text);
}

static void write_line(const char *text)
{
    char bytes[LINE_SIZE + sizeof(BELOW BACK)];
    size_t most = columns() - 1;
    int length = snprintf(bytes, sizeof(bytes), BELOW "%.*s" BACK, (int)fitting(text, most), text);

    if (write(line.terminal, bytes, (size_t)length) == length)
        line.is_shown = *text;
}

static const struct made *find_oldest(void)
{
    const struct made *oldest = NULL;

    for (size_t i = 0; i < MOST; i++)
        if (*line.made[i].name && (!oldest || line.made[i].number < oldest->number))
            oldest = &line.made[i];
    return oldest;
}

static void show(void)
{
    const struct made *oldest = find_oldest();
    char text[LINE_SIZE], time[32] = "";
    uint64_t seconds;

    if (line.terminal < 0 || !oldest || !is_plain())
        return;
    seconds = (now() - oldest->since) / 1000;
    if (seconds)
        snprintf(time, sizeof(time), ", %u s", (unsigned)seconds);
    snprintf(text, sizeof(text), "umbra: instrumenting %s, file %zu%s", oldest->name,
             oldest->number, time);
    write_line(text);
}

static void pause_for_interval(void)
{
    const struct timespec interval = {.tv_nsec = INTERVAL_MS * 1000000};

    nanosleep(&interval, NULL);
}

static void *keep(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&line.mutex);
        while (!line.count)
            pthread_cond_wait(&line.comes, &line.mutex);
        pthread_mutex_unlock(&line.mutex);
        pause_for_interval();
        pthread_mutex_lock(&line.mutex);
        show();
        pthread_mutex_unlock(&line.mutex);
    }
    return unused;
}

static void *await_owner(void *owner)
{
    struct pollfd end = {.fd = (int)(intptr_t)owner, .events = POLLIN};

    while (poll(&end, 1, -1) < 0)
        ;
    pthread_mutex_lock(&line.mutex);
    close(line.terminal);
    line.terminal = -1;
    line.is_shown = false;
    pthread_mutex_unlock(&line.mutex);
    close(end.fd);
    return NULL;
}

static void start_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, argument) == 0)
        pthread_detach(thread);
}

void making_line_begin(int terminal, int owner)
{
    if (terminal < 0)
        return;
    line.terminal = terminal;
    start_thread(keep, NULL);
    if (owner >= 0)
        start_thread(await_owner, (void *)(intptr_t)owner);
}

/* The first place that is free; -1 if none is. */
static int take_place(const char *path)
{
    const char *slash = strrchr(path, '/');

    for (int i = 0; i < MOST; i++) {
        struct made *made = &line.made[i];
        if (*made->name)
            continue;
        snprintf(made->name, sizeof(made->name), "%s", slash && slash[1] ? slash + 1 : path);
        utf8_sanitise(made->name);
        made->since = now();
        made->number = ++line.number;
        line.count++;
        return i;
    }
    return -1;
}

int making_line_add(const char *path)
{
    int place;

    pthread_mutex_lock(&line.mutex);
    place = line.terminal >= 0 ? take_place(path) : -1;
    pthread_cond_signal(&line.comes);
    pthread_mutex_unlock(&line.mutex);
    return place;
}

void making_line_remove(int place)
{
    if (place < 0)
        return;
    pthread_mutex_lock(&line.mutex);
    *line.made[place].name = 0;
    if (--line.count == 0 && line.is_shown)
        write_line("");
    pthread_mutex_unlock(&line.mutex);
}
