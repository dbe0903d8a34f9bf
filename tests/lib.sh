# What the test scripts share. To be sourced by bash, first of all:
#
#     . "$(dirname "$0")/lib.sh"
#
# A script gets a temporary folder of its own, removed at its end, with
#
#     native/ instrumented/   the program under test, under the same name in both, so that what it
#                             prints about itself is the same; each is the working directory there
#     traces/                 what the last `recorded` left
#     summary callgrind       what the grinder made of that
#
# and services of its own, which end with it: no other run of the tests is in sight. BUILD is a folder meson
# has built in. The first thing that fails ends the script with status 1, and is named.

set -eEu -o pipefail
shopt -s inherit_errexit
failed_command=
trap 'failed_command="line $LINENO: status $?: $BASH_COMMAND"' ERR

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(cd "${BUILD:-$TESTS/../build/gcc}" && pwd)
AGENT=$BUILD/hooks/libhooks.so

work=$(mktemp -d "${TMPDIR:-/tmp}/umbra-test.XXXXXX")
trap end_of_script EXIT
cd "$work"
mkdir -m 0700 run
mkdir native instrumented
export XDG_RUNTIME_DIR=$work/run LC_ALL=C.UTF-8 TZ=UTC
export XDG_CONFIG_HOME=$work/config # not the user's
export SHELL=$BASH # script(1) hands it what `printf %q` quotes, which is bash's own
unset UMBRA_INSTANCE_ID UMBRA_REQUIRED
started=()

# A service holds its instance's lock, which has its pid, for as long as it lives.
end_services()
{
    local lock process try
    find "$work" -maxdepth 4 -path '*/umbra/*.lock' | while read -r lock; do
        flock -n "$lock" true && continue
        process=$(<"$lock")
        for ((try = 0; try < 250; try++)); do
            kill "$process" || break
            sleep 0.02
        done
    done 2>/dev/null
}

end_of_script()
{
    local status=$? process
    set +e
    ((status == 0)) || [[ ! $failed_command ]] || echo "$(basename "$0"): ${failed_command:0:1000}" >&2
    for process in "${started[@]}"; do
        kill "$process" 2>/dev/null
    done
    end_services
    cd /
    [[ ${KEEP:-} ]] && echo "kept: $work" >&2 || rm -rf "$work"
    exit "$status"
}

fail()
{
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# equal WHAT IS SHOULD_BE
equal()
{
    [[ $2 == "$3" ]] || fail "$1: '$2', should be '$3'"
}

# contains FILE PATTERN: an extended regular expression
contains()
{
    grep -Eq -- "$2" "$1" || { cat "$1" >&2; fail "nothing in $1 matches '$2'"; }
}

# by_copies: what is instrumented has copied bodies; not with tests/run --how=prologue.
by_copies()
{
    [[ ${UMBRA_TEST_HOW:-auto} != prologue ]]
}

# UMBRA_TEST_HOW may be set around a script: how what it instruments is hooked, where it does not say so
# itself. Files that cannot be hooked that way, PE ones, are as without.
how_options()
{
    local argument
    for argument; do
        [[ $argument == --@(verify|undo|how=*|version|help|poison) ]] && return
    done
    case ${UMBRA_TEST_HOW:-} in
        '' | i386) ;;
        copy) echo --how=auto ;;
        poison) echo --how=auto --poison ;;
        count)
            echo --how=auto --poison
            [[ " $* " == *" --"@(list|bisect|count=)* ]] || echo --count=instructions ;;
        blocks)
            echo --how=auto --poison
            [[ " $* " == *" --"@(list|bisect|count=)* ]] || echo --count=blocks ;;
        *) echo "--how=$UMBRA_TEST_HOW" ;;
    esac
}

# INSTRUMENT_OPTIONS may be set, by a script or around one, for all that it instruments.
instrument()
{
    # shellcheck disable=SC2086
    "$BUILD/rewriter/instrument" --agent="$AGENT" $(how_options ${INSTRUMENT_OPTIONS:-} "$@") \
        ${INSTRUMENT_OPTIONS:-} "$@"
}

call_trace_service()
{
    "$BUILD/service/call_trace_service" "$@"
}

grinder()
{
    "$BUILD/grinder/grinder" "$@"
}

umbra()
{
    "$BUILD/front/umbra" "$@"
}

# counted_in_copies TRACE…: whether copies have counted calls in one of them; else these were recorded as with prologues.
counted_in_copies()
{
    local trace
    for trace; do # header.base, from which links count
        [[ $(od -An -t u8 -j 3344 -N 8 "$trace") -eq 0 ]] || return 0
    done
    return 1
}

