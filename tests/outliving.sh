#!/bin/bash
# What outlives the command of `start -- COMMAND`, is started with an environment of its own, or dies,
# is recorded or spoken of: background jobs are waited for, daemons go on in the background.
# needs: gcc util-linux
. "$(dirname "$0")/lib.sh"

cat >job.c <<'END'
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* job N: N calls of work, 10 ms each. job N daemon: in a daemon, whose child does the same when it is
   done. job N bare: in a child without an environment. job crash */
__attribute__((noinline)) int work(int n)
{
    usleep(10000);
    return n + 1;
}
static void works(int count)
{
    for (int i = 0; i < count; i++)
        work(i);
}
int main(int count, char **arguments)
{
    char *environment[] = {"PATH=/usr/bin:/bin", "HOME=/", 0};
    int calls = atoi(arguments[1]), status;
    const char *how = count > 2 ? arguments[2] : "";
    pid_t child;
    if (!strcmp(arguments[1], "crash"))
        abort();
    if (!strcmp(how, "bare")) {
        if (posix_spawn(&child, arguments[0], 0, 0, (char *[]){arguments[0], arguments[1], 0}, environment))
            return 1;
        waitpid(child, &status, 0);
        return status != 0;
    }
    if (!strcmp(how, "daemon")) {
        if (fork())
            _exit(0);
        setsid();
        if (fork())
            _exit(0);
    }
    works(calls);
    if (!strcmp(how, "daemon") && fork() == 0)
        works(calls);
    return 0;
}
END
gcc -O1 -o native/job job.c
instrumented job
job=$work/instrumented/job

