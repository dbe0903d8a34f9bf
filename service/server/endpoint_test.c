#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/server/endpoint.h"

#include <cmocka.h>

static int make_place(void **state)
{
    char *path = strdup("/tmp/umbra-endpoint-XXXXXX");

    *state = path;
    return !mkdtemp(path) || setenv("XDG_RUNTIME_DIR", path, 1);
}

static int remove_place(void **state)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
    free(*state);
    return system(command);
}

static char *in_place(void **state, const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", (char *)*state, name);
    return path;
}

static void test_opens_and_leaves_nothing(void **state)
{
    struct endpoint endpoint;
    struct connection_peer peer;
    int client, connection;

    assert_true(endpoint_open(&endpoint, "one"));
    assert_int_equal(access(in_place(state, "umbra/one.socket"), F_OK), 0);
    client = endpoint_connect("one", 1, &peer);
    assert_true(client >= 0);
    connection = endpoint_accept(&endpoint, endpoint.listener, &peer);
    assert_true(connection >= 0);
    assert_int_equal(peer.pid, getpid());
    assert_int_equal(peer.uid, geteuid());
    assert_int_equal(endpoint_accept(&endpoint, endpoint.listener, &peer), -1);
    endpoint_close(&endpoint);
    assert_int_equal(rmdir(in_place(state, "umbra")), 0);
    close(client);
    close(connection);
}

static void test_one_at_a_time(void **state)
{
    struct endpoint first, second, other;

    (void)state;
    assert_true(endpoint_open(&first, "one"));
    assert_false(endpoint_open(&second, "one"));
    assert_true(endpoint_open(&other, "two"));
    endpoint_close(&first);
    assert_true(endpoint_open(&second, "one"));
    endpoint_close(&second);
    endpoint_close(&other);
}

static void test_replaces_what_a_dead_service_left(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int dead = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    struct endpoint endpoint;

    mkdir(in_place(state, "umbra"), 0700);
    close(open(in_place(state, "umbra/one.lock"), O_CREAT | O_WRONLY, 0600));
    strcpy(address.sun_path, in_place(state, "umbra/one.socket"));
    assert_int_equal(bind(dead, (struct sockaddr *)&address, sizeof(address)), 0);
    close(dead);
    assert_true(endpoint_open(&endpoint, "one"));
    endpoint_close(&endpoint);
}

/* As a service does that begins, and looks for what dead ones left. */
static void test_waits_while_its_lock_is_looked_at(void **state)
{
    struct endpoint endpoint;
    int ready[2], status;
    char byte;
    pid_t child;

    mkdir(in_place(state, "umbra"), 0700);
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (!child) {
        int lock = open(in_place(state, "umbra/one.lock"), O_CREAT | O_RDWR, 0600);

        if (flock(lock, LOCK_EX) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        usleep(100000);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(endpoint_open(&endpoint, "one"));
    endpoint_close(&endpoint);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_trusts_no_directory_of_others(void **state)
{
    struct endpoint endpoint;
    char target[128];

    mkdir(in_place(state, "umbra"), 0700);
    chmod(in_place(state, "umbra"), 0755);
    assert_false(endpoint_open(&endpoint, "one"));
    rmdir(in_place(state, "umbra"));

    strcpy(target, in_place(state, "elsewhere"));
    mkdir(target, 0700);
    assert_int_equal(symlink(target, in_place(state, "umbra")), 0);
    assert_false(endpoint_open(&endpoint, "one"));
    unlink(in_place(state, "umbra"));

    close(open(in_place(state, "umbra"), O_CREAT | O_WRONLY, 0600));
    assert_false(endpoint_open(&endpoint, "one"));
}

static void test_trusts_no_place_where_others_rename(void **state)
{
    struct endpoint endpoint;

    assert_int_equal(chmod(*state, 0777), 0);
    assert_false(endpoint_open(&endpoint, "one"));
    assert_int_equal(access(in_place(state, "umbra"), F_OK), -1);
    assert_int_equal(chmod(*state, 01777), 0);
    assert_true(endpoint_open(&endpoint, "one"));
    endpoint_close(&endpoint);
}

/* Nobody is connected to there: a full queue would keep a tool waiting. */
static void test_finds_no_service_where_others_can_put_one(void **state)
{
    struct endpoint endpoint;
    struct connection_peer peer;
    char moved[128];

    assert_true(endpoint_open(&endpoint, "one"));
    assert_int_equal(chmod(in_place(state, "umbra"), 0770), 0);
    assert_int_equal(endpoint_connect("one", 1, &peer), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(endpoint_accept(&endpoint, endpoint.listener, &peer), -1);
    strcpy(moved, in_place(state, "moved"));
    assert_int_equal(rename(in_place(state, "umbra"), moved), 0);
    assert_int_equal(endpoint_connect("one", 1, &peer), -1);
    assert_int_equal(errno, ENOENT);
    endpoint_close(&endpoint);
}

/* Only root can make what is another's. */
static void test_trusts_no_directory_of_another_owner(void **state)
{
    struct endpoint endpoint;

    if (geteuid())
        skip();
    mkdir(in_place(state, "umbra"), 0700);
    assert_int_equal(chown(in_place(state, "umbra"), 65534, 65534), 0);
    assert_false(endpoint_open(&endpoint, "one"));
}

/* Who listens is who called listen: a child, as another user. */
static void test_speaks_to_no_service_of_another_user(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int squatted = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    struct connection_peer peer;
    int status;

    if (geteuid())
        skip();
    mkdir(in_place(state, "umbra"), 0700);
    strcpy(address.sun_path, in_place(state, "umbra/one.socket"));
    assert_int_equal(bind(squatted, (struct sockaddr *)&address, sizeof(address)), 0);
    if (fork() == 0)
        _exit(seteuid(65534) < 0 || listen(squatted, 1) < 0);
    wait(&status);
    assert_int_equal(status, 0);
    assert_int_equal(endpoint_connect("one", 1, &peer), -1);
    assert_int_equal(errno, EPERM);
    close(squatted);
}

static void test_follows_no_link_to_a_lock(void **state)
{
    struct endpoint endpoint;
    char target[128];

    strcpy(target, in_place(state, "victim"));
    mkdir(in_place(state, "umbra"), 0700);
    assert_int_equal(symlink(target, in_place(state, "umbra/one.lock")), 0);
    assert_false(endpoint_open(&endpoint, "one"));
    assert_int_equal(access(target, F_OK), -1);
}

int main(void)
{
#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(test_opens_and_leaves_nothing),
        IN_A_PLACE(test_one_at_a_time),
        IN_A_PLACE(test_replaces_what_a_dead_service_left),
        IN_A_PLACE(test_waits_while_its_lock_is_looked_at),
        IN_A_PLACE(test_trusts_no_directory_of_others),
        IN_A_PLACE(test_trusts_no_place_where_others_rename),
        IN_A_PLACE(test_finds_no_service_where_others_can_put_one),
        IN_A_PLACE(test_trusts_no_directory_of_another_owner),
        IN_A_PLACE(test_speaks_to_no_service_of_another_user),
        IN_A_PLACE(test_follows_no_link_to_a_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
