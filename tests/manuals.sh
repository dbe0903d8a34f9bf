#!/bin/bash
# Manual pages and completion have the options that --help lists, and no others. Of umbra these are pages for each
# verb; what they name of the grinder is explained by grinder(1).
# needs: mandoc
. "$(dirname "$0")/lib.sh"

declare -A tools=([instrument]=rewriter/instrument [grinder]=grinder/grinder
    [call_trace_service]=service/call_trace_service [umbra]=front/umbra)

umbra_verbs=(record report top diff ls cache bisect)

# The long options at the beginnings of a help's lines, of --mode and the like one.
long_options()
{
    grep -oE '^ {2,}(-., )?--[a-z-]+(, --[a-z-]+)?' | grep -oE -- '--[a-z-]+' | sort -u
}

# helped TOOL
helped()
{
    local verb
    if [[ $1 != umbra ]]; then
        "$BUILD/${tools[$1]}" --help | long_options
        return
    fi
    for verb in "${umbra_verbs[@]}"; do
        umbra "$verb" --help | sed '/^Of the grinder/,$d'
    done | long_options
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
    for option in --version -V; do
        "$BUILD/${tools[$tool]}" $option >line
        contains line "^$tool (\(umbra\) )?[0-9]+\.[0-9]+\.[0-9]+\$"
        equal "$tool $option: lines" "$(wc -l <line)" 1
    done
    mandoc -Tlint -Wwarning "$TESTS/../docs/man/$tool.1" >lint || fail "$tool.1: $(<lint)"
    helped "$tool" >in_help
    (($(wc -l <in_help) > 5)) || fail "--help of $tool lists nothing"
    described "$tool" >in_manual
    diff in_help in_manual || fail "$tool.1 (>) has other options than --help (<)"
    [[ $tool == umbra ]] && continue
    completed "$tool" -- | sed 's/=$//' | sort -u >in_completion
    diff in_help in_completion || fail "the completion (>) has other options than --help (<)"
done
helped grinder >of_grinder
for verb in "${umbra_verbs[@]}"; do
    umbra "$verb" --help >page
    long_options <page >in_help
    completed umbra "$verb" -- | sed 's/=$//' | sort -u >in_completion
    diff in_help in_completion || fail "$verb: the completion (>) has other options than --help (<)"
    sed '1,/^Of the grinder/d' page >rest
    [[ ! -s rest ]] || long_options <rest | comm -23 - of_grinder >unknown
    [[ ! -s unknown ]] || fail "umbra $verb --help: the grinder has no $(<unknown)"
done

equal "verbs" "$(completed call_trace_service s | paste -sd' ')" \
    "snapshot spawn start status stop"
equal "verbs of umbra" "$(completed umbra r | paste -sd' ')" "record report"
equal "verbs of umbra help" "$(completed umbra help r | paste -sd' ')" "record report"
equal "all verbs" "$(completed umbra '' | grep -v help)" "$(printf '%s\n' --version "${umbra_verbs[@]}" | sort)"
equal "ways" "$(completed umbra record --how = | paste -sd' ')" "auto copy prologue samples"
equal "modes of record" "$(completed umbra record --mode = c)" calltrace
equal "of the program" "$(completed umbra record -- x --)" ""
mkdir some_folder
equal "folders" "$(completed umbra record -o some)" some_folder
equal "recordings" "$(completed umbra report some)" some_folder
contains <(completed umbra record --quiet -- mktem) '^mktemp$'
equal "modes" "$(completed grinder --mode = | paste -sd' ')" "diff profile report stack summary top"
equal "one option" "$(completed grinder --thres)" "--threshold="
equal "formats" "$(completed grinder --mode = diff --output-format = f | paste -sd' ')" \
    "flamegraph folded"
for order in $(completed grinder --sort =); do
    grinder --mode=summary --sort="$order" nosuch 2>problems || true
    contains problems '^grinder: nosuch: '
done
equal "orders" "$(completed grinder --sort = | paste -sd' ')" "calls inclusive p99 self wait"
# Every value it offers is one that the grinder takes: it gets as far as the trace.
equal "formats of umbra report" "$(completed umbra report --output-format =)" \
    "$(completed grinder --mode = profile --output-format =)"
equal "formats of umbra diff" "$(completed umbra diff --output-format =)" \
    "$(completed grinder --mode = diff --output-format =)"
for mode in profile diff stack; do
    mapfile -t formats < <(completed grinder --mode = $mode --output-format =)
    ((${#formats[@]} >= 3)) || fail "--mode=$mode completes no formats"
    for format in "${formats[@]}"; do
        grinder --mode=$mode --output-format="$format" nosuch nosuch 2>problems || true
        contains problems '^grinder: nosuch: cannot be opened'
        contains "$TESTS/../docs/man/grinder.1" "^\.Cm $format( |$)"
    done
done
