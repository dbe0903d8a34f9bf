#!/bin/bash
# 2,000 live threads, 100,000 that begin and end (10,000 in the short form), trees of processes five
# deep, 500 processes at once (100): one trace a process, every call counted.
. "$(dirname "$0")/lib.sh"

: "${ENDING:=10000}" "${AT_ONCE:=100}"
build crowd crowd.c
instrumented crowd

recorded crowd live 2000
equal "live: calls of fib" "$(calls_of fib)" $((2000 * 177))
equal "live: parts" "$(calls_by_part fib | wc -l)" 2000
echo "2000 live threads: $(stat -c %s traces/*.bin) bytes of trace"

recorded crowd ending "$ENDING"
equal "ending: calls of fib" "$(calls_of fib)" $((ENDING * 15))
echo "$ENDING threads that end: $(stat -c %s traces/*.bin) bytes of trace"

# 31 inner processes fork twice, and the 62 children execute: each has a trace before and one after.
recorded crowd tree 5
equal "tree: traces" "$(traces_left)" $((1 + 62 + 62))
equal "tree: calls of fib" "$(calls_of fib)" $((62 * 5 + 32 * 9))
equal "tree: processes with a parent in the tree" \
    "$(grep -c '^  fork of ' summary)" 62

# at once, under one service that is asked for its status meanwhile
rm -rf traces
mkfifo gate
call_trace_service spawn --trace-dir=traces
exec 3<>gate
for ((i = 0; i < AT_ONCE; i++)); do
    (cd instrumented && exec ./crowd waiting) <gate >"out.$i" 3>&- &
    running[i]=$!
done
for ((i = 0; i < AT_ONCE; i++)); do
    for ((wait = 0; wait < 600; wait++)); do
        [[ -s out.$i ]] && break
        sleep 0.1
    done
    equal "process $i" "$(<"out.$i")" 55
done
began=$EPOCHREALTIME
call_trace_service status >status
ended=$EPOCHREALTIME
echo "$AT_ONCE sessions: status takes $(((${ended/./} - ${began/./}) / 100)) tenths of a ms;" \
    "$(sed -n 's/^memory: //p; s/^descriptors: /descriptors: /p' status | paste -sd, )"
equal "listed" "$(call_trace_service list | grep -c $'\trunning\t')" "$AT_ONCE"
contains status "^sessions: $AT_ONCE running"
sampled=$(sed -n 's/^samples: .*, of \([0-9]*\) running$/\1/p' status)
echo "sampled: ${sampled:-none, they are not permitted}"
((${sampled:-0} <= 64)) || fail "$sampled processes are sampled, should be 64 at most"
exec 3>&-
for ((i = 0; i < AT_ONCE; i++)); do
    wait "${running[i]}"
done
call_trace_service stop
balanced
equal "at once: traces" "$(traces_left)" "$AT_ONCE"
equal "at once: calls of fib" "$(calls_of fib)" $((AT_ONCE * 177))
