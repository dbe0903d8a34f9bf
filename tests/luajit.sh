#!/bin/bash
# LuaJIT: what its traces call is recorded, below an instrumented luajit and below one as it is, and
# samples/jit/perf_map.lua gives the callers names.
# needs: luajit
. "$(dirname "$0")/lib.sh"

build liblooped.so looped.c -shared -fPIC
instrumented liblooped.so
for folder in native instrumented; do
    cp "$TESTS/programs/traces.lua" "$folder/"
done

cp -L "$(command -v luajit)" native/luajit
instrumented luajit
recorded luajit traces.lua
(($(calls_of twice) > 1009000)) || fail "only $(calls_of twice) calls of twice"
(($(summed entries) > 1500000)) || fail "only $(summed entries) calls"

cp native/luajit instrumented/luajit
export LUA_PATH="$TESTS/../samples/?.lua;;"
record luajit -jperf_map traces.lua
map=/tmp/perf-$(sed -n 's/^process \([0-9]*\) .*/\1/p' summary).map
trap 'status=$?; rm -f "$map"; set +e; (exit $status); end_of_script' EXIT
grinder --mode=profile --merge --output-format=tsv-edges --output-file=edges traces
named=$(awk -F '\t' '$4 ~ /^Lua:loop / && $6 == "twice" { sum += $10 } END { print sum + 0 }' edges)
echo "$named calls from a trace of loop"
((named > 900000)) || fail "callers of twice: $(grep twice edges)"
contains edges '	Lua:loop traces\.lua:6:1	.*	twice	'