# tests/run --how=i386: the programs under test are of 32 bits. hows: the ways to hook that there are.
hows=(prologue copy)
if [[ ${UMBRA_TEST_HOW:-} == i386 ]]; then
    gcc() { command gcc -m32 "$@"; }
    g++() { command g++ -m32 "$@"; }
    hows=(prologue)
fi

# build NAME SOURCE… [OPTION…]: native/NAME from the sources in programs/. CC, CXX and RUSTC may be
# set; without options it is -O2 -g.
build()
{
    local name=$1 source compiler options=()
    shift
    case $1 in
        *.cpp) compiler=(${CXX:-g++} -pthread -ldl) ;;
        *.rs) compiler=(${RUSTC:-rustc}) ;;
        *) compiler=(${CC:-gcc} -pthread -ldl) ;;
    esac
    for source; do
        [[ -e $TESTS/programs/$source ]] && source=$TESTS/programs/$source
        options+=("$source")
    done
    [[ ${compiler[0]} == *rustc ]] || options=(-O2 -g "${options[@]}")
    "${compiler[@]}" "${options[@]}" -o "native/$name"
}

# instrumented NAME [OPTION…]: instrumented/NAME from native/NAME.
instrumented()
{
    local name=$1
    shift
    instrument "native/$name" -o "instrumented/$name" --overwrite "$@" >instrumented.line
    [[ $(wc -l <instrumented.line) == 1 ]] || fail "instrument printed more than a line"
    equal "permissions" "$(stat -c %a "instrumented/$name")" "$(stat -c %a "native/$name")"
}

# run FOLDER COMMAND…: leaves FOLDER.stdout, .stderr and .status, whatever the command does.
run()
{
    local folder=$1 status=0
    shift
    (cd "$folder" && exec timeout -k 5 "${LIMIT:-120}" "$@") >"$folder.stdout" \
        2>"$folder.stderr" </dev/null || status=$?
    echo "$status" >"$folder.status"
}

# normalise FILE: a script whose program prints times redefines it to take them out.
normalise()
{
    :
}

# Both runs printed the same and ended with the same status. $1 says what was run. What the service
# says of a program that died is its own.
compare_runs()
{
    local part
    sed -i -E '/^call_trace_service: (.* died of SIG|pid [0-9]+ ended before its recording began)/d' instrumented.stderr
    for part in status stderr stdout; do
        normalise "native.$part"
        normalise "instrumented.$part"
        cmp -s "native.$part" "instrumented.$part" && continue
        diff "native.$part" "instrumented.$part" | head -n 20 >&2 || true
        head -n 5 instrumented.stderr >&2
        fail "$1: $part differs (native <, instrumented >), status $(<instrumented.status)"
    done
}

# same NAME ARGUMENT…: the instrumented program does what the native one does, without a service.
same()
{
    local name=$1
    shift
    run native "./$name" "$@"
    [[ $(<native.status) != 99 ]] || { cat native.stderr >&2; fail "$name itself is broken"; }
    run instrumented "./$name" "$@"
    compare_runs "$name $* without a service"
}

# recorded NAME ARGUMENT…: likewise, and also under a service, whose traces balance. They stay in
# traces/, with the grinder's summary and callgrind files.
recorded()
{
    same "$@"
    record "$@"
}

# record NAME ARGUMENT…: the second half of recorded; the native run is the last one's. SERVICE_OPTIONS may be
# set, by a script.
record()
{
    local name=$1
    shift
    rm -rf traces
    # shellcheck disable=SC2086
    run instrumented "$BUILD/service/call_trace_service" start ${SERVICE_OPTIONS:-} \
        --trace-dir="$work/traces" -- "./$name" "$@"
    compare_runs "$name $* under a service"
    balanced
}

