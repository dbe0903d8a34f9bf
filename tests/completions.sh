#!/bin/bash
# bash, zsh and fish complete the verbs and options that the programs print for them, the values of these, and the
# recorded program's words as if it stood alone.
# needs: fish zsh
# seconds: 20
. "$(dirname "$0")/lib.sh"

completions=$(cd "$TESTS/../completions" && pwd)
export HOME=$work/home TERM=dumb
mkdir home some_folder
PATH=$BUILD/front:$BUILD/grinder:$BUILD/service:$BUILD/rewriter:$PATH

# by_bash WORD…: what the last word completes to; readline hands over --option=value as three words
by_bash()
{
    (
        . "$completions/umbra.bash"
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _umbra "$1"
        printf '%s\n' "${COMPREPLY[@]}"
    )
}

# completed_by SHELL LINE: what the last word of the line completes to, of values without what is in front of =
completed_by()
{
    local words line=$2
    case $1 in
        bash)
            line=${line//=/ = }
            read -ra words <<<"$line"
            [[ $line != *' ' || $line == *' = ' ]] || words+=('')
            by_bash "${words[@]}" ;;
        zsh) timeout 60 zsh -f "$TESTS/completions.zsh" "$completions" "$line" ;;
        fish)
            timeout 60 fish -c "source $completions/umbra.fish; complete -C '$line'" | cut -f 1 ;;
    esac | sed 's/^--.*=\(.\)/\1/' | sort -u
}

# completes LINE WORD…: every shell
completes()
{
    local shell
    for shell in bash zsh fish; do
        equal "$shell: $1" "$(completed_by $shell "$1" | sed 's/[=/]$//' | paste -sd' ')" "${*:2}"
    done
}

zsh -n "$completions/_umbra"
fish -n "$completions/umbra.fish"

completes 'umbra re' record report
completes 'umbra help r' record report
completes 'umbra ls --' --help --json --left --no-config --verbose --version
completes 'umbra record --how=' auto copy prologue samples
completes 'umbra record --count=' blocks instructions
completes 'umbra diff --output-format=t' table tsv
completes 'umbra record -o some' some_folder
completes 'umbra report some' some_folder
for line in 'umbra record mktem' 'umbra record -q -o x -- mktem' 'umbra bisect --how=copy mktem'; do
    completes "$line" mktemp
done
completes 'instrument --in' --include --instrument-imports
completes 'instrument --how=' auto copy prologue
completes 'grinder --pa' --path-map
completes 'grinder --mode=' coverage diff profile report stack summary top
completes 'grinder --mode=di' diff
completes 'grinder --mode=diff --output-format=f' flamegraph folded
completes 'grinder --mode=stack --output-format=t' table tsv
completes 'grinder --mode=diff --th' --thread --threshold
completes 'grinder --sort=' calls inclusive instructions p99 self wait
completes 'call_trace_service st' start status stop
completes 'call_trace_service start --mode=' calltrace profile samples
completes 'call_trace_service status --' --help --instance-id --json --version
completes 'call_trace_service --once' --once
for shell in zsh fish; do
    equal "$shell: all verbs" "$(completed_by $shell 'umbra ' | paste -sd' ')" \
        'bisect cache diff help ls record report top'
    equal "$shell: what may be anything" "$(completed_by $shell 'umbra record --leave=')" ''
    for line in 'umbra record -- umbra ls --le' 'umbra record -o x umbra ls --le'; do
        equal "$shell: $line" "$(completed_by $shell "$line")" --left
    done
done
equal 'bash: all verbs' "$(completed_by bash 'umbra ' | paste -sd' ')" \
    '--help --version bisect cache diff help ls record report top'
equal 'bash: what is not finished' "$(completed_by bash 'grinder --thres')" --threshold=
