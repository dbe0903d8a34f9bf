#include "grinder/views/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grinder/views/screen.h"

#define LEAST_COLUMNS 40 /* less is taken for that much */
#define NOT_THERE     127

/* Null if it is not set, or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static bool says_utf8(void)
{
    const char *locale = variable("LC_ALL");

    locale = locale ? locale : variable("LC_CTYPE");
    locale = locale ? locale : variable("LANG");
    return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

struct terminal terminal_look(void)
{
    const char *kind = variable("TERM");
    struct terminal terminal = {.is_dumb = !kind || !strcmp(kind, "dumb"), .is_utf8 = says_utf8()};
    int rows, columns;

    screen_size(&rows, &columns);
    terminal.rows = (size_t)rows;
    terminal.columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : (size_t)columns;
    terminal.has_colour = !terminal.is_dumb && !variable("NO_COLOR");
    return terminal;
}

/* Null: none. */
static const char *pager(void)
{
    const char *name = getenv("UMBRA_PAGER");

    name = name ? name : getenv("PAGER");
    name = name ? name : "less";
    return *name && strcmp(name, "cat") != 0 ? name : NULL;
}

static int write_all(int fd, const char *text)
{
    size_t length = strlen(text);

    while (length) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

/* The shell is asked only where there is something for it to do: what is not there is then no
   message of its. */
_Noreturn static void become_pager(const char *name, int input)
{
    dup2(input, STDIN_FILENO);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    if (strpbrk(name, "|&;<>()$`\\\"' \t\n*?[#~=%"))
        execl("/bin/sh", "sh", "-c", name, (char *)NULL);
    else
        execlp(name, name, (char *)NULL);
    _exit(NOT_THERE);
}

/* 0 if a pager has shown it, or was left by its user; -1 if there is none. */
static int page(const char *name, const char *text)
{
    int ends[2], status = 0;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    child = fork();
    if (child == 0)
        become_pager(name, ends[0]);
    close(ends[0]);
    if (child > 0) { /* keys that would end this are the pager's */
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGPIPE, SIG_IGN);
        write_all(ends[1], text);
    }
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE) ? -1 : 0;
}

static bool is_longer(const char *text, size_t rows)
{
    size_t lines = 1; /* that of the shell */

    for (; *text && lines <= rows; text++)
        lines += *text == '\n';
    return lines > rows;
}

bool terminal_show(const struct terminal *terminal, const char *text, bool may_page,
                   struct failure *failure)
{
    const char *name = may_page && !terminal->is_dumb ? pager() : NULL;

    if (name && is_longer(text, terminal->rows) && page(name, text) == 0)
        return true;
    if (write_all(STDOUT_FILENO, text) == 0)
        return true;
    return fail(failure, "-", "cannot be written: %s", strerror(errno));
}
