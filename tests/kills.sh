#!/bin/bash
# SIGKILL of the program, of its service and of both, and crashes of all kinds, at random moments:
# the trace holds what the program itself counted, at once.
# alone: programs wait only so long for a service that has just begun
. "$(dirname "$0")/lib.sh"

seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "seed $seed, ${ROUNDS:=100} ends"
build counted counted.c
instrumented counted
gcc -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TESTS/.." -o campaign "$TESTS/campaigns/kill_campaign.c" \
    "$TESTS/campaigns/counted_trace.c" "$TESTS"/../trace/{trace_reader,link_sums}.c "$TESTS"/../support/{failure,regular_file}.c
mkdir campaign.folder
(ulimit -c 0 && ./campaign "$BUILD/service/call_trace_service" "$work/instrumented/counted" \
    "$work/campaign.folder" "$ROUNDS" "$seed")
