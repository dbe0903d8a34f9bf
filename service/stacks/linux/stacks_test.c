/*
 * What is made of events, in whatever order they come and whichever are missing: the kernel's part
 * is played by stack_events_ functions of this test. A command is started all the same; the events
 * are of other processes.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/stacks/linux/stack_events.h"
#include "service/stacks/stacks.h"

#include <cmocka.h>

#define SHELL 2000000000u /* numbers that no process has */
#define CHILD 2000000001u

struct stack_events {
    struct stack_events_receiver receiver;
    uint64_t time;
};

static void (*play)(struct stack_events *events);
static struct stack_events played;

struct stack_events *stack_events_open(struct event_loop *loop, uint32_t period_ns,
                                       const struct stack_events_receiver *receiver,
                                       struct failure *failure)
{
    (void)loop, (void)period_ns, (void)failure;
    played = (struct stack_events){.receiver = *receiver, .time = 1000000000};
    return &played;
}

bool stack_events_are_of_user(const struct stack_events *events)
{
    (void)events;
    return false;
}

void stack_events_finish(struct stack_events *events)
{
    play(events);
}

void stack_events_close(struct stack_events *events)
{
    (void)events;
}

/* Nothing is attached to here. */
bool stack_events_add_thread(struct stack_events *events, pid_t tid)
{
    (void)events, (void)tid;
    return false;
}

char *stack_events_command(uint32_t pid)
{
    (void)pid;
    return NULL;
}

static void happen(struct stack_events *events, struct stack_event event)
{
    event.time = events->time += 1000;
    events->receiver.happened(events->receiver.owner, &event);
}

static void begin(struct stack_events *events, uint32_t pid, uint32_t tid, uint32_t parent)
{
    happen(events, (struct stack_event){.kind = STACK_EVENT_BEGIN,
                                        .pid = pid,
                                        .tid = tid,
                                        .parent = parent,
                                        .parent_tid = parent});
}

static void end(struct stack_events *events, uint32_t pid, uint32_t tid)
{
    happen(events, (struct stack_event){.kind = STACK_EVENT_END, .pid = pid, .tid = tid});
}

static void execute(struct stack_events *events, uint32_t pid, const char *name)
{
    happen(events,
           (struct stack_event){.kind = STACK_EVENT_EXEC, .pid = pid, .tid = pid, .name = name});
}

static void map(struct stack_events *events, uint32_t pid, const char *name, uint64_t address)
{
    happen(events, (struct stack_event){.kind = STACK_EVENT_MAP,
                                        .pid = pid,
                                        .tid = pid,
                                        .name = name,
                                        .address = address,
                                        .length = 4096});
}

static void sample(struct stack_events *events, uint32_t pid, uint32_t tid)
{
    static const uint64_t registers[STACKS_REGISTERS];

    happen(events, (struct stack_event){.kind = STACK_EVENT_SAMPLE,
                                        .pid = pid,
                                        .tid = tid,
                                        .registers = registers,
                                        .stack = (const unsigned char *)""});
}

struct found {
    size_t traces, stacks, bytes;
};

static struct found record(void (*what)(struct stack_events *events))
{
    char path[] = "/tmp/umbra-stacks-XXXXXX", command[64];
    char *words[] = {(char *)"true", NULL};
    const struct stacks_settings settings = {.command = words, .trace_dir = path, .samples = 1000};
    struct found found = {0};
    const struct dirent *entry;
    DIR *directory;

    play = what;
    assert_non_null(mkdtemp(path));
    assert_int_equal(stacks_record(&settings), 0);
    directory = opendir(path);
    while ((entry = readdir(directory))) {
        char file[sizeof(path) + sizeof(entry->d_name) + 1];
        FILE *stream;
        found.traces += strstr(entry->d_name, ".bin") != NULL;
        if (!strstr(entry->d_name, STACKS_SUFFIX))
            continue;
        found.stacks++;
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        stream = fopen(file, "rb");
        fseek(stream, 0, SEEK_END);
        found.bytes += (size_t)ftell(stream);
        fclose(stream);
    }
    closedir(directory);
    snprintf(command, sizeof(command), "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
    return found;
}

/* That the second thread began was lost: it ends when no thread is known to live. */
static void lose_a_thread(struct stack_events *events)
{
    execute(events, SHELL, "program");
    end(events, SHELL, SHELL);
    end(events, SHELL, SHELL + 10);
    end(events, SHELL, SHELL + 11);
    events->time += 5000000;
    begin(events, CHILD, CHILD, SHELL);
    end(events, CHILD, CHILD);
}

static void more_threads_may_end_than_began(void **state)
{
    (void)state;
    assert_int_equal(record(lose_a_thread).traces, 2);
}

/* That the thread began which executes was lost, and the first one has ended. */
static void execute_when_dead(struct stack_events *events)
{
    execute(events, SHELL, "program");
    sample(events, SHELL, SHELL);
    end(events, SHELL, SHELL);
    execute(events, SHELL, "another");
    events->time += 5000000;
    sample(events, SHELL, SHELL);
    end(events, SHELL, SHELL);
}

static void the_dead_may_execute(void **state)
{
    (void)state;
    assert_int_equal(record(execute_when_dead).traces, 2);
}

static void use_a_number_again(struct stack_events *events)
{
    execute(events, SHELL, "program");
    for (int i = 0; i < 3; i++) {
        begin(events, CHILD, CHILD, SHELL);
        sample(events, CHILD, CHILD);
        end(events, CHILD, CHILD);
    }
}

static void a_number_may_come_again(void **state)
{
    struct found found = record(use_a_number_again);

    (void)state;
    assert_int_equal(found.traces, 4);
    assert_int_equal(found.stacks, 4);
}

/* As a compiler at run time does that writes to its code: 200,000 times at the same two places. */
static void write_code(struct stack_events *events)
{
    execute(events, SHELL, "program");
    map(events, SHELL, "/bin/program", 0x10000);
    sample(events, SHELL, SHELL);
    for (int i = 0; i < 200000; i++)
        map(events, SHELL, "//anon", i % 2 ? 0x20000 : 0x10000);
    map(events, SHELL, "/bin/program", 0x10000);
}

static void code_is_told_of_once(void **state)
{
    struct found found = record(write_code);

    (void)state;
    assert_int_equal(found.traces, 1);
    assert_int_equal(found.bytes, sizeof(struct stacks_header) + sizeof(struct stacks_sample) +
                                      3 * sizeof(struct stacks_map) + 2 * 16 + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_threads_may_end_than_began),
        cmocka_unit_test(the_dead_may_execute),
        cmocka_unit_test(a_number_may_come_again),
        cmocka_unit_test(code_is_told_of_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
