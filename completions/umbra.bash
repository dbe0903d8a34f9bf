# Completion for umbra, instrument, call_trace_service and grinder. Each says itself what it has: --print-verbs, and
# --print-options, with a verb or a mode behind it. The lines are drawn in support/command_line.h.

# _umbra_lines COMMAND: the options of what was typed so far
_umbra_lines()
{
    local asked=() i
    case ${1##*/} in
        umbra | call_trace_service) [[ ${COMP_WORDS[1]} == -* ]] || asked=("${COMP_WORDS[1]}") ;;
        grinder)
            for ((i = 1; i + 2 < COMP_CWORD; i++)); do
                [[ ${COMP_WORDS[*]:i:2} != '--mode =' ]] || asked=("--mode=${COMP_WORDS[i + 2]}")
            done ;;
    esac
    "$1" --print-options "${asked[@]}" 2>/dev/null
}

# _umbra_values COMMAND OPTION: what may stand behind it: words, or FILE or FOLDER
_umbra_values()
{
    _umbra_lines "$1" | awk -F '\t' -v option="$2" '$1 == option || $1 == option "=" { print $2; exit }'
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
    local tool=${1##*/} verb=${COMP_WORDS[1]} program
    COMPREPLY=()
    if [[ $tool == umbra && $verb == @(record|bisect) ]] && _umbra_find_program; then
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
        _umbra_take "$(_umbra_values "$command" "$option")" "$word"
    elif [[ $tool == umbra && $COMP_CWORD == 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --print-verbs | cut -f 1) help --help --version" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_umbra_lines "$command" | cut -f 1)" -- "$word")
        if [[ ${COMPREPLY[*]} == *= ]]; then
            compopt -o nospace 2>/dev/null || true
        fi
    elif [[ $tool == call_trace_service && $COMP_CWORD == 1 || $tool == umbra && $verb == help && $COMP_CWORD == 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --print-verbs | cut -f 1)" -- "$word")
    elif [[ $tool == umbra && $verb == @(report|top|diff|ls) ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    fi
}

complete -o default -F _umbra umbra instrument call_trace_service grinder
