#!/bin/bash
# call_trace_service attach: a Java machine under load goes on, its results and exceptions as they were, however often
# it is attached to, under each way to collect garbage and to run code. Calls from Java into HotSpot itself pass, all
# below them is recorded, and so are native methods, as if it had been instrumented beforehand (java_natives.sh).
# needs: openjdk-17-jdk-headless
# seconds: 40
. "$(dirname "$0")/lib.sh"

home=/usr/lib/jvm/java-17-openjdk-amd64
"$home/bin/javac" -d native "$TESTS"/programs/{Attached,Natives}.java
build libnatives.so natives.c -shared -fPIC -I"$home/include" -I"$home/include/linux"

# begun OPTION…: the program with two threads at work; its number in $pid
begun()
{
    : >said
    (cd native && exec "$home/bin/java" -Xmx64m -XX:-CreateCoredumpOnCrash -XX:ErrorFile="$work/crash" "$@" Attached 2) \
        >said 2>&1 &
    started+=($!)
    until pid=$(head -n 1 said) && [[ $pid ]]; do
        kill -0 "${started[-1]}" || fail "Java did not begin"
        sleep 0.01
    done
}

alive()
{
    kill -0 "$pid" && return
    head -n 40 said >&2
    fail "Java has ended $1"
}

# attached TIMES
attached()
{
    local turn ways=(adaptive exact none)
    for ((turn = 1; turn <= $1; turn++)); do
        rm -rf traces attach.log
        call_trace_service attach "$pid" --trace-dir=traces --timing="${ways[turn % 3]}" 2>attach.log &
        until grep -qs "are hooked" attach.log; do
            kill -0 $! || { alive "at the hooks"; cat attach.log >&2; fail "cannot attach"; }
            sleep 0.01
        done
        sleep "0.$((turn % 5 + 1))"
        alive "with hooks in, time $turn"
        call_trace_service detach "$pid" >detach.log || { cat attach.log >&2; fail "cannot detach, time $turn"; }
        wait $!
        alive "without hooks, time $turn"
    done
}

ends()
{
    kill "$pid"
    wait "${started[-1]}" || true
    equal "what it said" "$(<said)" "$pid"$'\n'"wrong: 0"
}

recorded_natives()
{
    cp -r traces "traces-$1"
    grinder --mode=summary traces/*.bin >summary
    grinder --mode=profile --output-format=callgrind --output-file=callgrind traces/*.bin
    (($(summed skipped) > 100)) || fail "$1: only $(summed skipped) calls passed"
    (($(calls_of Java_Natives_add) > 1000)) || fail "$1: only $(calls_of Java_Natives_add) calls of a native method"
    (($(summed entries) > 100000)) || fail "$1: only $(summed entries) calls were recorded"
}

while read -r name times options; do
    echo "-- $name"
    # shellcheck disable=SC2086
    begun $options
    attached "$times"
    ends
    recorded_natives "$name"
done <<'TABLE'
g1 3 -XX:+UseG1GC
interpreted 2 -XX:+UseParallelGC -Xint
frames 2 -XX:+UseShenandoahGC -XX:+PreserveFramePointer
TABLE
