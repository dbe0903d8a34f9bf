#!/bin/bash
# Python's own test suite, as Debian ships it: each module passes, fails or is skipped with an
# instrumented python3.11 as it does with the native one; so do some modules while they are recorded,
# with all the processes they start, whose traces balance. MODULES chooses others than all.
# needs: python3.11 libpython3.11-testsuite
. "$(dirname "$0")/../lib.sh"

# Not run: what takes many minutes and is about multiprocessing or about Python's source tree, and
# what waits for networks or runs into its time limit by chance.
left_out=(
    test_concurrent_futures test_multiprocessing_fork test_multiprocessing_forkserver
    test_multiprocessing_spawn test_regrtest test_tools test_lib2to3 test_socket test_asyncio
    test_urllib2net test_urllibnet
)
# Exceptions, signals, threads, forks, generators, callbacks from C, crashes on purpose.
recorded_modules=(
    test_asyncgen test_bytes test_contextlib test_coroutines test_ctypes test_dataclasses
    test_deque test_descr test_dict test_email test_exceptions test_fork1 test_functools test_gc
    test_generators test_hashlib test_heapq test_json test_list test_long test_math test_os
    test_pickle test_posix test_pwd test_queue test_re test_scope test_set test_signal test_sort
    test_statistics test_struct test_subprocess test_sys test_thread
    test_threading test_threadsignals test_traceback test_unicode test_unittest test_weakref
    test_with test_zipfile test_zlib
)

# prepare FOLDER: where a program finds the library of the system's python3.11
prepare()
{
    mkdir -p "$1/usr/bin" "$1/usr/lib" "$1/home"
    ln -s /usr/lib/python3.11 /usr/lib/python3 "$1/usr/lib"
}

# suite FOLDER RESULTS MODULE…: a line for each, sorted: its name and `passed`, `failed` and so on.
# below: the command that python runs below.
below=()
suite()
{
    local folder=$1 results=$2
    shift 2
    (cd "$folder" && HOME=$PWD/home TMPDIR=$PWD/home "${below[@]}" usr/bin/python3.11 -m test \
        -j1 --timeout=300 "$@") >"$results.log" 2>&1 </dev/null || true
    sed -nE 's/^.*\[ *[0-9]+\/.*\] (test_\w+) ([a-z ]+)( \(.*)?$/\1 \2/p' "$results.log" |
        sed 's/ *$//' | sort -u >"$results"
    [[ -s $results ]] || { tail -n 5 "$results.log" >&2; fail "$results: no results"; }
}

# Modules that did otherwise than natively have a second chance, natively too: some depend on the
# machine's load.
same_results()
{
    local results=$1 folder=$2 different
    shift 2
    mapfile -t different < <(join -a 1 "$results" native.results | awk '$2 != $NF { print $1 }')
    ((${#different[@]} > 0)) || return 0
    echo "once more: ${different[*]}"
    suite "$folder" "$results.again" "${different[@]}"
    below=()
    suite native native.again "${different[@]}"
    diff native.again "$results.again" || fail "$results: not as natively (<)"
}

prepare native
prepare instrumented
cp /usr/bin/python3.11 native/usr/bin
instrument native/usr/bin/python3.11 -o instrumented/usr/bin/python3.11
if [[ ${MODULES:-} ]]; then
    read -ra modules <<<"$MODULES"
    recorded_modules=("${modules[@]}")
else
    mapfile -t modules < <(native/usr/bin/python3.11 -m test --list-tests |
        grep -vxF "$(printf '%s\n' "${left_out[@]}")")
fi

suite native native.results "${modules[@]}"
suite instrumented without.results "${modules[@]}"
same_results without.results instrumented
equal "modules" "$(wc -l <without.results)" "$(wc -l <native.results)"
echo "$(wc -l <without.results) modules as natively: $(cut -d ' ' -f 2- without.results | sort |
    uniq -c | tr -s ' \n' ' ')"

below=("$BUILD/service/call_trace_service" start --trace-dir="$work/traces" --)
suite instrumented recorded.results "${recorded_modules[@]}"
same_results recorded.results instrumented
equal "modules recorded" "$(wc -l <recorded.results)" "${#recorded_modules[@]}"
find traces -name '*.bin' -print0 >files
xargs -0 -n 64 "$BUILD/grinder/grinder" --mode=summary <files >summary ||
    fail "the traces are not whole"
echo "$(wc -l <recorded.results) modules recorded: $(traces_left) processes," \
    "$(summed entries) calls, all threads balance"
