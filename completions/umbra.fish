# Completion for umbra, instrument, call_trace_service and grinder. Each says itself what it has: --print-verbs, and
# --print-options, with a verb or a mode behind it. The lines are drawn in support/command_line.h.

# Whether that verb was typed, and no program yet whose words these would be.
function __umbra_verb
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"; or return 1
    contains -- $argv[1] record bisect; or return 0
    not __umbra_has_program
end

# Whether the words of a program have begun, behind those of umbra record or bisect.
function __umbra_has_program
    set -l words (commandline -opc)
    contains -- "$words[2]" record bisect; or return 1
    set -l takes_value
    for word in $words[3..]
        if test -n "$takes_value"
            set takes_value
            continue
        end
        switch $word
            case -o -F
                set takes_value yes
            case --
                return 0
            case '-*'
            case '*'
                return 0
        end
    end
    return 1
end

# What would be completed if it stood alone.
function __umbra_complete_program
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1..2]
    while string match -q -- '-*' $words[1]
        set -l word $words[1]
        set -e words[1]
        test "$word" = --; and break
        contains -- $word -o -F; and set -e words[1]
    end
    complete -C "$words"
end

function __umbra_needs_verb
    test (count (commandline -opc)) = 1
end

function __umbra_begins_program
    __umbra_verb record; or __umbra_verb bisect
end

# Whether that mode was typed, or none if it is empty.
function __umbra_mode
    set -l mode (string match -rg -- '^--mode=(.*)' (commandline -opc))
    test "$mode[1]" = "$argv[1]"
end

# __umbra_options TOOL CONDITION [WORD]: those that TOOL --print-options WORD prints.
function __umbra_options
    for line in ($argv[1] --print-options $argv[3])
        set -l option (string split \t -- $line)
        set -l spelling
        switch $option[1]
            case '--*'
                set spelling -l (string trim -c '-=' -- $option[1])
            case '*'
                set spelling -s (string trim -c - -- $option[1])
        end
        set -l value
        switch $option[2]
            case -
            case FILE
                set value -r -F
            case FOLDER
                set value -x -a '(__fish_complete_directories (commandline -ct))'
            case (string upper -- $option[2])
                set value -r
                test $argv[1] = umbra; and set value -x
            case '*'
                set value -x -a $option[2]
        end
        complete -c $argv[1] -n $argv[2] $spelling $value -d $option[3]
    end
end

complete -c umbra -f
for tool in umbra call_trace_service
    type -q $tool; and for line in ($tool --print-verbs)
        set -l verb (string split \t -- $line)
        complete -c $tool -n __umbra_needs_verb -f -a $verb[1] -d $verb[2]
        __umbra_options $tool "__umbra_verb $verb[1]" $verb[1]
        test $tool = umbra; and complete -c umbra -n '__umbra_verb help' -a $verb[1] -d $verb[2]
    end
end
type -q call_trace_service; and __umbra_options call_trace_service __umbra_needs_verb
type -q instrument; and __umbra_options instrument true
type -q grinder; and for mode in (grinder --print-options | string match -rg '^--mode=\t([^\t]*)' | string split ' ') ''
    __umbra_options grinder "__umbra_mode '$mode'" (string match -- '--mode=?*' --mode=$mode)
end
complete -c umbra -n __umbra_needs_verb -a help -d 'the options of a verb'
complete -c umbra -n __umbra_needs_verb -l help -s h -d 'what verbs there are'
complete -c umbra -n __umbra_needs_verb -l version -s V -d 'the version'
for verb in report top diff ls
    complete -c umbra -n "__umbra_verb $verb" -a '(__fish_complete_directories (commandline -ct))'
end
complete -c umbra -n __umbra_begins_program -a '(__fish_complete_command)'
complete -c umbra -n __umbra_has_program -a '(__umbra_complete_program)'
