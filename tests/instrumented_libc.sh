#!/bin/bash
# The C library instrumented itself, into a folder of its own: programs that are not instrumented run
# with it as ever. Threads end within hooked functions of the library.
# needs: python3 libc6-dbg
. "$(dirname "$0")/lib.sh"

mkdir libraries
instrument "$(realpath /lib/x86_64-linux-gnu/libc.so.6)" -o libraries/libc.so.6 >line
instrument --list libraries/libc.so.6 >list
awk -F '\t' '$3 == "hooked" && $5 ~ /\.cold$/' list >cold
equal "fragments hooked" "$(<cold)" ""

# with_library NAME ARGUMENT…: natively and with that library, under each way of recording. The
# grinder checks each thread's balance.
with_library()
{
    local way
    run native "$@"
    for way in --timing=adaptive --timing=exact --mode=calltrace; do
        rm -rf traces
        # shellcheck disable=SC2086
        run instrumented "$BUILD/service/call_trace_service" start $way --trace-dir="$work/traces" -- \
            env LD_LIBRARY_PATH="$work/libraries" "$@"
        compare_runs "$* with the library, $way"
        balanced
    done
}

for program in thread_ends unguarded forks spawns; do
    build $program $program.c
    ln native/$program instrumented/
    with_library ./$program
    [[ $program != thread_ends ]] || equal "threads begun" "$(calls_of start_thread)" 150
done
with_library python3 -c '
import threading
threads = [threading.Thread(target=lambda: sum(range(10000))) for i in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")'
