#!/bin/bash
# SIGKILL of each process of a recording while programs run: they end as they do natively, nothing hangs,
# nobody stays, and what was recorded can be read. Then of one at a time at random moments, in ROUNDS (10)
# recordings that SEED chooses.
# needs: gcc coreutils perl
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
cat >hello.c <<'END'
#include <stdio.h>
__attribute__((noinline)) static int say(const char *text) { return puts(text); }
int main(int count, char **arguments) { return say(arguments[count - 1]) < 0; }
END
gcc -O1 -g hello.c -o hello

# Programs of its own, that no other test runs. `instrument` waits for files named slow.
mkdir -p tools/{front,rewriter,service,grinder,hooks}
cp "$BUILD/front/umbra" tools/front/umbra
cp "$BUILD/service/call_trace_service" tools/service/
ln -s "$BUILD/grinder/grinder" tools/grinder/
cp "$AGENT" tools/hooks/libhooks.so
cat >tools/rewriter/instrument <<END
#!/bin/sh
case "\$(readlink -f "\$(eval echo "\\\$\$#")")" in
*/slow)
    echo \$\$ >instrument.pid
    while [ ! -e "$work/go" ]; do sleep 0.05; done ;;
esac
exec "$BUILD/rewriter/instrument" "\$@"
END
sed -i "s|>instrument.pid|>$work/instrument.pid|" tools/rewriter/instrument
chmod 755 tools/rewriter/instrument
umbra=$work/tools/front/umbra

# What it runs has MARK in its environment, as have all processes that record it.
cat >program.sh <<'END'
./hello first
echo begun
[ ! "$WAITS" ] || while [ ! -e go ]; do sleep 0.05; done
./hello again
./other other
[ "$LAX" ] || { cat hello | cmp - hello.kept && echo same; }
perl -e 'print "perl\n"'
echo end
exit 5
END
cp hello hello.kept

ours()
{
    local process
    for process in /proc/[0-9]*; do
        ! grep -qsz "^MARK=$mark\$" "$process/environ" || echo "${process#/proc/}"
    done
}

parent_of() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }
runs() { [[ $(readlink "/proc/$1/exe") == "$work/tools/$2" ]]; }
is_keeper() { [[ $(<"/proc/$1/comm") == umbra-keeper ]]; }

# is ROLE PID
is()
{
    case $1 in
        front) [[ $2 == "$front" ]] ;;
        supervisor) runs "$2" front/umbra && [[ $(parent_of "$2") == "$front" ]] ;;
        worker) runs "$2" front/umbra && is supervisor "$(parent_of "$2")" ;;
        service) runs "$2" service/call_trace_service && ! is_keeper "$2" ;;
        keeper) is_keeper "$2" ;;
        program) is service "$(parent_of "$2")" ;;
        instrument) [[ $2 == "$(<instrument.pid)" ]] ;;
    esac 2>/dev/null
}

find_role()
{
    local process
    for process in $(ours); do
        is "$1" "$process" && echo "$process" && return
    done
    return 1
}

give_up()
{
    local process
    touch go
    for process in $(ours); do
        echo "still there: $process $(tr '\0' ' ' <"/proc/$process/cmdline" | cut -c -80)" >&2
        kill -9 "$process" || true
    done 2>/dev/null
    fail "$*"
}

# until_so WHAT COMMAND…: it succeeds in the end, or WHAT is what it waited for
until_so()
{
    local what=$1 try
    shift
    for ((try = 0; try < 600; try++)); do
        "$@" && return
        sleep 0.05
    done
    give_up "waited in vain for $what"
}

is_said() { grep -qsx "$1" out; }
is_gone() { ! readlink "/proc/$1/exe" >/dev/null; }
has_pid() { [[ -s instrument.pid ]]; }
nobody_is_left() { [[ ! $(ours) ]]; }

