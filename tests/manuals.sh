#!/bin/bash
# Manual pages have the options that the programs print for shells, of which --help is made as well, and the values
# that these may have; no others. Of umbra these are its own: what it hands on to the grinder is explained by
# grinder(1), and the two agree.
# needs: mandoc
. "$(dirname "$0")/lib.sh"

man=$TESTS/../docs/man

# printed TOOL: its options with what they may be, of all verbs
printed()
{
    local verb
    if [[ $1 != umbra ]]; then
        "$1" --print-options
        return
    fi
    umbra --print-verbs | cut -f 1 | while read -r verb; do umbra --print-options "$verb"; done
}

# described TOOL: the options that its page has paragraphs of
described()
{
    grep -E '^\.It .*Fl ' "$man/$1.1" | grep -oE 'Fl (-[a-z-]+|[a-zA-Z]\b)' | sed 's/^Fl /-/' | sort -u
}

for tool in instrument grinder call_trace_service umbra; do
    for option in --version -V; do
        $tool $option >line
        contains line "^$tool (\(umbra\) )?[0-9]+\.[0-9]+\.[0-9]+\$"
        equal "$tool $option: lines" "$(wc -l <line)" 1
    done
    $tool --help >page
    equal "lines of $tool --help over 80 columns" "$(grep -cE '^.{81}' page)" 0
    mandoc -Tlint -Wwarning "$man/$tool.1" >lint || fail "$tool.1: $(<lint)"
    printed $tool >lines
    (($(wc -l <lines) > 5)) || fail "$tool prints no options"
    cut -f 1 lines | sed 's/=$//' | sort -u >has
    [[ $tool != grinder ]] || cp has of_grinder
    described $tool >in_manual
    if [[ $tool == umbra ]]; then # its page leaves out what the grinder's has
        comm -23 has of_grinder >own
        comm -23 own in_manual >missing
        comm -13 has in_manual >excess
        equal "options that umbra.1 has not" "$(<missing)" ""
        equal "options that only umbra.1 has" "$(<excess)" ""
    else
        diff has in_manual || fail "$tool.1 (>) has other options than $tool (<)"
    fi
    [[ $tool != umbra ]] || continue # whose values are in the text, and those of the three
    cut -f 2 lines | grep -E '^[a-z0-9 -]{2,}$' | tr ' ' '\n' | sort -u | while read -r value; do
        grep -qE "^\..*\bCm (.* )?$value( |$)" "$man/$tool.1" || echo "$value"
    done >missing
    equal "values that $tool.1 has not" "$(<missing)" ""
done

# What umbra hands on is what the grinder takes.
for verb in report top diff; do
    umbra $verb --help | sed '1,/^Of the grinder/d' | grep -oE '^ {2,}(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' |
        sort -u | comm -23 - of_grinder >unknown
    [[ ! -s unknown ]] || fail "umbra $verb --help: the grinder has no $(<unknown)"
done

# formats_of TOOL WORD: what --output-format may be
formats_of()
{
    "$1" --print-options "$2" | sed -n 's/^--output-format=\t\([^\t]*\)\t.*/\1/p'
}
equal "formats of umbra report" "$(formats_of umbra report)" "$(formats_of grinder --mode=profile)"
equal "formats of umbra diff" "$(formats_of umbra diff)" "$(formats_of grinder --mode=diff)"

# Every value in the grinder's table is one that it takes: it gets as far as the trace.
for mode in $(grinder --print-options | sed -n 's/^--mode=\t\([^\t]*\)\t.*/\1/p'); do
    grinder --mode=$mode nosuch nosuch 2>problems || true
    ! grep '^grinder: --mode: expected' problems || fail "--mode=$mode is none"
    for format in $(formats_of grinder --mode=$mode); do
        grinder --mode=$mode --output-format="$format" nosuch nosuch 2>problems || true
        contains problems '^grinder: nosuch: cannot be opened'
    done
done
for order in $(grinder --print-options | sed -n 's/^--sort=\t\([^\t]*\)\t.*/\1/p'); do
    grinder --mode=summary --sort="$order" nosuch 2>problems || true
    contains problems '^grinder: nosuch: '
done
