#!/bin/bash
# The report on Windows programs that have names and no lines: their instructions, those of the
# original, also where the headers grew for the instrumentation. Without names a function is known to
# --mode=diff by the same bytes.
# needs: gawk wine wine64 gcc-mingw-w64-x86-64 binutils-mingw-w64-x86-64 python3
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

export PYTHONDONTWRITEBYTECODE=1
compiler=x86_64-w64-mingw32-gcc-posix
windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll

# text_offset FOLDER: where the code lies in FOLDER/report.exe
text_offset()
{
    x86_64-w64-mingw32-objdump -h "$1/report.exe" | awk '$2 == ".text" { print $6 }'
}

# offsets_of FUNCTION: where its instructions begin, as objdump reads native/report.exe
offsets_of()
{
    x86_64-w64-mingw32-objdump -d --no-show-raw-insn --disassemble="$1" native/report.exe |
        gawk '$1 ~ /^[0-9a-f]+:$/ {
            at = strtonum("0x" substr($1, 1, length($1) - 1))
            if (!count++)
                first = at
            print at - first
        }'
}

# built COUNT: report.exe with so many sections more
built()
{
    for ((i = 0; i < $1; i++)); do
        echo ".section s$i, \"dr\"; .long $i"
    done >sections.s
    "$compiler" -O2 -static "$TESTS/programs/report.c" sections.s -o native/report.exe
    instrumented report.exe 2>/dev/null
}

has_grown()
{
    [[ $(text_offset native) != "$(text_offset instrumented)" ]]
}

has_instructions()
{
    recorded report.exe 20
    grinder --mode=report --output-file=page.html traces
    python3 "$TESTS/report.py" figures page.html summary
    python3 "$TESTS/report.py" bare page.html
    python3 "$TESTS/report.py" offsets page.html fib >shown
    offsets_of fib | head -n "$(wc -l <shown)" >expected # behind it there is padding
    cmp expected shown || fail "instructions of fib begin elsewhere"
}

built 0
if has_grown; then fail "headers grew at once"; fi
has_instructions
for ((count = 1; count < 40; count++)); do
    built $count
    if has_grown; then break; fi
done
has_grown || fail "headers never grew"
has_instructions
echo "$count sections more: $(wc -l <shown) instructions of fib"

# Functions of two builds without names, by their code: fib is the same elsewhere.
# recording NAME SOURCE…
recording()
{
    "$compiler" -O2 -static -s "${@:2}" -o "native/$1.exe"
    instrumented "$1.exe" 2>/dev/null
    recorded "$1.exe" 1
    mv traces "$1"
}

# most_called NAME: calls and address
most_called()
{
    grinder --mode=summary --top=1000 "$1" >summary
    gawk '/^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9]+ / && $1 > most { most = $1; name = $NF }
        END { sub(/.*!/, "", name); print most, name }' summary
}

recording first "$TESTS/programs/report.c"
echo '.text; .fill 4096, 1, 0xcc' >before.s
recording second before.s "$TESTS/programs/report.c"
read -r calls address <<<"$(most_called first)"
echo "fib, called $calls times, was at $address and is at $(most_called second)"
[[ $calls == 4181 && "$calls $address" != "$(most_called second)" ]] || fail "fib is where it was"
grinder --mode=diff first second >changes
read -r calls address <<<"$(most_called second)"
contains changes "^second.exe!$address	[^	]*	$calls	$calls	0	"
