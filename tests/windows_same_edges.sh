#!/bin/bash
# The same program built for Linux and for Windows, without, with some and with much optimisation:
# the same functions are called as often, by the same functions, from the same lines.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

source=$TESTS/programs/edges.c
linux_agent=$AGENT

# A line can hold several calls, of code that a compiler doubled.
added_up()
{
    awk '{ sums[$1 " " $2 " " $3] += $4 } END { for (edge in sums) print edge, sums[edge] }' | sort
}

# edges_of SYSTEM: what `recorded` left of the functions of edges.c, as tsv-edges and as callgrind
edges_of()
{
    grinder --mode=profile --output-format=tsv-edges --output-file=edges.tsv traces/*.bin
    awk -F '\t' 'NR == FNR { own[$1]; next } $4 in own && $6 in own {
        print $4, $6, $9, $10 }' functions edges.tsv | added_up >"$1.edges"
    edges_in callgrind | added_up >"$1.callgrind"
}

# edges_in CALLGRIND: caller, callee, line of the call, calls; of the functions of edges.c
edges_in()
{
    awk 'function name_of(text,    id) {
            id = text
            sub(/\).*/, ")", id)
            if (length(text) > length(id))
                names[id] = substr(text, length(id) + 2)
            return names[id]
        }
        NR == FNR { own[$1]; next }
        /^events:/ { delete names }
        /^fn=/ { caller = name_of(substr($0, 4)) }
        /^cfn=/ { callee = name_of(substr($0, 5)) }
        /^calls=/ {
            calls = substr($1, 7)
            getline
            if (caller in own && callee in own)
                print caller, callee, $1, calls
        }' functions "$1"
}

# The program counts as its functions what it defines.
sed -n 's/^COUNTED .*[ *]\([a-z_]*\)(.*/\1/p' "$source" | sort -u >functions
printf 'fib\nmain\n' >>functions
windows_tools
wine_begins

for level in -O0 -O1 -O2; do
    gcc $level -g "$source" -o native/edges
    AGENT=$linux_agent
    UMBRA_TEST_HOW=prologue instrumented edges # copies do not say of which line a tail call is
    SERVICE_OPTIONS=--timing=adaptive recorded edges
    edges_of linux
    mv native.stdout linux.stdout

    x86_64-w64-mingw32-gcc $level -g -D__USE_MINGW_ANSI_STDIO "$source" -o native/edges.exe
    AGENT=$WINDOWS/hooks/hooks.dll
    instrumented edges.exe
    recorded edges.exe
    edges_of windows
    cmp <(tr -d '\r' <native.stdout) linux.stdout

    for what in edges callgrind; do
        diff "linux.$what" "windows.$what" >differences ||
            { head -n 20 differences >&2; fail "$level: $what differ (Linux <, Windows >)"; }
    done
    echo "$level: $(wc -l <windows.callgrind) edges are the same, with $(awk '{ sum += $4 } END {
        print sum }' windows.callgrind) calls"
    (($(wc -l <windows.callgrind) >= 19)) || fail "$level: not all edges are there"
done
