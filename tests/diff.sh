#!/bin/bash
# --mode=diff: what changed between two recordings, by name, or by code where there are no names; and
# as a gate, by its exit status.
# needs: gawk libxml2-utils
. "$(dirname "$0")/lib.sh"

# recording NAME: instruments and records native/NAME into the folder NAME
recording()
{
    instrumented "$1"
    (cd instrumented && call_trace_service start --timing=adaptive --trace-dir="$work/$1" -- "./$1")
}

# diff_status STATUS ARGUMENT…: leaves changes and problems
diff_status()
{
    local wanted=$1 status=0
    shift
    grinder --mode=diff "$@" >changes 2>problems || status=$?
    equal "status of $*" "$status" "$wanted"
}

# row FUNCTION: its calls before and after and their change
row()
{
    gawk -F '\t' -v name="$1" '$1 == name { print $3, $4, $5 }' changes
}

sum_of()
{
    gawk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
        { sum += $column } END { printf "%d\n", sum }' changes
}

totals()
{
    grinder --mode=summary "$1" | sed -n 's/^totals: \([0-9]*\) ns \([0-9]*\) calls .*/\1 \2/p'
}

build first versions.c
build second versions.c -DSECOND
recording first
recording second

diff_status 0 --weight=calls first second
equal "calls of mixed" "$(row mixed)" "100 110 10"
equal "calls of added" "$(row added)" "0 10 10"
equal "calls of main" "$(row main)" "1 1 0"
equal "the largest change comes first" "$(sed -n '2,3s/\t.*//p' changes | sort | paste -sd' ')" \
    "added mixed"
equal "the first recording's sums" "$(sum_of self_ns_before) $(sum_of calls_before)" \
    "$(totals first)"
equal "the second one's" "$(sum_of self_ns_after) $(sum_of calls_after)" "$(totals second)"

# 20 calls more than about 107: more than 15 %, less than 25 % of them.
diff_status 1 --weight=calls --threshold=15 first second
diff_status 0 --weight=calls --threshold=25 first second
diff_status 1 --weight=calls --threshold=0 second first
diff_status 0 --weight=calls --threshold=0 first first
diff_status 0 --threshold=0 first/*.bin first/*.bin
diff_status 1 --threshold=0 --output-file=kept first second
contains kept '^mixed'

# What is wrong has a status of its own.
diff_status 2 first nowhere
diff_status 2 --threshold=0 first work/nowhere.bin
mkdir empty
diff_status 2 --threshold=0 first empty
contains problems 'empty: expected a trace file or a folder with traces, found no \.bin in it'
diff_status 2 first
contains problems 'expected 2 recordings, found 1'
diff_status 2 --threshold=-1 first second
diff_status 2 --again=first first second
contains problems '--again is for --weight=calls and instructions'
diff_status 2 --threshold=0 --output-file=nowhere/kept first second
diff_status 2 --output-format=pprof first second

# A table, for people.
diff_status 0 --output-format=table --top=1 --weight=calls first second
# Times of a few nanoseconds may be the same in both: then a line more counts what did not change.
equal "lines of the table" "$(grep -Evc '^[0-9]+ that did not change$' changes)" 5
contains changes '^    [-+][0-9,]+ in .* > '
contains changes '^ +100 +110 +\+10 .* mixed$|^ +0 +10 +\+10 .* added$'
contains changes '\(all\)$'
equal "rows without a change" "$(grep -c ' same .* same .*[^)]$' changes)" 0
(($(awk '{ print length($0) - length($NF) }' changes | sort -n | tail -n 1) < 80)) || fail "wide: $(<changes)"
diff_status 0 --output-format=table first first
equal "of one recording" "$(sed '1d; s/^ .*  //' changes)" "$(gawk 'END { print NR }' <(grinder --mode=diff first first | sed 1d)) that did not change
(all)"

# Samples are no calls: where one recording counts these and the other those, only times are beside each other.
if (cd native && call_trace_service start --mode=samples --trace-dir="$work/sampled" -- ./second) 2>problems; then
    diff_status 0 --output-format=table first sampled
    contains changes '^ +self +after +change +of (all|CPU) +function$'
    diff_status 0 first sampled
    equal "counts of both" "$(gawk -F '\t' 'NR > 1 && $3 $4 $5 != ""' changes)" ""
    equal "bounds of chance, of times that are no samples" "$(gawk -F '\t' 'NR > 1 && $12 != ""' changes)" ""

    # What two self times may differ by: 2 sqrt(2 n) samples where both have n of a millisecond.
    call_trace_service start --mode=samples --trace-dir="$work/long" -- gawk 'BEGIN { while (i < 2000000) i++ }'
    diff_status 0 long long
    gawk -F '\t' 'NR > 1 { expected = 2 * sqrt(2 * $3) * ($3 ? $6 / $3 : 0)
        if ($12 < expected - 1 || $12 > expected + 1) exit 1
        sum += $12 } END { exit sum == 0 }' changes || fail "the bounds of chance: $(<changes)"
fi

# By stacks.
diff_status 0 --output-format=folded --weight=calls first second
contains changes '^main;mixed 100 110$'
contains changes '^main;added 0 10$'
diff_status 0 --output-format=flamegraph --weight=calls first second
xmllint --noout changes
tr '\n' ' ' <changes >line
contains line '<title>mixed [0-9]+ ns, 110 calls \([0-9.]+%\) itself [0-9]+ ns, 110 calls before [0-9]+ ns, 100 calls</title>'

# Without symbols, functions whose bytes are the same match wherever they are.
strip -s -o native/first.stripped native/first
strip -s -o native/second.stripped native/second
recording first.stripped
recording second.stripped
diff_status 0 --weight=calls first.stripped second.stripped
equal "mixed, without a name" "$(gawk -F '\t' '$3 == 100 && $4 == 110' changes | wc -l)" 1
equal "added, without a name" "$(gawk -F '\t' '$3 == 0 && $4 == 10' changes | wc -l)" 1
address()
{
    nm "native/$1" | gawk '$3 == "mixed" { print $1 }'
}
[[ $(address first) != "$(address second)" ]] || fail "mixed has not moved"

# A manifest whose program is damaged is no reason to match.
offset=$((16#$(address second) + 12)) # behind what is patched; as far into the file
printf 'X' | dd of=instrumented/second.stripped bs=1 seek="$offset" conv=notrunc status=none
diff_status 0 --weight=calls first.stripped second.stripped
equal "mixed, of a damaged file" "$(gawk -F '\t' '$3 == 100 && $4 == 110' changes | wc -l)" 0
