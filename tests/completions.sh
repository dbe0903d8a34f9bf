#!/bin/bash
# zsh and fish complete what umbra VERB --help lists, verb by verb, and the recorded program's words as if it
# stood alone. tests/manuals.sh asks bash for the same.
# needs: fish zsh
# seconds: 20
. "$(dirname "$0")/lib.sh"

completions=$(cd "$TESTS/../completions" && pwd)
export HOME=$work/home TERM=dumb
mkdir home some_folder
PATH=$BUILD/front:$BUILD/grinder:$BUILD/service:$BUILD/rewriter:$PATH

# completed_by SHELL LINE: what the last word of the line completes to
completed_by()
{
    case $1 in
        zsh) timeout 60 zsh -f "$TESTS/completions.zsh" "$completions" "$2" ;;
        fish)
            timeout 60 fish -c "source $completions/umbra.fish; complete -C '$2'" |
                cut -f 1 | sort -u ;;
    esac
}

# helped VERB: the long options of its page
helped()
{
    umbra "$1" --help | grep -oE '^ {2,}(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u
}

zsh -n "$completions/_umbra"
fish -n "$completions/umbra.fish"
for shell in zsh fish; do
    echo "-- $shell"
    for verb in record report top diff ls cache bisect; do
        completed_by $shell "umbra $verb --" | sed 's/=$//' >completed
        helped $verb >in_help
        diff in_help completed || fail "$shell: $verb completes to other options (>) than --help has (<)"
    done
    equal "$shell: verbs" "$(completed_by $shell 'umbra ' | paste -sd' ')" \
        'bisect cache diff help ls record report top'
    equal "$shell: verbs to be helped with" "$(completed_by $shell 'umbra help r' | paste -sd' ')" 'record report'
    equal "$shell: values" "$(completed_by $shell 'umbra record --how=' | sed 's/.*=//' | paste -sd' ')" \
        'auto copy prologue samples'
    equal "$shell: formats" "$(completed_by $shell 'umbra diff --output-format=t' | sed 's/.*=//' | paste -sd' ')" \
        'table tsv'
    equal "$shell: what may be anything" "$(completed_by $shell 'umbra record --leave=')" ''
    equal "$shell: folders" "$(completed_by $shell 'umbra record -o some' | tr -d /)" some_folder
    equal "$shell: recordings" "$(completed_by $shell 'umbra report some' | tr -d /)" some_folder
    for line in 'umbra record mktem' 'umbra record -q -o x -- mktem' 'umbra bisect --how=copy mktem'; do
        equal "$shell: $line" "$(completed_by $shell "$line")" mktemp
    done
    for line in 'umbra record -- umbra ls --le' 'umbra record -o x umbra ls --le'; do
        equal "$shell: $line" "$(completed_by $shell "$line")" --left
    done
    completed_by $shell 'grinder --pa' >completed
    contains completed '^--path-map=?$'
    equal "$shell: the service's verbs" "$(completed_by $shell 'call_trace_service st' | paste -sd' ')" \
        'start status stop'
done