# begin DATA COMMAND…: in the background, its status goes to `status`
begin()
{
    local data=$1
    shift
    rm -rf go instrument.pid out other status
    cp hello other
    export LAX=${LAX:-}
    mark=$work.$((++marks))
    MARK=$mark "$umbra" record -o "$data" -- "$@" >out 2>said &
    front=$!
    started+=("$front")
}
marks=0

# kept WHAT DATA [early]: what was recorded is readable, whoever was killed; early: if anything was
kept()
{
    local trace
    "$umbra" ls "$2" >shown 2>problems || { cat problems >&2; fail "$1: the recording cannot be listed"; }
    for trace in "$2"/traces/*.bin; do
        [[ -e $trace || ! ${3:-} ]] || continue
        grinder --mode=summary "$trace" >shown 2>problems ||
            { cat problems >&2; fail "$1: $trace cannot be read"; }
    done
}

cp hello other
LAX= sh program.sh >native.out 2>&1 || true
LAX=lax sh program.sh >native.lax 2>&1 || true
contains native.out '^end$'

# ends_as_natively WHAT
ends_as_natively()
{
    until_so "the end of the program, $1" is_said end
    until_so "the end of all processes, $1" nobody_is_left
    diff "native.${LAX:-out}" out >&2 || give_up "$1: the program printed something else"
}

front_ended()
{
    local status=0
    wait "$front" 2>problems || status=$?
    equal "$1: status" "$status" "$2"
}

# killed ROLE STATUS: while the program waits
killed()
{
    local victim
    WAITS=yes begin "$1.data" sh program.sh
    until_so "the program" is_said begun
    until_so "$1" find_role "$1" >found
    victim=$(tail -n 1 found)
    kill -9 "$victim"
    until_so "the end of $1" is_gone "$victim"
    touch go
    ends_as_natively "$1 is killed"
    front_ended "$1 is killed" "$2"
    kept "$1 is killed" "$1.data"
}

# Nobody gives originals to readers any more (docs/front.md).
LAX=lax killed worker 5
killed supervisor 5
killed keeper 5
killed service 137
killed front 137

# The program itself: what it had called is in its trace.
WAITS=yes begin program.data sh program.sh
until_so "the program" is_said begun
kill -9 "$(find_role program)"
front_ended "the program is killed" 137
until_so "the end of all processes" nobody_is_left
kept "the program is killed" program.data
"$umbra" report --text --process="*" --top=1000 program.data >shown 2>problems
contains shown '^  state +killed by signal 9, SIGKILL'
contains shown ' say$'

# An `instrument` under way: the file is executed as it is, and the line says why.
cp hello slow
begin instrument.data sh -c './slow slow; ./hello again; exit 5'
until_so "instrument" has_pid
kill -9 "$(<instrument.pid)"
front_ended "instrument is killed" 5
until_so "the end of all processes" nobody_is_left
equal "instrument is killed" "$(tr '\n' ' ' <out)" "slow again "
kept "instrument is killed" instrument.data
contains instrument.data/files "^left	$work/slow	instrument was killed \(signal 9\)$"

# --- at random moments; who is not there yet, or any more, is not killed
roles=(worker worker worker supervisor keeper service front)
seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
RANDOM=$seed
echo "seed $seed, ${ROUNDS:=10} recordings"
for ((round = 0; round < ROUNDS; round++)); do
    role=${roles[RANDOM % ${#roles[@]}]}
    rm -rf random.data "$XDG_CACHE_HOME"
    LAX=lax WAITS= begin random.data sh program.sh
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
    kill -9 "$(find_role "$role")" 2>problems && killed=yes || killed=
    what="seed $seed, round $round: $role is killed"
    until_so "the end of all processes, $what" nobody_is_left
    wait "$front" 2>problems || true
    # Before the program began, it may be that it does not.
    [[ -s out || $killed ]] || fail "$what: nothing was run"
    [[ ! -s out ]] || diff native.lax out >&2 || fail "$what: the program printed something else"
    [[ ! -e random.data ]] || kept "$what" random.data early
done
