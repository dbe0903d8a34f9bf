#!/bin/bash
# call_trace_service.exe as one uses it: spawn, an instrumented program, list, stop, grind. Nobody
# tells the program where the service is.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc -O2 "$TESTS/programs/edges.c" -o native/edges.exe
instrumented edges.exe 2>notes

service()
{
    timeout 60 wine "$WINDOWS/service/call_trace_service.exe" "$@"
}

normalise()
{
    sed -i 's/\r$//' "$1"
}

has_ended()
{
    local try
    for ((try = 0; try < 300; try++)); do
        service list >list
        grep -Eq 'edges\.exe.*ended' list && return
        sleep 0.05
    done
    fail "it has not ended: $(<list)"
}

# spawned OPTION…: a service, and a program of its
spawned()
{
    rm -rf traces
    service spawn --trace-dir=traces "$@"
    same edges.exe
    has_ended
    service stop >stopped
    contains stopped 'traces completed: 1,'
    balanced
    (($(summed entries) > 100)) || fail "$(<summary)"
}

spawned

# Windows takes separators that are too many, or not its own.
mkdir -p "$WINEPREFIX/drive_c/folder/of/its own"
export UMBRA_INSTANCE_ID=other LOCALAPPDATA='C:\\folder//of/its own\'
spawned --instance-id=other
