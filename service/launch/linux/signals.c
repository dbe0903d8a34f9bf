#include "service/launch/signals.h"

#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "service/launch/linux/signals_before.h"

/* Writing past RLIMIT_FSIZE or to a closed pipe has to fail, not to end the service. Nor must SIGIO
 * end it, which comes when somebody opens a file on which we hold a lease for a moment. */
static void ignore(struct signals_before *before, int number)
{
    struct sigaction action;

    sigaction(number, &(struct sigaction){.sa_handler = SIG_IGN}, &action);
    if (action.sa_handler != SIG_IGN)
        sigaddset(&before->ignored_by_us, number);
}

/* glibc's posix_spawn has a child ignore the library's own two signals, unless it is told to give
 * them their default. Its sigaction and sigaddset do not know them. */
static void note_own_of_library(struct signals_before *before)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {0};

    for (int number = __SIGRTMIN; number < SIGRTMIN; number++)
        if (syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(action.mask)) == 0 &&
            action.handler != SIG_IGN)
            before->ignored_by_us.__val[0] |= 1ul << (number - 1);
}

bool signals_open(struct signals *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigset_t set;

    signals->before = calloc(1, sizeof(*signals->before));
    if (!signals->before)
        return false;
    sigemptyset(&set);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &signals->before->mask);
    sigemptyset(&signals->before->ignored_by_us);
    ignore(signals->before, SIGPIPE);
    ignore(signals->before, SIGXFSZ);
    ignore(signals->before, SIGIO);
    note_own_of_library(signals->before);
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

void signals_close(struct signals *signals)
{
    if (signals->fd >= 0)
        close(signals->fd);
    signals->fd = -1;
    free(signals->before);
    signals->before = NULL;
}

bool signals_next(struct signals *signals, struct signal_event *event)
{
    struct signalfd_siginfo info;

    if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
        return false;
    event->number = (int)info.ssi_signo;
    event->child_ended = event->number == SIGCHLD;
    event->from_terminal = info.ssi_code == SI_KERNEL;
    event->for_the_log = event->number == SIGHUP && !event->from_terminal;
    return true;
}
