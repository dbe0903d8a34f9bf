#!/bin/bash
# Programs that forbid themselves system calls by a filter of their own go on as they do natively:
# the agent makes none that the filter forbids, and what it cannot record is counted.
. "$(dirname "$0")/lib.sh"

build own_filters own_filters.c
instrumented own_filters

# lost: calls that were passed through and counted
lost()
{
    local outside
    outside=$(sed -n 's|^ *skipped  *\([0-9]*\) calls in threads.*|\1|p' summary)
    echo $(($(summed skipped) + $(summed dropped) + ${outside:-0}))
}

for how in sshd service browser few strict; do
    for by in "" syscall exec; do
        [[ $by != exec || $how == service ]] || continue # the others forbid it
        # shellcheck disable=SC2086
        recorded own_filters $how $by
        equal "$how $by, natively" "$(<native.status)" 0
        deep=2001
        [[ $how == browser || $how == service ]] && deep=2904
        is=$(calls_of deep)
        echo "$how $by: $is of $deep deep calls recorded, $(lost) lost in all"
        if [[ $how == strict ]]; then deep=0; else ((is + $(lost) >= deep)) || fail "$how: calls were lost without a word"; fi
        [[ $how == few ]] || equal "$how: calls of deep" "$is" "$deep"
    done
done
