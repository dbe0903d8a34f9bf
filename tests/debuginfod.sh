#!/bin/bash
# Names and lines of a stripped program from a debuginfod server: only if DEBUGINFOD_URLS names one, and not
# with --no-debuginfod. A server that is gone, or does not know the file, costs a line at most.
# needs: gcc binutils debuginfod curl util-linux
((EUID != 0)) || # root asks no server of its environment: debuginfod_rights.sh
    exec setpriv --reuid=54321 --regid=54321 --clear-groups bash "$0"
. "$(dirname "$0")/lib.sh"

export DEBUGINFOD_CACHE_PATH=$work/cache HOME=$work
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT DEBUGINFOD_VERBOSE DEBUGINFOD_PROGRESS

build counted "$TESTS/../samples/fib.c" -Wl,--build-id
mkdir debug
objcopy --only-keep-debug native/counted debug/counted.debug
strip native/counted
instrumented counted
recorded counted 10

# summarised OPTION…: leaves text and said
summarised()
{
    grinder --mode=summary "$@" traces/*.bin >text 2>said
}

nameless()
{
    if grep -qw fib text; then fail "$1: a name from nowhere"; fi
}

summarised
nameless "no server"
equal "no server" "$(<said)" ""

for ((try = 0; ; try++)); do # a port that nobody has
    port=$((20000 + RANDOM % 20000))
    debuginfod -d "$work/index.sqlite" -p "$port" -F "$work/debug" >server.log 2>&1 &
    server=$!
    started+=("$server")
    for ((wait = 0; wait < 200; wait++)); do
        # a process of ours listens there, and has gone through the folder
        curl -s "http://127.0.0.1:$port/metrics" 2>/dev/null | grep -q '^thread_work_total{role="scan"} [1-9]' && break 2
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    ((try < 5)) || fail "no server begins: $(<server.log)"
    kill "$server" 2>/dev/null || true
done
export DEBUGINFOD_URLS=http://127.0.0.1:$port

summarised --no-debuginfod
nameless "--no-debuginfod"
[[ ! -e cache ]] || fail "--no-debuginfod asked"

summarised
contains text '\bfib$'
equal "said" "$(<said)" ""
grinder --mode=profile --output-file=- traces/*.bin >profile
contains profile '/fib\.c$'
cached=$(find cache -name debuginfo)
[[ $cached ]] || fail "nothing is kept"

# from what is kept, and then the server is gone
kill "$server"
wait "$server" 2>/dev/null || true
summarised
contains text '\bfib$'
rm -r cache
summarised
nameless "a server that is gone"
equal "lines" "$(wc -l <said)" 1
contains said "^grinder: DEBUGINFOD_URLS=http://127.0.0.1:$port: .*; separate debug files are looked for on this machine only$"