# Every thread of every trace: entries = exits + unwound + live; the grinder checks it.
traces_are_whole()
{
    local traces=(traces/*.bin)
    [[ -s ${traces[0]} ]] || fail "no trace was left"
    grinder --mode=summary "${traces[@]}" >summary 2>problems ||
        { cat problems >&2; fail "the traces are not whole"; }
    # no thread takes eleven days
    ! grep -E '^ +[0-9]+( +[0-9]+){7} +[0-9]{16}' summary || fail "a call took less than nothing"
}

# traces_are_whole, with a callgrind file to look into
balanced()
{
    traces_are_whole
    grinder --mode=profile --thread-parts --output-file=callgrind traces/*.bin
}

# near WHAT FOUND EXPECTED PERCENT [SLACK_MS]: times in ns
near()
{
    awk -v a="$2" -v b="$3" -v part="$4" -v slack="${5:-0}e6" \
        'BEGIN { exit !(a > b * (1 - part / 100) - slack && a < b * (1 + part / 100) + slack) }' ||
        fail "$1: $2 ns, should be within $4%${5:+ and $5 ms} of $3"
}

# measured COMMAND…: a function of the script's that measures times, up to three times until it passes. What else
# the machine does can disturb each; what is wrong is wrong each time. It is a subshell's: what it sets is gone.
measured()
{
    local try process status
    for try in 1 2 3; do
        "$@" &
        process=$! status=0
        wait "$process" || status=$? # and not `if ( … )`, where nothing that fails would end it
        ((status != 0)) || return 0
        echo "$*: try $try failed" >&2
    done
    fail "$*: failed three times"
}

# self_ns FUNCTION: as the summary has it
self_ns()
{
    awk -v name="$1" '$NF == name { print $2; exit }' summary
}

# cell FIELD FUNCTION: of the table `functions` (--output-format=tsv)
cell()
{
    awk -F '\t' -v field="$1" -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == field) at = i; if ($i == "function") f = i } next }
        $f == name { print $at }' functions
}

# completed FOLDER: returns when the service has completed all traces there: until then each is a
# snapshot, which the header's field `end` says.
completed()
{
    local try trace unfinished
    for ((try = 0; try < 600; try++)); do
        unfinished=
        for trace in "$1"/*.bin; do
            [[ $(od -An -tu4 -j60 -N4 "$trace" | tr -d ' ') =~ ^(|3)$ ]] && unfinished=$trace
        done
        [[ $unfinished ]] || return 0
        sleep 0.05
    done
    fail "$unfinished is not completed"
}

traces_left()
{
    find traces -name '*.bin' | wc -l
}

# calls_of FUNCTION [FILE]: its calls in all threads and processes of a callgrind file. Functions
# of C++ and Rust may be given without their arguments. A cost line has position, ns if there are
# times, calls; the line behind calls= is the callees' and not the function's own.
calls_of()
{
    calls_by_part "$@" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Likewise, a line for each part (a part is a thread) that has such calls.
calls_by_part()
{
    awk -v wanted="$1" '
        function name_of(text,    id) {
            id = text
            sub(/\).*/, ")", id)
            if (id !~ /^\([0-9]+\)$/)
                return text
            if (length(text) > length(id))
                names[id] = substr(text, length(id) + 2)
            return names[id]
        }
        function part_end() {
            if (calls)
                print calls
            calls = 0
        }
        /^(pid|part|thread):/ && seen_events {
            part_end()
            delete names
            seen_events = 0
        }
        /^events:/ { seen_events = 1 }
        /^fn=/ {
            name = name_of(substr($0, 4))
            mine = name == wanted || index(name, wanted "(") == 1
        }
        /^cfn=/ { name_of(substr($0, 5)) }
        /^calls=/ { getline; next }
        /^[0-9+*-]/ && mine { calls += $NF }
        END { part_end() }
    ' "${2:-callgrind}"
}

# summed COLUMN: of the summary's tables of threads: entries, exits, unwound, live, skipped, dropped,
# nodes, folded.
summed()
{
    awk -v wanted="$1" '
        $1 == "thread" && $2 == "entries" {
            for (i = 1; i <= NF; i++)
                if ($i == wanted)
                    column = i
            in_table = 1
            next
        }
        NF == 0 { in_table = 0 }
        in_table && $1 ~ /^[0-9]+$/ { sum += $column }
        END { if (!column) exit 1; print sum + 0 }
    ' summary || fail "the summary has no column '$1'"
}

# state_of FUNCTION NAME: how and whether instrument hooked a function of instrumented/NAME.
state_of()
{
    instrument --list "instrumented/$2" | awk -F '\t' -v name="$1" '$5 == name { print $3, $4 }'
}

# hooked_by WORD: what state_of says of a function that is hooked that way, and whose body can be copied.
hooked_by()
{
    case ${UMBRA_TEST_HOW:-auto} in
        prologue) echo "hooked $1" ;;
        *) echo "hooked copied" ;;
    esac
}

# begin_busy: a program that calls, throws and starts threads until end_busy lets it go (programs/busy.c,
# built and instrumented by the script as busy). Its pid is in $program.
begin_busy()
{
    local try
    rm -f gate said
    mkfifo gate
    exec 3<>gate
    (cd instrumented && exec ./busy 3) <gate >said 2>said.too 3>&- &
    program=$!
    started+=("$program")
    for ((try = 0; try < 600; try++)); do
        [[ -s said ]] && return
        sleep 0.05
    done
    fail "busy does not begin"
}

# end_busy WHAT: it ended as it would have by itself.
end_busy()
{
    local status=0
    exec 3>&-
    wait "$program" || status=$?
    equal "$1: status of busy" "$status" 3
    equal "$1: errors of busy" "$(<said.too)" ""
}
