#!/bin/bash
# call_trace_service attach --follow: what the process executes afterwards is attached to as well, also by posix_spawn
# and two levels deep; what has the hooks already by fork is not attached to twice; all end with their traces.
# needs: gcc
# seconds: 15
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

# parent: a line of its input is a way to start `child NAME`: fork, spawn, deep (by a parent of its own), or plain: a
# child by fork alone. A child says its number, and works until it is told to end.
cat >family.c <<'END'
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile sig_atomic_t stop;
static volatile unsigned long rounds;

static void end(int signal)
{
    (void)signal;
    stop = 1;
}

__attribute__((noipa)) static void work(void)
{
    rounds++;
    usleep(500);
}

static int child(void)
{
    signal(SIGTERM, end);
    printf("%d\n", getpid());
    while (!stop)
        work();
    return 0;
}

static void start(const char *how)
{
    char *const words[] = {"./child", NULL}, *const deep[] = {"./parent", "deep", NULL};
    pid_t pid;

    if (!strcmp(how, "spawn"))
        posix_spawn(&pid, words[0], NULL, NULL, words, environ);
    else if (!strcmp(how, "deep"))
        posix_spawn(&pid, deep[0], NULL, NULL, deep, environ);
    else if (fork() == 0)
        _exit(!strcmp(how, "plain") ? child() : execv(words[0], words));
}

int main(int argc, char **argv)
{
    char line[20];

    setvbuf(stdout, NULL, _IONBF, 0);
    if (strstr(argv[0], "child"))
        return child();
    if (argc > 1) {
        start("spawn");
        wait(NULL);
        return 0;
    }
    printf("%d\n", getpid());
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = 0;
        start(line);
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
END
gcc -O1 -g family.c -o parent
cp parent child
talks ./parent
attached --follow --timing=none

# hooked NUMBER: until that process is
hooked()
{
    local try
    for ((try = 0; try < 3000; try++)); do
        grep "process $1: .* are hooked" attach.log >found && return
        kill -0 "$attaching" || { cat attach.log >&2; fail "attach has ended"; }
        sleep 0.01
    done
    cat attach.log >&2
    fail "process $1 is not followed"
}

children=()
for how in fork spawn deep plain; do
    echo $how >&5
    read -r child <&6
    children+=("$child")
    [[ $how == plain ]] || hooked "$child"
done
plain=$child
sleep 0.5 # two looks
! grep "process $plain: " attach.log || fail "a child by fork was attached to"
# One can be let go of by itself.
"$service" detach "${children[0]}" >detached
kill -TERM "${children[@]}"
exec 5>&-
wait "$job"
wait "$attaching"
cat attach.log
for child in "${children[@]}"; do
    # what is recorded of a child by fork is in the service of its parent
    traces=(traces/*-"$child"-*.bin)
    [[ -s ${traces[0]} ]] || fail "no trace of process $child"
    grinder --mode=profile --output-format=folded --weight=calls --output-file=folded "${traces[@]}"
    grep 'work' folded >work || fail "process $child has not worked: $(<folded)"
done
pgrep -f "attach $pid" >left && fail "a service is left: $(<left)"
exit 0
