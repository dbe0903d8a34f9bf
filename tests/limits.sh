#!/bin/bash
# Whatever the timing and however few contexts a thread may have, times add up to no more than the thread's wall
# clock, a function's own is no more than its inclusive time, and that no more than the sum.
# needs: lua5.4
. "$(dirname "$0")/lib.sh"

cat >work.lua <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 60000 do
    local j = i % 977
    words[j] = #(words[j] or '') > 40 and '' or (words[j] or '') .. string.char(65 + i % 26)
end
table.sort(words)
print(fib(24), #table.concat(words))
print(pcall(function() for i = 1, 2000 do pcall(error, i) end error('last') end))
END
cp /usr/bin/lua5.4 native/lua
build tail_calls tail_calls.c -w
build carried carried.c -w

# bounded WHAT: each trace's figures are within its thread's time
bounded()
{
    local trace
    for trace in traces/*.bin; do
        grinder --mode=summary "$trace" >summary
        grinder --mode=profile --output-format=tsv --output-file=functions "$trace"
        awk -F '\t' -v what="$1" -v seconds="$(awk '$1 == "duration" { print $2 }' summary)" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["self_ns"] > $at["total_ns"] {
                print what ": " $at["function"] " has more itself than with what it calls"; bad = 1
            }
            { sum[$at["tid"]] += $at["self_ns"] }
            $at["total_ns"] > most[$at["tid"]] { most[$at["tid"]] = $at["total_ns"] }
            END {
                for (tid in sum) {
                    if (sum[tid] > seconds * 1.01e9 + 1e6) {
                        printf "%s: %d ns in a thread of %s s\n", what, sum[tid], seconds; bad = 1
                    }
                    if (most[tid] > sum[tid] + 10) {
                        printf "%s: %d ns of %d in one function\n", what, most[tid], sum[tid]; bad = 1
                    }
                }
                exit bad
            }' functions >bad || fail "$(<bad)"
    done
}

for how in auto prologue; do
    for program in lua tail_calls carried; do
        instrumented $program --overwrite --how=$how
    done
    for timing in samples adaptive exact; do
        for limit in 100 1000 1048576; do
            SERVICE_OPTIONS="--timing=$timing --node-limit=$limit"
            cp work.lua native
            cp work.lua instrumented
            recorded lua work.lua
            bounded "lua, $how, $timing, $limit contexts"
            recorded tail_calls
            bounded "tail_calls, $how, $timing, $limit contexts"
            recorded carried
            bounded "carried, $how, $timing, $limit contexts"
        done
    done
done
