/* Stops a child with threads that sleep, spin, wait and get signals; it says whether anything was
 * lost on them. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "service/attach/linux/tracees.h"

#include <cmocka.h>

#define STOPS 60

/* Shared with the child. */
static struct shared {
    atomic_bool is_ready, is_over;
    atomic_int interrupted, signals;
    atomic_long turns;
} * shared;

static void count_signal(int number)
{
    (void)number;
    shared->signals++;
}

static void *spin(void *unused)
{
    (void)unused;
    while (!shared->is_over)
        shared->turns++;
    return NULL;
}

/* A call that the kernel ends with EINTR at each stop, though there is no signal. */
static void *wait_for_nothing(void *unused)
{
    int queue = epoll_create1(0);
    struct epoll_event event;
    sigset_t all;

    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (!shared->is_over)
        if (epoll_wait(queue, &event, 1, 10) < 0 && errno == EINTR)
            shared->interrupted++;
    return NULL;
}

static void *begin_threads(void *unused)
{
    (void)unused;
    while (!shared->is_over) {
        pthread_t thread;

        if (!pthread_create(&thread, NULL, (void *(*)(void *))getenv, "NOTHING"))
            pthread_join(thread, NULL);
    }
    return NULL;
}

static void child(void)
{
    void *(*const work[])(void *) = {spin, wait_for_nothing, wait_for_nothing, begin_threads};
    struct itimerval often = {{0, 200}, {0, 200}};
    pthread_t threads[4];

    signal(SIGALRM, count_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work[i], NULL);
    shared->is_ready = true;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    _exit(shared->signals > 0 ? 0 : 1);
}

static pid_t begin(void)
{
    pid_t pid;

    memset(shared, 0, sizeof(*shared));
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        child();
    }
    while (!shared->is_ready)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return pid;
}

static void end(pid_t pid)
{
    int status;

    shared->is_over = true;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(shared->interrupted, 0);
}

static void test_all_stand(void **state)
{
    pid_t pid = begin();

    (void)state;
    for (int i = 0; i < STOPS; i++) {
        struct tracees tracees;
        struct failure failure;
        long before;

        if (!tracees_stop(&tracees, pid, &failure))
            fail_msg("%s", failure.text);
        assert_true(tracees.count >= 5);
        before = shared->turns;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_int_equal(shared->turns, before);
        tracees_release(&tracees);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    end(pid);
}

static void test_calls(void **state)
{
    pid_t pid = begin();
    uint64_t none[6] = {0}, wrong[6] = {1ull << 40, 4096};

    (void)state;
    for (int i = 0; i < STOPS; i++) {
        struct tracees tracees;
        struct tracee *caller;
        struct failure failure;

        if (!tracees_stop(&tracees, pid, &failure))
            fail_msg("%s", failure.text);
        caller = tracees_caller(&tracees);
        assert_non_null(caller);
        assert_int_equal(tracee_call(&tracees, caller, SYS_getpid, none), pid);
        assert_int_equal(tracee_call(&tracees, caller, SYS_gettid, none), caller->tid);
        assert_int_equal(tracee_call(&tracees, caller, SYS_getcwd, wrong), -EFAULT);
        tracees_release(&tracees);
    }
    end(pid);
}

static void test_who_cannot_be_stopped(void **state)
{
    struct tracees tracees;
    struct failure failure;
    pid_t pid = begin();

    (void)state;
    assert_false(tracees_stop(&tracees, 4194303, &failure));
    assert_non_null(strstr(failure.text, "4194303"));
    assert_true(tracees_stop_one(&tracees, pid, &failure));
    tracees_release(&tracees);
    end(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_stand),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_who_cannot_be_stopped),
    };

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
