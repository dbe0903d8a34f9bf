/*
 * SIGKILL at random moments, of a program, of its service, or of both at once; and ends that the
 * program makes for itself. What the program counted in a shared page is compared with its trace,
 * once that is complete: by the service or, where that was killed, by its keeper.
 *
 *      kill_campaign SERVICE PROGRAM FOLDER ROUNDS SEED
 *
 * PROGRAM is tests/programs/counted.c, instrumented. FOLDER is empty and gets the traces. The
 * service is found by the environment, which the caller has made for it. Prints what was done;
 * exit status 1 at the first difference, whose trace then stays in FOLDER.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/campaigns/counted_trace.h"
#include "trace/trace_reader.h"

#define LONGEST_US  12000
#define PATIENCE_MS 20000

static const char *const own_ends[] = {"_exit", "abort", "overflow", "memory", "fault", "exit"};

static struct campaign {
    const char *service, *program, *folder;
    char counters[4096];
    uint64_t random;
    pid_t service_pid;
    struct counted_thread *counted;
    uint64_t calls, unrecorded, services_killed;
} campaign;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "kill_campaign: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* xorshift64* */
static uint64_t next_random(uint64_t below)
{
    uint64_t x = campaign.random;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    campaign.random = x;
    return (x * 0x2545f4914f6cdd1dull >> 16) % below;
}

static void pause_us(uint64_t us)
{
    nanosleep(&(struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000}, NULL);
}

static pid_t start(const char *const arguments[], int ready)
{
    pid_t pid = fork();

    if (pid < 0)
        give_up("fork");
    if (pid > 0)
        return pid;
    if (ready >= 0)
        dup2(ready, 2);
    execv(arguments[0], (char *const *)arguments);
    give_up(arguments[0]);
}

/* Returns when it says that it is ready. */
static void start_service(void)
{
    char trace_dir[4200], said[256] = "";
    const char *arguments[] = {campaign.service, "start", trace_dir, NULL};
    int ends[2];

    snprintf(trace_dir, sizeof(trace_dir), "--trace-dir=%s/traces", campaign.folder);
    if (pipe2(ends, O_CLOEXEC) < 0)
        give_up("pipe");
    campaign.service_pid = start(arguments, ends[1]);
    close(ends[1]);
    while (!strstr(said, "ready")) {
        size_t have = strlen(said);
        ssize_t got = read(ends[0], said + have, sizeof(said) - 1 - have);

        if (got <= 0)
            give_up("the service did not become ready");
        said[have + (size_t)got] = 0;
    }
    /* kept open: the service goes on writing to it */
}

static void kill_service(void)
{
    kill(campaign.service_pid, SIGKILL);
    waitpid(campaign.service_pid, NULL, 0);
    campaign.services_killed++;
}

/* The trace of a process, if there is one yet. */
static bool find_trace(pid_t pid, char path[4400])
{
    char folder[4200], middle[32];
    struct dirent *entry;
    bool found = false;
    DIR *directory;

    snprintf(folder, sizeof(folder), "%s/traces", campaign.folder);
    snprintf(middle, sizeof(middle), "-%d-", (int)pid);
    directory = opendir(folder);
    while (directory && !found && (entry = readdir(directory))) {
        found = entry->d_name[0] != '.' && strstr(entry->d_name, middle) &&
                strstr(entry->d_name, ".bin");
        if (found)
            snprintf(path, 4400, "%s/%.190s", folder, entry->d_name);
    }
    if (directory)
        closedir(directory);
    return found;
}

/* Until the end it is a snapshot. */
static bool is_complete(const char *path, uint32_t *state)
{
    struct trace_file file;
    struct failure failure;
    bool is;

    if (!trace_file_open(&file, path, &failure))
        return false;
    is = file.header.end == TRACE_END_GONE;
    *state = file.header.state;
    trace_file_close(&file);
    return is;
}

/* False: there is none, or no longer, since the program was gone before it had it; or it is never
   completed. */
static bool wait_for_trace(pid_t pid, char path[4400], uint32_t *state)
{
    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        if (!find_trace(pid, path))
            return false;
        if (is_complete(path, state))
            return true;
        pause_us(1000);
    }
    printf("%s is not completed\n", path);
    return false;
}

static bool is_recorded(pid_t pid)
{
    char path[4400];

    return find_trace(pid, path) && __atomic_load_n(&campaign.counted[0].begun, __ATOMIC_SEQ_CST);
}

/* Whether the trace holds what was counted; a program that was never recorded holds nothing. */
static bool compare(pid_t pid, const char *what, bool must_be_recorded)
{
    char path[4400];
    uint32_t state;
    bool same;

    if (!wait_for_trace(pid, path, &state) || state == TRACE_PREPARED) {
        campaign.unrecorded++;
        if (!must_be_recorded)
            return true;
        printf("%s: there is no trace\n", what);
        return false;
    }
    same = counted_trace_holds(path, campaign.counted, what, &campaign.calls);
    if (same)
        unlink(path);
    return same;
}

enum victim { PROGRAM, SERVICE, BOTH, ITSELF, VICTIMS };

static void wait_until_recorded(pid_t pid)
{
    for (int ms = 0; ms < PATIENCE_MS && !is_recorded(pid); ms++)
        pause_us(1000);
}

static bool round_of(enum victim victim)
{
    static const char *const names[] = {"program killed", "service killed", "both killed"};
    const char *how = victim == ITSELF ? own_ends[next_random(6)] : NULL;
    const char *arguments[] = {campaign.program, campaign.counters, how, NULL};
    bool service_dies = victim == SERVICE || victim == BOTH, recorded;
    pid_t pid;

    memset(campaign.counted, 0, 4096);
    pid = start(arguments, -1);
    if (service_dies)
        wait_until_recorded(pid);
    if (!how)
        pause_us(next_random(LONGEST_US));
    if (victim == BOTH) {
        kill(next_random(2) ? pid : campaign.service_pid, SIGKILL);
        kill_service();
    }
    if (victim == SERVICE) {
        kill_service();
        pause_us(next_random(LONGEST_US));
    }
    recorded = victim == ITSELF || service_dies || (campaign.counted[0].begun > 1);
    if (!how)
        kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (service_dies)
        start_service();
    return compare(pid, how ? how : names[victim], recorded);
}

static void prepare(char **arguments)
{
    int file;

    campaign.service = arguments[1];
    campaign.program = arguments[2];
    campaign.folder = arguments[3];
    campaign.random = strtoull(arguments[5], NULL, 10) | 1;
    snprintf(campaign.counters, sizeof(campaign.counters), "%s/counters", arguments[3]);
    file = open(campaign.counters, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 4096) < 0)
        give_up(campaign.counters);
    campaign.counted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (campaign.counted == MAP_FAILED)
        give_up(campaign.counters);
    start_service();
}

int main(int count, char **arguments)
{
    unsigned long rounds;
    bool same = true;

    if (count != 6) {
        fprintf(stderr, "kill_campaign SERVICE PROGRAM FOLDER ROUNDS SEED\n");
        return 2;
    }
    rounds = strtoul(arguments[4], NULL, 10);
    prepare(arguments);
    for (unsigned long i = 0; i < rounds && same; i++)
        same = round_of((enum victim)(i % VICTIMS));
    printf("seed %s: %lu ends, %" PRIu64 " services killed, %" PRIu64 " calls compared, %" PRIu64
           " ended before recording began\n",
           arguments[5], rounds, campaign.services_killed, campaign.calls, campaign.unrecorded);
    kill(campaign.service_pid, SIGTERM);
    waitpid(campaign.service_pid, NULL, 0);
    return same ? 0 : 1;
}
