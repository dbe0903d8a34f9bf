#include "service/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

/* Writing past RLIMIT_FSIZE or to a closed pipe shall be an error, not the end of the service. */
static void ignore(struct signals *signals, int number)
{
    struct sigaction before;

    sigaction(number, &(struct sigaction){.sa_handler = SIG_IGN}, &before);
    if (before.sa_handler != SIG_IGN)
        sigaddset(&signals->ignored_by_us, number);
}

bool signals_open(struct signals *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigset_t set;

    sigemptyset(&set);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &signals->mask_before);
    sigemptyset(&signals->ignored_by_us);
    ignore(signals, SIGPIPE);
    ignore(signals, SIGXFSZ);
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

void signals_close(struct signals *signals)
{
    if (signals->fd >= 0)
        close(signals->fd);
    signals->fd = -1;
}

bool signals_next(struct signals *signals, struct signal_event *event)
{
    struct signalfd_siginfo info;

    if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
        return false;
    event->number = (int)info.ssi_signo;
    event->from_terminal = info.ssi_code == SI_KERNEL;
    return true;
}
