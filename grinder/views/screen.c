#include "grinder/views/screen.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Another screen, without a cursor, as editors use it: what was there before comes back. */
#define SCREEN_TAKE "\033[?1049h\033[?25l\033[2J"
#define SCREEN_GIVE "\033[?25h\033[?1049l"

static struct termios before;
static bool is_raw;

/* Only what a signal handler may call. */
static void give_back(void)
{
    if (write(STDOUT_FILENO, SCREEN_GIVE, sizeof(SCREEN_GIVE) - 1) < 0)
        return; /* nobody is there to see it */
    if (is_raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void ended_by(int number)
{
    give_back();
    signal(number, SIG_DFL);
    raise(number);
}

/* That it came ends the wait for a key. */
static void resized(int number)
{
    (void)number;
}

void screen_begin(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct termios raw;

    is_raw = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    if (is_raw) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        signal(ends[i], ended_by);
    sigaction(SIGWINCH, &(struct sigaction){.sa_handler = resized}, NULL);
    fputs(SCREEN_TAKE, stdout);
}

void screen_end(void)
{
    fflush(stdout);
    give_back();
}

/* What the terminal does not say the environment may. */
static int size_of(unsigned short said, const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    long value = text ? strtol(text, NULL, 10) : 0;

    if (said)
        return said;
    return value > 0 && value <= USHRT_MAX ? (int)value : otherwise;
}

void screen_size(int *rows, int *columns)
{
    struct winsize size = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        size = (struct winsize){0};
    *rows = size_of(size.ws_row, "LINES", 24);
    *columns = size_of(size.ws_col, "COLUMNS", 80);
}

void screen_home(void)
{
    fputs("\033[H", stdout);
}

void screen_end_line(void)
{
    fputs("\033[K\n", stdout);
}

void screen_end_page(void)
{
    fputs("\033[J", stdout);
    fflush(stdout);
}

int screen_key(unsigned wait_ms)
{
    struct pollfd input = {.fd = is_raw ? STDIN_FILENO : -1, .events = POLLIN};
    unsigned char key;

    if (poll(&input, 1, (int)wait_ms) != 1)
        return 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : -1;
}
