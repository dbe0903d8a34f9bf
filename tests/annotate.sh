#!/bin/bash
# callgrind_annotate reads what is written for it: of several threads and processes, it finds all that
# the summary has, once, and nothing malformed, with --merge. --split gives it a file for each thread.
# needs: g++ valgrind
. "$(dirname "$0")/lib.sh"

# annotated FILE: what callgrind_annotate prints; nothing is malformed, and its shares are of the total
annotated()
{
    callgrind_annotate --threshold=100 --auto=no "$1" >annotated 2>&1 ||
        { cat annotated >&2; fail "callgrind_annotate does not read $1"; }
    ! grep -Ei 'malformed|warning' annotated || fail "callgrind_annotate complains of $1"
    ! grep -E '\(([2-9][0-9]{2}|1[0-9]{2}\.[0-9]*[1-9]|10[1-9])[0-9.]*%\)' annotated ||
        fail "more than 100% of $1"
}

# total_of: of the last annotated: its ns and calls; waits, of samples, stand between these
total_of()
{
    sed -E -n 's/ \([ 0-9.]*%\)//g; s/^ *([0-9,]+)( +[0-9,]+)? +([0-9,]+) +PROGRAM TOTALS.*/\1 \3/p' annotated | tr -d ,
}

# functions_of: what its functions add up to
functions_of()
{
    sed 's/([ 0-9.]*%)//g' annotated | awk '
        / file:function$/ { inside = 1; next }
        inside && $1 ~ /^[0-9,.]+$/ { gsub(",", ""); ns += $1; calls += $3 ~ /^[0-9]+$/ ? $3 : $2 }
        END { printf "%d %d\n", ns, calls }'
}

# all_of_it: the total of the last annotated, and of its functions, is the summary's
all_of_it()
{
    equal "$1: the total" "$(total_of)" "$whole"
    equal "$1: its functions" "$(functions_of)" "$whole"
}

# taken NAME ARGUMENT…: records it, and has callgrind_annotate read each way of writing it
taken()
{
    local part ns=0 calls=0
    recorded "$@"
    grinder --mode=summary traces >summary
    whole=$(sed -n 's/^totals: \([0-9]*\) ns \([0-9]*\) calls .*/\1 \2/p' summary)
    grinder --mode=profile --merge --output-file=one traces
    equal "$1: parts of the one file" "$(grep -c '^events:' one)" 1
    annotated one
    all_of_it "$1"
    rm -f many-*
    grinder --mode=profile --split --output-file=many traces
    (($(ls many-* | wc -l) > 1)) || fail "$1: of several threads there is one file"
    for part in many-*; do
        annotated "$part"
        read -r ns_of calls_of < <(total_of)
        ns=$((ns + ns_of)) calls=$((calls + calls_of))
    done
    equal "$1: the total of all files" "$ns $calls" "$whole"
    # as KCachegrind takes it
    grinder --mode=profile --output-file=parts traces
    equal "$1: parts" "$(grep -c '^events:' parts)" "$(ls many-* | wc -l)"
}

build formats formats.cpp -O1
instrumented formats
taken formats 200 20

build crowd crowd_of_50.c
instrumented crowd
taken crowd
contains annotated 'file:function'
equal "calls of work" "$(calls_of work one)" $((50 * 100))

# The same by the front, whose file lies in the recording.
umbra record --output=umbra.data -- native/formats 200 20 >said 2>&1
umbra report --merge --output-format=callgrind umbra.data >said
umbra report --text --merge umbra.data >summary
whole=$(sed -n 's/^totals: \([0-9]*\) ns \([0-9]*\) calls .*/\1 \2/p' summary)
annotated "$(<said)"
all_of_it "umbra report"