# started OPTION… -- COMMAND…: traces/, said, status
started()
{
    rm -rf traces
    status=0
    call_trace_service start --trace-dir="$work/traces" "$@" 2>said </dev/null || status=$?
}
whole()
{
    grinder --mode=profile --output-file=callgrind traces/*.bin 2>problems || fail "$1: $(<problems)"
}
services_left()
{
    find run /tmp/umbra-"$EUID" -name "*$1*" 2>/dev/null | wc -l
}
ended() # ID
{
    local try
    for ((try = 0; try < 400; try++)); do
        [[ -e run/umbra/$1.lock ]] || return 0
        sleep 0.05
    done
    fail "instance $1 does not end"
}

echo '-- a background job'
started -- sh -c "$job 60 & exit 3"
equal "status" "$status" 3
whole "background job"
equal "calls of a background job" "$(calls_of work)" 60
contains said '^call_trace_service: sh has ended with status 3, and job \(pid [0-9]+\) still runs: recorded until it ends; interrupt, or call_trace_service stop --instance-id='
rm said
started --instance-id=ended -- sh -c "$job 2000 & echo \$! >pid; exit 4" &
caller=$!
for ((i = 0; i < 400; i++)); do
    grep -q 'still runs' said 2>/dev/null && break
    sleep 0.05
done
call_trace_service stop --instance-id=ended >stopped
wait "$caller"
contains said 'is still running: its trace .* is completed when it ends'
kill "$(<pid)"

echo '-- a daemon, and what it starts later'
started --instance-id=daemons -- "$job" 40 daemon
equal "status" "$status" 0
contains said '^call_trace_service: instance daemons records them in the background until they end; to stop that: '
ended daemons
completed traces
whole "daemon"
equal "calls of a daemon and of its child" "$(calls_of work)" 80

# Its processes come and go while they are looked for.
rm -rf traces
for ((round = 0; round < 20; round++)); do
    call_trace_service start --trace-dir="$work/traces" --instance-id="daemons-$round" -- "$job" 1 daemon 2>said
done
for ((round = 0; round < 20; round++)); do
    ended "daemons-$round"
done
completed traces
whole "20 daemons"
equal "calls of 20 daemons and of their children" "$(calls_of work)" 40

echo '-- something that is not instrumented'
started -- sh -c "sleep 2 & $job 1"
contains said '^call_trace_service: sleep \(pid [0-9]+\): not instrumented, runs on; what it starts from now on is not recorded'
started -- "$job" 1
equal "said of a command that leaves nothing" "$(<said)" ""

echo '-- environments of their own'
started -- "$job" 3 bare
whole "bare"
equal "calls in a child without an environment" "$(calls_of work)" 3
started -- env -i sh -c "sh -c '$job 3; true'"
whole "env -i"
equal "calls below env -i" "$(calls_of work)" 3
started -- env XDG_RUNTIME_DIR="$work/other" "$job" 3
whole "another XDG_RUNTIME_DIR"
equal "calls with another XDG_RUNTIME_DIR" "$(calls_of work)" 3
started -- env UMBRA_INSTANCE_ID=none "$job" 3
equal "traces of a program that names another instance" "$(traces_left)" 0
equal "links that are left" "$(services_left run-)" 0
if ((EUID == 0)) && unshare -m true 2>/dev/null; then
    mkdir -p -m 0700 /tmp/umbra-0
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs -o mode=0755 tmpfs /tmp/umbra-0; shift; exec "$@"' sh - \
        "$BUILD/service/call_trace_service" start --trace-dir="$work/traces.bare" -- \
        env -i "$job" 3 2>said
    contains said 'mode 0700, found another: what the command starts with an environment that has no UMBRA_INSTANCE_ID is not recorded'
    equal "traces where the folder of links is open to others" "$(find traces.bare -name '*.bin' | wc -l)" 0
fi

echo '-- was it instrumented?'
printf '#!/bin/sh\n"$@"\ntrue\n' >script
chmod +x script
started -- ./script "$job" 2
equal "said of a script whose child was recorded" "$(<said)" ""
started -- ./script
contains said 'script: expected a program to record, found none: was any that it started instrumented\?'
started -- true
contains said 'true: expected a program to record, found none: it is not instrumented itself; was what it started\?'
started -- native/job 1
contains said 'job: expected a program to record, found none: it is not instrumented itself'

cp "$(command -v sleep)" $'line\nfeed'
# shellcheck disable=SC2016
started -- sh -c '"$0" 3 & sleep 0.1' $'./line\nfeed'
contains said '^call_trace_service: line\?feed \(pid [0-9]+\): not instrumented, runs on'

echo '-- one that dies'
started --log-file="$work/log" -- "$job" crash
equal "status of a program that aborts" "$status" 134
equal "its standard error" "$(<said)" ""
contains log 'instrumented/job \(pid [0-9]+\) died of SIGABRT\. .*umbra bisect -- COMMAND .*--exclude;.*instrument --bisect'
started --log-file="$work/log2" -- sh -c "$job 100 & sleep 0.3; kill -TERM \$!; wait \$!; true"
! grep -q 'died of' log2 || fail "said of a program that was sent SIGTERM: $(<log2)"
cat >forger.c <<'END'
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "trace/trace_format.h"
/* Leaves no zero at the end of its name in its trace, and dies. */
int main(void)
{
    unsigned long begin, end;
    char line[512], *header = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, " rw-s 00000000") && sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
            !memcmp((char *)begin, TRACE_MAGIC, 8))
            header = (char *)begin;
    if (!header)
        return 0;
    memset(header + offsetof(struct trace_header, exe), 'A', TRACE_EXE_SIZE + TRACE_COMMAND_SIZE);
    return raise(SIGSEGV);
}
END
gcc -O1 -I"$TESTS/.." -o native/forger forger.c
instrumented forger
started --log-file="$work/log4" -- instrumented/forger
equal "status of a program that wrote over its name" "$status" 139
contains log4 'AAA \(pid [0-9]+\) died of SIGSEGV\. '

echo '-- a service that has no time for a program before it is stopped'
for ((round = 0; round < 3; round++)); do
    rm -f log3
    call_trace_service spawn --trace-dir="$work/traces.3" --log-file="$work/log3"
    service=$(<run/umbra/default.lock)
    kill -STOP "$service"
    "$job" 1
    "$job" 1
    kill -TERM "$service"
    kill -CONT "$service"
    ended default
    contains log3 'pid [0-9]+( and others)? (connected when this service had no more time for it: not recorded|is gone before it could be recorded)'
done
