/*
 * covered WHAT: runs a part of itself.
 *
 *      nothing   the main thread's part alone
 *      thread    a part in a thread, which is still running when the process ends
 *      child     a part in a child made by fork, which kills itself; another in one that execs
 *      kill      a part, then SIGKILL
 *      outlive   a part in a child that goes on for a while after its parent
 *      reload    loads plugin.so and unloads it, and has a child do so
 */
#include "program.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int done;

COUNTED void in_main(int n)
{
    if (n > 1000)
        done = 2; /* never */
    else
        done = 1;
    for (int i = 0; i < 1234; i++)
        done += i % 2;
}

COUNTED void in_thread(void)
{
    __atomic_store_n(&done, 3, __ATOMIC_RELEASE);
}

COUNTED void in_child(void)
{
    kill(getpid(), SIGKILL);
    done = 4; /* never */
}

COUNTED void in_executed(void)
{
    done = 5;
}

COUNTED void in_killed(int n)
{
    switch (n) {
    case 1:
        done = 6; /* never */
        break;
    case 2:
        done = 7;
        break;
    case 3:
        done = 8; /* never */
        break;
    case 4:
        done = 9; /* never */
        break;
    default:
        done = 10; /* never */
    }
}

COUNTED void in_outliving(void)
{
    done = 11; /* after its parent */
}

static void *thread(void *unused)
{
    in_thread();
    pause();
    return unused;
}

static void run_children(char **arguments)
{
    pid_t child = fork();

    if (!child)
        in_child();
    waitpid(child, NULL, 0);
    child = fork();
    if (!child)
        execl(arguments[0], arguments[0], "executed", (char *)NULL);
    waitpid(child, NULL, 0);
}

static long back(long value)
{
    return value;
}

static void load(void)
{
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);

    REQUIRE(library);
    ((long (*)(long, long (*)(long)))dlsym(library, "plugin_run"))(1, back);
    dlclose(library);
}

static void reload(void)
{
    pid_t child;

    load();
    child = fork();
    if (!child) {
        load();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    pthread_t id;

    in_main(count);
    if (!strcmp(what, "thread")) {
        pthread_create(&id, NULL, thread, NULL);
        while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != 3)
            usleep(1000);
    }
    if (!strcmp(what, "child"))
        run_children(arguments);
    if (!strcmp(what, "outlive") && !fork()) {
        usleep(500000);
        in_outliving();
    }
    if (!strcmp(what, "reload"))
        reload();
    if (!strcmp(what, "executed"))
        in_executed();
    if (!strcmp(what, "kill")) {
        in_killed(2);
        kill(getpid(), SIGKILL);
    }
    return 0;
}
