#!/bin/bash
# What a program does after it was attached to has the tree of calls of the same program instrumented beforehand,
# its libraries as well: recursion, callbacks, exceptions, longjmp, and what the libraries call for these.
# needs: g++
# seconds: 20
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

turned()
{
    kill -USR1 "$pid"
    until grep -q '^turn 1' said; do
        kill -0 "$pid" || fail "it ended"
        sleep 0.01
    done
}

in_mid_run()
{
    runs ./native/attached_tree
    attached --timing="$1"
    turned
    detached
    kill "$pid"
}

beforehand()
{
    call_trace_service start --instance-id=beforehand --trace-dir=instrumented.traces --timing="$1" 2>service.log &
    until [[ -S run/umbra/beforehand.socket ]]; do sleep 0.01; done
    runs env UMBRA_INSTANCE_ID=beforehand LD_LIBRARY_PATH="$work/libraries" ./instrumented/attached_tree
    turned
    kill "$pid"
    wait "${started[-1]}"
    kill "$(<run/umbra/beforehand.lock)"
    wait
}

# tree TRACE…: of a turn, a line for each context. What libgcc calls to find tables of frames is no part of it: who is
# attached to has those of thunks elsewhere.
tree()
{
    local of_unwinder="_dl_find_object|[_a-z]*strlen[_0-9a-z]*"
    grinder --mode=profile --output-format=folded --weight=calls --output-file=folded "$@"
    sed -nE 's/[.]so[.0-9]*!/!/g; s/^.*;turn\(\);/turn();/p' folded |
        grep -vE ";(__cxa_throw|throws\(int\));($of_unwinder)[ ;]" | sort
}

build attached_tree attached_tree.cpp -O1
ldd native/attached_tree | awk '/=> \// && !/libgcc_s/ { print $3 }' >files
mkdir libraries
while read -r file; do
    instrument "$file" -o "libraries/$(basename "$file")" --how=prologue -q
done <files
instrumented attached_tree --how=prologue

for timing in adaptive exact none samples; do
    rm -rf traces instrumented.traces
    in_mid_run $timing
    beforehand $timing
    tree traces/*.bin >found
    tree instrumented.traces/*-"$pid"-*.bin >expected
    diff expected found >differences || { head -n 40 differences >&2; fail "the trees differ, $timing"; }
    for call in 'fib\(int\);fib' '__cxa_throw' 'by_value' 'jumps\(int\);jumps' 'odd\(int\);even' 'sorts.*malloc'; do
        contains found "$call"
    done
done
