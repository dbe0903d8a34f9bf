#include "grinder/image/debug_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/image/debug_client.h"
#include "grinder/image/debug_trust.h"
#include "support/progress.h"

#define URLS       "DEBUGINFOD_URLS"
#define MB         1000000u
#define FILE_BYTES (512ull * MB)  /* of one debug file */
#define ALL_BYTES  (1024ull * MB) /* of all that one run fetches */
#define ALL_MS     300000         /* that one run waits for */
#define GRACE_MS   5000           /* in which the client stops by itself */

static struct {
    int socket; /* to the client */
    pid_t client;
    bool has_begun, is_disabled;
    uint64_t bytes; /* fetched */
    int64_t ms;     /* waited */
} server;

void debug_server_disable(void)
{
    server.is_disabled = true;
}

static int64_t now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* One server that does not answer is enough: each image would wait for it. */
static void give_up(const char *why)
{
    progress_clear();
    message(URLS "=%s: %s; separate debug files are looked for on this machine only", getenv(URLS),
            why);
    server.is_disabled = true;
}

static void begin_client(const char *servers, const char *cache)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        give_up(strerror(errno));
        return;
    }
    server.client = fork();
    if (server.client == 0) {
        close(ends[0]);
        debug_client_run(ends[1], servers, cache);
    }
    close(ends[1]);
    server.socket = ends[0];
    if (server.client < 0)
        give_up(strerror(errno));
}

static void begin(void)
{
    char *servers = debug_trust_servers(getenv(URLS));
    struct failure failure;
    char *cache = *servers ? debug_trust_cache(&failure) : NULL;

    server.has_begun = true;
    if (!*servers)
        give_up("root asks only servers that a file /etc/debuginfod/NAME.urls of root names");
    else if (!cache)
        give_up(failure.text);
    else
        begin_client(servers, cache);
    free(servers);
    free(cache);
}

/* A limit, or a variable of libdebuginfod that says less. */
static uint64_t at_most(uint64_t limit, const char *variable)
{
    const char *text = getenv(variable);
    long long number = text ? strtoll(text, NULL, 10) : 0;

    return number > 0 && (uint64_t)number < limit ? (uint64_t)number : limit;
}

static struct debug_wish make_wish(const unsigned char *build_id, size_t size, const char *name)
{
    uint64_t bytes = ALL_BYTES - server.bytes;
    struct debug_wish wish = {.id_size = (int32_t)size};

    memcpy(wish.id, build_id, size);
    snprintf(wish.name, sizeof(wish.name), "%s", name);
    wish.bytes = at_most(bytes < FILE_BYTES ? bytes : FILE_BYTES, "DEBUGINFOD_MAXSIZE");
    wish.seconds =
        (int32_t)at_most((uint64_t)(ALL_MS - server.ms + 999) / 1000, "DEBUGINFOD_MAXTIME");
    return wish;
}

/* What the client does not say in time, it is not waited for. */
static void ask(const struct debug_wish *wish, struct debug_answer *answer)
{
    struct pollfd there = {.fd = server.socket, .events = POLLIN};
    int64_t begin = now_ms(), end = begin + wish->seconds * 1000 + GRACE_MS;
    int64_t left;

    answer->error = ETIME;
    if (send(server.socket, wish, sizeof(*wish), MSG_NOSIGNAL) < 0)
        answer->error = errno;
    while (answer->error == ETIME && (left = end - now_ms()) > 0) {
        if (poll(&there, 1, (int)left) <= 0)
            continue;
        if (recv(server.socket, answer, sizeof(*answer), 0) != sizeof(*answer))
            answer->error = ECONNRESET;
        break;
    }
    server.ms += now_ms() - begin;
    server.bytes += answer->bytes;
}

static void end_client(void)
{
    kill(server.client, SIGKILL);
    while (waitpid(server.client, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(server.socket);
}

/* Says why nothing came. A server that does not have the file, or has too large a one, may be asked
   for the next one. */
static void tell(const struct debug_wish *wish, const struct debug_answer *answer)
{
    char why[160];

    if (answer->error == EFBIG)
        message(URLS ": the debug file of %s has more than %.1f MB, and is left", wish->name,
                (double)wish->bytes / MB);
    if (answer->error == ENOENT || answer->error == EFBIG)
        return;
    end_client();
    snprintf(why, sizeof(why), "%s", strerror(answer->error));
    if (answer->error == ENOPKG)
        snprintf(why, sizeof(why), "%s", answer->why);
    if (answer->error == ETIME)
        snprintf(why, sizeof(why), "a file did not come within %d s", (int)wish->seconds);
    give_up(why);
}

/* Is there anything left of the limits for a run? */
static bool may_ask(void)
{
    if (server.bytes < ALL_BYTES && server.ms < ALL_MS)
        return true;
    end_client();
    give_up(server.ms < ALL_MS ? "1 GB was fetched, which is the limit"
                               : "waited for 300 s, which is the limit");
    return false;
}

char *debug_server_find(const unsigned char *build_id, size_t size, const char *name)
{
    const char *urls = getenv(URLS);
    struct debug_answer answer = {0};
    struct debug_wish wish;

    if (server.is_disabled || !urls || !urls[strspn(urls, " ")] || size > DEBUG_CLIENT_ID_MOST)
        return NULL;
    if (!server.has_begun)
        begin();
    if (server.is_disabled || !may_ask())
        return NULL;
    wish = make_wish(build_id, size, name);
    ask(&wish, &answer);
    answer.path[sizeof(answer.path) - 1] = 0;
    if (answer.error == 0)
        return strdup(answer.path);
    tell(&wish, &answer);
    return NULL;
}
