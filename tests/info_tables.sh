#!/bin/bash
# Code as GHC makes it is jumped to, and what lies in front of it is read: it is not hooked, with
# or without names. C in the same program is. tests/long/haskell.sh has GHC itself.
. "$(dirname "$0")/lib.sh"
shopt -s extglob

# check NAME: what does not depend on names
check()
{
    instrumented "$1"
    instrument --verify "instrumented/$1" >/dev/null
    recorded "$1"
    contains native.stdout '^1060$'
    equal "$1: unwound" "$(summed unwound)" 0
}

for how in -pie -static-pie; do
    build named info_tables.c info_tables_amd64.S $how
    check named
    for function in jumps_info stg_tiny_info continued; do
        equal "$how: $function" "$(state_of $function named)" "skipped info-table"
    done
    equal "$how: run" "$(state_of run named | cut -d ' ' -f 1)" hooked
    equal "$how: calls of run" "$(calls_of run)" 340
    equal "$how: calls of check" "$(calls_of check)" 340
    strip native/named -o native/stripped
    check stripped
    contains <(instrument --list native/stripped) $'\tinfo-table\t'
    begin=$(nm native/named | awk '$3 == "back" { print $1 }')
    end=$(nm native/named | awk '$3 == "continued" { print $1 }')
    equal "$how: hooked without names" "$(instrument --list native/stripped |
        awk -F '\t' -v begin="0x${begin##*(0)}" -v end="0x${end##*(0)}" '
            $3 == "hooked" && length($1) == length(end) && $1 >= begin && $1 <= end')" ""
done
