# Completion for umbra, instrument, call_trace_service and grinder. Options are those that --help lists.

_umbra_options()
{
    "$1" --help 2>/dev/null |
        sed -nE 's/^ {2,}(-[^-], |)(--[a-z-]+)(, (--[a-z-]+))?(=?).*/\2\5 \4/p' | tr ' ' '\n'
}

_umbra_values()
{
    case $1 in
        --mode)
            if [[ ${COMP_WORDS[1]} == @(record|bisect) ]]; then
                echo profile calltrace
            else
                echo profile summary report diff stack top
            fi ;;
        --timing) echo adaptive exact samples none ;;
        --how) echo prologue copy auto ;;
        --children | --in-place) echo yes no ;;
        --weight) echo ns calls ;;
        --output-format)
            if [[ " ${COMP_WORDS[*]} " == *' --mode = diff '* ]]; then
                echo table tsv folded flamegraph
            elif [[ " ${COMP_WORDS[*]} " == *' --mode = stack '* ]]; then
                echo table tsv json
            else
                echo callgrind folded flamegraph pprof speedscope tsv tsv-edges json \
                    chrome perfetto firefox
            fi ;;
    esac
}

# Readline hands over --option=val as three words.
_umbra()
{
    local command=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option=
    COMPREPLY=()
    if [[ $word == = ]]; then
        option=$before word=
    elif [[ $before == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $option ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_umbra_values "$option")" -- "$word")
        if [[ $option == *-dir || $option == *-root ]]; then
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
        fi
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_umbra_options "$command")" -- "$word")
        if [[ ${COMPREPLY[*]} == *= ]]; then
            compopt -o nospace 2>/dev/null || true
        fi
    elif [[ ${command##*/} == call_trace_service && $COMP_CWORD == 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "start spawn stop status list top snapshot pause resume" -- "$word")
    elif [[ ${command##*/} == umbra && $COMP_CWORD == 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "record report top diff ls cache bisect" -- "$word")
    fi
}

complete -o default -F _umbra umbra instrument call_trace_service grinder
