#!/bin/bash
# Windows programs ended by TerminateProcess, from within and by another process, by SIGKILL, and by
# ExitProcess, at random moments: the trace holds what the program itself counted.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

RANDOM=${SEED:=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
echo "seed $SEED, ${ROUNDS:=32} ends"
gcc -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TESTS/.." -o counted_compare \
    "$TESTS"/campaigns/counted_{compare,trace}.c "$TESTS"/../trace/{trace_reader,link_sums}.c "$TESTS"/../support/{failure,regular_file}.c
windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc -O2 -g -I"$TESTS/programs" "$TESTS/programs/windows/counted.c" -o native/counted.exe
# The functions of the program alone: what start-up code calls is not counted by it.
functions=(--include={leaf,twice,deeper,end,work,main})
instrumented counted.exe "${functions[@]}"
cp native/counted.exe launcher.exe
counters=$work/counters
trace_of_round=
calls=0
unrecorded=0

counting_began()
{
    (($(od -An -tu8 -j 8 -N 8 "$counters") > 1))
}

# end_by HOW: runs the program and ends it
end_by()
{
    local try program file latest=400
    file=$(windows_path "$counters")
    case $1 in
        SIGKILL | SIGKILL-early)
            (cd instrumented && exec wine counted.exe "$file") >/dev/null 2>&1 &
            program=$!
            if [[ $1 == SIGKILL ]]; then
                latest=20
                for ((try = 0; try < 2000; try++)); do
                    counting_began && break
                    sleep 0.01
                done
            fi
            sleep "0.$(printf '%03d' $((RANDOM % latest)))"
            kill -KILL "$program"
            wait "$program" 2>/dev/null || true
            ;;
        TerminateProcess)
            (cd instrumented && timeout 60 wine ../launcher.exe "$file" end-after $((RANDOM % 12000)))
            ;;
        *)
            (cd instrumented && timeout 60 wine counted.exe "$file" "$1") || equal "status of $1" $? 3
            ;;
    esac
}

# The service numbers its traces.
trace_of()
{
    find traces -name "*-$1.bin"
}

call_trace_service spawn --trace-dir="$work/traces"
session=0
for ((round = 0; round < ROUNDS; round++)); do
    ways=(SIGKILL SIGKILL-early TerminateProcess terminate SIGKILL TerminateProcess ExitProcess TerminateProcess)
    how=${ways[round % ${#ways[@]}]}
    head -c 4096 /dev/zero >"$counters"
    end_by "$how"
    trace_of_round=$(trace_of $((session + 1)))
    if [[ -z $trace_of_round ]]; then
        ! counting_began || fail "$how: there is no trace"
        unrecorded=$((unrecorded + 1))
        continue
    fi
    session=$((session + 1))
    # One that never began to record is empty.
    if ! counting_began; then
        unrecorded=$((unrecorded + 1))
        continue
    fi
    compared=$(./counted_compare "$trace_of_round" "$counters" "$how") || fail "$compared"
    calls=$((calls + compared))
done
call_trace_service stop >stopped
echo "seed $SEED: $ROUNDS ends, $calls calls compared, $unrecorded ended before recording began"
((calls > 0))
