#!/bin/bash
# Call-trace mode: every entry and every end is an event, in order of time, whatever programs do:
# threads, exceptions, longjmp, coroutines, signals, fork. Events and tree agree. A stopped service
# and limits on disk cost events, which are counted; a killed one costs none.
# seconds: 20
. "$(dirname "$0")/lib.sh"

gcc -O2 -D_GNU_SOURCE -I"$TESTS/.." -o event_totals "$TESTS/campaigns/event_totals.c" \
    "$TESTS"/../trace/event_{reader,chunk,codec}.c "$TESTS"/../trace/{trace_reader,link_sums}.c "$TESTS"/../support/{failure,regular_file}.c -lzstd -lxxhash

# event WORD: the sum of that count over all traces
event()
{
    awk -v wanted="$1" '{ for (i = 1; i < NF; i += 2) if ($i == wanted) sum += $(i + 1) }
        END { print sum + 0 }' totals
}

count_events()
{
    local trace
    for trace in traces/*.bin; do
        ./event_totals "$trace"
    done >totals || { cat totals >&2; fail "events of $trace"; }
}

# traced NAME ARGUMENT…: as recorded, in call-trace mode
traced()
{
    local name=$1
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --mode=calltrace \
        --trace-dir="$work/traces" "${service_options[@]}" -- "./$@"
    compare_runs "$* in call-trace mode"
    balanced
    count_events
}

# All that the trees counted, the events have as well.
events_are_whole()
{
    local calls
    equal "$1: dropped" "$(event dropped)" 0
    equal "$1: torn" "$(event torn)" 0
    equal "$1: entries" "$(event entries)" "$(summed entries)"
    equal "$1: exits" "$(event exits)" "$(summed exits)"
    equal "$1: unwound" "$(event unwound)" "$(summed unwound)"
    calls=$(event entries)
    echo "$1: $calls calls, $(cat traces/*.events | wc -c | awk -v events=$((2 * calls)) \
        '{ printf "%.2f", $1 / events }') bytes an event"
}

# The service says when it stops keeping events.
normalise()
{
    sed -i '/^call_trace_service: .*no more events are kept/d' "$1"
}

service_options=()
for program in exceptions.cpp coroutines.c tail_calls.c thread_ends.c forks.c; do
    name=${program%.*}
    build "$name" "$program"
    instrumented "$name"
    run native "./$name"
    traced "$name"
    events_are_whole "$name"
    [[ -z $(find traces -name '*.ring') ]] || fail "$name: a ring was left"
done

# Handlers that leave by longjmp interrupt hooks that have counted a call and not written its event.
for name in jumps signals; do
    build "$name" "$name.c"
    instrumented "$name"
    run native "./$name"
    traced "$name"
    lost=$(($(summed entries) + $(summed exits) - $(event entries) - $(event exits) - $(event dropped)))
    echo "$name: $lost of $(summed entries) calls without an event, $(event dropped) events dropped"
    ((lost * 1000 < $(summed entries))) || fail "$name: $lost events are missing"
done

build crowd crowd.c
instrumented crowd
run native ./crowd ending 2000
service_options=(--ring-size=1M)
traced crowd ending 2000
equal "a small ring: events and losses" $(($(event entries) + $(event exits) + $(event dropped))) \
    $(($(summed entries) + $(summed exits)))

# A program of 7 million calls against a limit on disk.
cat >many.c <<'END'
__attribute__((noipa)) int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
int main(void) { return f(32) == 2178309 ? 0 : 1; }
END
gcc -O1 -g -o native/many many.c
instrumented many
run native ./many
calls=7049155
for policy in "" --keep-newest; do
    service_options=(--max-events-size=1M $policy)
    traced many
    equal "limit $policy: all calls" "$(calls_of f)" "$calls"
    size=$(cat traces/*.events* | wc -c)
    ((size <= 1100000)) || fail "limit $policy: $size bytes on disk"
    lost=$(($(event dropped) + $(event gone)))
    ((lost > 0)) || fail "limit $policy: nothing was lost"
    equal "limit $policy: events and losses" \
        $(($(event entries) + $(event exits) + lost)) $(($(summed entries) + $(summed exits)))
    echo "limit $policy: $(event entries) of $calls entries kept, in $size bytes"
done
