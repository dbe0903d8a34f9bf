# Completion for umbra, instrument, call_trace_service and grinder. umbra itself says what a verb has; options of
# the others are those that --help lists.

# _umbra_options COMMAND VERB
_umbra_options()
{
    if [[ ${1##*/} == umbra ]]; then
        "$1" --print-options "$2" 2>/dev/null | cut -f 1
    else
        "$1" --help 2>/dev/null |
            sed -nE 's/^ {2,}(-[^-], |)(--[a-z-]+)(, (--[a-z-]+))?(=?).*/\2\5 \4/p' | tr ' ' '\n'
    fi
}

# _umbra_values COMMAND VERB OPTION: what may stand behind it: words, or FILE or FOLDER
_umbra_values()
{
    if [[ ${1##*/} == umbra ]]; then
        "$1" --print-options "$2" 2>/dev/null |
            awk -F '\t' -v option="$3" '$1 == option || $1 == option "=" { print $2; exit }'
        return
    fi
    case $3 in
        --mode)
            if [[ ${1##*/} == grinder ]]; then
                echo profile summary report diff stack top
            else
                echo profile calltrace samples
            fi ;;
        --timing) echo adaptive exact samples none ;;
        --how) if [[ ${1##*/} == umbra ]]; then echo prologue copy auto samples; else echo prologue copy auto; fi ;;
        --weight) echo ns calls ;;
        --sort) echo self inclusive calls wait p99 ;;
        --output-format)
            if [[ " ${COMP_WORDS[*]} " == *' --mode = diff '* ]]; then
                echo table tsv folded flamegraph
            elif [[ " ${COMP_WORDS[*]} " == *' --mode = stack '* ]]; then
                echo table tsv json
            else
                echo callgrind folded flamegraph pprof speedscope tsv tsv-edges json \
                    chrome perfetto firefox
            fi ;;
        *-dir | *-root) echo FOLDER ;;
    esac
}

# _umbra_take VALUES WORD: offers what they are
_umbra_take()
{
    case $1 in
        FOLDER) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
        FILE) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
        *[[:upper:]]* | -) ;; # a number, a pattern; none
        *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
    esac
}

# Of umbra record and bisect: sets program to the place of the program's name; returns 1 before that.
_umbra_find_program()
{
    for ((program = 2; program <= COMP_CWORD; program++)); do
        case ${COMP_WORDS[program]} in
            --) ((program++ < COMP_CWORD)); return ;;
            = | -[oF]) ((program++)) ;;
            -*) ;;
            *) return 0 ;;
        esac
    done
    return 1
}

# Readline hands over --option=val as three words.
_umbra()
{
    local command=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option=
    local verb=${COMP_WORDS[1]} program
    COMPREPLY=()
    if [[ ${command##*/} == umbra && $verb == @(record|bisect) ]] && _umbra_find_program; then
        if ((program == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        elif declare -F _command_offset >/dev/null; then
            _command_offset "$program"
        fi
        return
    fi
    if [[ $word == = ]]; then
        option=$before word=
    elif [[ $before == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $before == -o ]]; then
        option=$before
    fi
    if [[ $option ]]; then
        _umbra_take "$(_umbra_values "$command" "$verb" "$option")" "$word"
    elif [[ ${command##*/} == umbra && $COMP_CWORD == 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --print-options | cut -f 1) help --help --version" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_umbra_options "$command" "$verb")" -- "$word")
        if [[ ${COMPREPLY[*]} == *= ]]; then
            compopt -o nospace 2>/dev/null || true
        fi
    elif [[ ${command##*/} == call_trace_service && $COMP_CWORD == 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "start spawn stop status list top snapshot pause resume" -- "$word")
    elif [[ ${command##*/} == umbra && $verb == help && $COMP_CWORD == 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --print-options | cut -f 1)" -- "$word")
    elif [[ ${command##*/} == umbra && $verb == @(report|top|diff|ls) ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    fi
}

complete -o default -F _umbra umbra instrument call_trace_service grinder
