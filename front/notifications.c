#include "front/notifications.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/memory.h"

/* The kernel may write more than this program was compiled with. */
static size_t call_size(void)
{
    struct seccomp_notif_sizes sizes = {0};

    syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes.seccomp_notif > sizeof(struct seccomp_notif) ? sizes.seccomp_notif
                                                              : sizeof(struct seccomp_notif);
}

static void let_go_on(int listener, uint64_t id)
{
    struct seccomp_notif_resp answer = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void notifications_serve(int listener, notification_handler *handler, void *context)
{
    struct pollfd waiting = {listener, POLLIN, 0};
    const size_t size = call_size();
    struct seccomp_notif *call = memory_zeroed(1, size);

    for (;;) {
        if (poll(&waiting, 1, -1) < 0 && errno != EINTR)
            break;
        if (waiting.revents & POLLIN) {
            memset(call, 0, size);
            if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call) < 0)
                continue; /* the caller is gone */
            if (!handler || !handler(context, call))
                let_go_on(listener, call->id);
        } else if (waiting.revents & (POLLHUP | POLLERR)) {
            break;
        }
    }
    free(call);
}
