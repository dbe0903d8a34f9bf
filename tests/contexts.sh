#!/bin/bash
# Ten million calling contexts in one thread: the tree stays within its limit, counts are exact, and
# the trace stays small. Contexts do not multiply by the places that a function calls another from, but
# the calls from each are told.
. "$(dirname "$0")/lib.sh"

build contexts contexts.c
instrumented contexts
run native ./contexts
for timing in exact adaptive; do
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing="$timing" \
        --node-limit=20000 --trace-dir="$work/traces" -- ./contexts
    cmp native.stdout instrumented.stdout
    balanced
    read -r many few first second <native.stdout
    equal "calls of descend, $timing" $(($(calls_of descend) + $(calls_of descend_right))) \
        $((many + few))
    (($(summed nodes) <= 20000 + 100)) || fail "$(summed nodes) nodes with a limit of 20000"
    by_copies && most=3000000 || most=2000000
    (($(stat -c %s traces/*.bin) < most)) || fail "the trace has $(stat -c %s traces/*.bin) bytes"
    echo "$timing: seconds with ten million contexts, with a thousand: $(<instrumented.stderr)"
done

# as many pairs of functions as there are, however few contexts
build pairs pairs.c
instrumented pairs
rm -rf traces
run native ./pairs
run instrumented "$BUILD/service/call_trace_service" start --node-limit=1 \
    --trace-dir="$work/traces" -- ./pairs
cmp native.stdout instrumented.stdout
balanced
equal "calls that were dropped" "$(summed dropped)" 0
((4096 <= $(summed folded))) || fail "$(summed folded) of 4,096 pairs were folded"
while read -r name calls; do
    equal "calls of $name" "$(calls_of "$name")" "$calls"
done <native.stdout

# Without a limit: as many contexts as there are depths.
instrumented contexts --overwrite --include=from_two_places
for timing in exact adaptive samples; do
    rm -rf traces ground
    run instrumented "$BUILD/service/call_trace_service" start --timing="$timing" --trace-dir="$work/traces" -- \
        ./contexts
    balanced
    equal "calls of from_two_places, $timing" "$(calls_of from_two_places)" $((1 + first + second))
    (($(summed nodes) < 100)) || fail "$timing: $(summed nodes) nodes for a recursion of depth 26"
    grinder --mode=profile --merge --output-format=callgrind --output-file=ground traces/*.bin
    for place in first second; do
        line=$(grep -n "/\* the $place place" "$TESTS/programs/contexts.c" | cut -d: -f1)
        # "calls=COUNT LINE", then "LINE COST": the first is where the callee begins
        equal "calls from the $place place, $timing" \
            "$(awk -v line="$line" '/^calls=/ { split($1, calls, "="); getline; if ($1 == line) sum += calls[2] } END { print sum }' ground)" \
            "${!place}"
    done
done
