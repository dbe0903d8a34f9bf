#!/bin/bash
# Options of the service that are of no use to Windows programs are refused in a line that says why, by
# both services.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc -O2 "$TESTS/programs/edges.c" -o native/edges.exe
instrumented edges.exe 2>notes
native=$BUILD/service/call_trace_service

# refused PATTERN COMMAND…: with one line and status 2, before anything is run or made
refused()
{
    local status=0
    (cd instrumented && exec timeout 60 "${@:2}") >out 2>err || status=$?
    equal "status of ${*:2}" "$status" 2
    equal "lines of ${*:2}" "$(wc -l <err)" 1
    contains err "$1"
    [[ ! -s out && ! -e traces ]] || fail "${*:2}: the program ran, or traces/ was made"
}

for service in "$native" "wine $WINDOWS/service/call_trace_service.exe"; do
    # shellcheck disable=SC2086
    while read -r option why; do
        refused "$why" $service start --trace-dir="$work/traces" $option -- ./edges.exe
    done <<'EOF'
--mode=calltrace     --mode=calltrace: only profiles of Windows programs are recorded
--samples=500        --samples: Windows programs are not sampled
EOF
done

# A service that is there already refuses the program, which goes on, and says so.
"$native" spawn --mode=calltrace --trace-dir=traces --log-file=log
run native edges.exe
run instrumented edges.exe
compare_runs "edges.exe, refused"
"$native" status >status
contains status '0 running, 0 ended, 1 refused'
contains log 'refused pid [0-9]+: a Windows program, of which only profiles are recorded'
"$native" stop >stopped
