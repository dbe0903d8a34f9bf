#!/bin/bash
# Manual pages and completion have the options that --help lists, and no others.
# needs: mandoc
. "$(dirname "$0")/lib.sh"

declare -A tools=([instrument]=rewriter/instrument [grinder]=grinder/grinder
    [call_trace_service]=service/call_trace_service [umbra]=front/umbra)

# The long options at the beginnings of lines, of --mode and the like one.
helped()
{
    "$BUILD/${tools[$1]}" --help |
        grep -oE '^ {2,}(-., )?--[a-z-]+(, --[a-z-]+)?' | grep -oE -- '--[a-z-]+' | sort -u
}

described()
{
    grep -E '^\.It .*Fl -' "$TESTS/../docs/man/$1.1" | grep -oE 'Fl -[a-z-]+' |
        sed 's/^Fl -/--/' | sort -u
}

# completed TOOL WORD…: what the last word completes to
completed()
{
    (
        . "$TESTS/../completions/umbra.bash"
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        PATH=$BUILD/$(dirname "${tools[$1]}"):$PATH
        _umbra "$1"
        printf '%s\n' "${COMPREPLY[@]}" | sort
    )
}

for tool in "${!tools[@]}"; do
    mandoc -Tlint -Wwarning "$TESTS/../docs/man/$tool.1" >lint || fail "$tool.1: $(<lint)"
    helped "$tool" >in_help
    (($(wc -l <in_help) > 5)) || fail "--help of $tool lists nothing"
    described "$tool" >in_manual
    diff in_help in_manual || fail "$tool.1 (>) has other options than --help (<)"
    completed "$tool" -- | sed 's/=$//' | sort -u >in_completion
    diff in_help in_completion || fail "the completion (>) has other options than --help (<)"
done

equal "verbs" "$(completed call_trace_service s | paste -sd' ')" \
    "snapshot spawn start status stop"
equal "verbs of umbra" "$(completed umbra r | paste -sd' ')" "record report"
equal "modes" "$(completed grinder --mode = | paste -sd' ')" "diff profile report stack summary top"
equal "one option" "$(completed grinder --thres)" "--threshold="
equal "formats" "$(completed grinder --mode = diff --output-format = f | paste -sd' ')" \
    "flamegraph folded"
# Every value it offers is one that the grinder takes: it gets as far as the trace.
for mode in profile diff stack; do
    mapfile -t formats < <(completed grinder --mode = $mode --output-format =)
    ((${#formats[@]} >= 3)) || fail "--mode=$mode completes no formats"
    for format in "${formats[@]}"; do
        grinder --mode=$mode --output-format="$format" nosuch nosuch 2>problems || true
        contains problems '^grinder: nosuch: cannot be opened'
        contains "$TESTS/../docs/man/grinder.1" "^\.Cm $format( |$)"
    done
done
