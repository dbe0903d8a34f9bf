#!/bin/bash
# Where `umbra` keeps what it makes: recordings, the cache, and what it does where there is no cache
# to write, no namespace and no program; its other verbs; a supervisor that is killed.
# needs: perl gawk util-linux procps python3
# seconds: 15
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
program=(perl -e 'printf "%.3f\n", sin $_ for 1 .. 99; exit 3')

# recorded_as FOLDER: what the program did is what it does natively, and perl was recorded
recorded_as()
{
    compare_runs "$1"
    umbra report --text "instrumented/$1" >summary 2>problems || fail "$1: $(<problems)"
    contains summary ' Perl_'
}

refused()
{
    local status=0
    "$@" >said 2>&1 || status=$?
    echo "$status" >>said
}

run native "${program[@]}"

recorders=()
# Two at once, with nothing in the cache.
for name in one two; do
    "$umbra" record --quiet -o $name.data -- "${program[@]}" >$name.out &
    recorders+=($!)
done
started+=("${recorders[@]}")
for recorder in "${recorders[@]}"; do
    wait "$recorder" || equal 'status of two at once' $? 3
done
for name in one two; do
    cmp $name.out native.stdout
    umbra report --text $name.data >summary
    contains summary ' Perl_'
done
umbra cache >said
contains said "^$work/cache/umbra: [1-9][0-9]* files, "
equal 'parts left in the cache' "$(find cache -name 'part-*')" ''

# The cache keeps to its limit, and a recording has what it needs when the cache is cleared.
size=$(du -sB1 cache/umbra/images | cut -f1)
umbra cache --limit=$((size / 2)) >said
(($(du -sB1 cache/umbra/images | cut -f1) <= size / 2 + 8192)) || fail "limit: $(<said)"
umbra cache --clear >said
contains said ': 0 files'
umbra report --text one.data >summary
contains summary ' Perl_'

# A second recording of the same name; something else there stays.
cd instrumented
for i in 1 2 3; do
    "$umbra" record -- "${program[@]}" >out 2>said || equal 'status' $? 3
done
contains said '^umbra: 1 process recorded in umbra\.data; to see it: umbra report$'
equal 'recordings' "$(echo umbra.data*)" 'umbra.data umbra.data.old'
umbra diff --output-format=tsv >said
contains said '^Perl_'
umbra ls >said
contains said '^umbra\.data\.old .* 3 +perl -e'
equal 'the page' "$(umbra report)" umbra.data/report.html
contains umbra.data/report.html Perl_runops
umbra report --output-format=tsv --output-file=- >tsv
contains tsv Perl_runops
mkdir other && touch other/file
refused umbra record -o other -- "${program[@]}"
equal 'another folder' "$(<said)" "umbra: other: expected a recording or nothing there, found something else; name another place with -o
1"
refused umbra report other
contains said '^umbra: other: expected a folder that umbra record made'
cd ..

# What cannot be run leaves no recording and says so.
refused umbra record -o none.data -- nosuchprogram
equal 'no such program' "$(<said)" "umbra: nosuchprogram: there is no such program
127"
refused umbra record -o none.data -- ./one.out
equal 'not executable' "$(<said)" "umbra: ./one.out: cannot be executed: Permission denied
126"
refused umbra record
contains said '^umbra: record: expected a program'
refused umbra nosuchverb
contains said '^umbra: nosuchverb: expected a verb'
refused umbra record -o none.data -- ./native
equal 'a folder' "$(<said)" "umbra: ./native: cannot be executed: it is a folder
126"
refused umbra record --nosuchoption -- perl
contains said '^umbra: record: --nosuchoption: no such option; see umbra record --help$'
[[ ! -e none.data ]] || fail 'a recording of no program was left'

# What is left for its path, and nothing is recorded.
mkdir $'new\nline'
cp "$(type -P true)" $'new\nline/true'
refused umbra record -o left.data -- $'./new\nline/true'
refused umbra record --include=none -o left.data -- perl -e 0
contains said '^umbra: no process was recorded: /usr/bin/perl: no function in it is to be hooked; '
refused umbra report left.data.failed
equal 'report of nothing' "$(<said)" 'umbra: left.data.failed: no process was recorded: /usr/bin/perl: no function in it is to be hooked
1'
refused umbra ls --left left.data
contains said '/new\?line/true: left as it is: its path has control characters$'
refused umbra top instrumented/umbra.data
equal 'top of what has ended' "$(<said)" 'umbra: instrumented/umbra.data: none of its programs runs any more; to see it: umbra report instrumented/umbra.data
1'

# Beside the originals, when asked for, and where there are no namespaces.
run instrumented "$umbra" record --quiet --in-place=no -o beside.data -- "${program[@]}"
recorded_as beside.data
echo '#!/usr/bin/perl -w
print "$0 @ARGV\n"' >script
chmod 755 script
run native "$work/script" one two
run instrumented "$umbra" record --quiet --in-place=no -o beside.data -- "$work/script" one two
recorded_as beside.data
run native "${program[@]}"
if unshare -Ur true 2>/dev/null; then
    # shellcheck disable=SC2016
    run instrumented unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces
        exec setpriv --bounding-set=-all "$@"' sh "$umbra" record -o beside.data -- "${program[@]}"
    contains instrumented.stderr '^umbra: user namespaces are not allowed here: '
    : >instrumented.stderr
    recorded_as beside.data
fi

# A cache that cannot be written.
run instrumented env XDG_CACHE_HOME=/proc "$umbra" record -o apart.data -- "${program[@]}"
contains instrumented.stderr '^umbra: /proc/umbra: the cache cannot be used: '
: >instrumented.stderr
recorded_as apart.data

# A file that would take long: all that is recorded waits meanwhile.
build fib "$TESTS/../samples/fib.c"
native/fib 3 >fib.out
truncate -s 20G native/fib
timeout -k 5 60 "$umbra" record --quiet -o large.data -- native/fib 3 >out || fail "a large file: status $?"
contains large.data/files '^left	.*/native/fib	it has more than [0-9]+ bytes$'
cmp fib.out out
rm native/fib

# Containers that share a cache have the same pids: one that makes a file does not spoil another's.
if unshare -Urpf --mount-proc true 2>/dev/null; then
    mkdir -p shared/umbra/images/part-{1..99}
    run instrumented unshare -Urpf --mount-proc env XDG_CACHE_HOME="$work/shared" \
        "$umbra" record --quiet -o container.data -- "${program[@]}"
    recorded_as container.data
fi

# A home that is not there is not made.
run instrumented env -u XDG_CACHE_HOME HOME="$work/home" "$umbra" record -o home.data -- "${program[@]}"
contains instrumented.stderr '^umbra: ~/\.cache/umbra: the cache cannot be used: there is no home directory; '
: >instrumented.stderr
recorded_as home.data
[[ ! -e home ]] || fail 'a home was made'

# A command that a message names is one for a shell.
umbra record -o 'a b.data' -- perl -e 0 >said 2>&1
equal 'a name with a space' "$(<said)" "umbra: 1 process recorded in a b.data; to see it: umbra report 'a b.data'"

# A cache without room: what could not be written this time is no reason the next time.
mkdir small
if unshare -Urm mount -t tmpfs none small 2>/dev/null; then
    # shellcheck disable=SC2016
    XDG_CACHE_HOME=$work/small unshare -Urm sh -c 'mount -t tmpfs -o size=200k none small
        "$1" record --quiet --in-place=no -o full.data -- perl -e 0
        mount -o remount,size=64m small
        "$1" record --quiet --in-place=no -o room.data -- perl -e 0' sh "$umbra"
    umbra ls --left full.data >said
    contains said '/libc\.so\.6: left as it is: .* No space left on device'
    equal 'left when there was room again' "$(umbra ls --left room.data | grep -c 'No space')" 0
fi

# A page without room.
if unshare -Urm mount -t tmpfs none small 2>/dev/null; then
    # shellcheck disable=SC2016
    unshare -Urm sh -c 'mount -t tmpfs -o size=8k none small
        "$1" report room.data --output-file=small/page.html' sh "$umbra" >said 2>&1 || true
    contains said '^umbra report: small/page.html: cannot be written: No space left on device$'
fi

# A function that is not to be hooked.
umbra record --quiet --exclude='Perl_pp_*' -o few.data -- "${program[@]}" >out || equal status $? 3
umbra report few.data --output-format=tsv --output-file=- >tsv
! grep -q 'Perl_pp_' tsv || fail 'an excluded function was recorded'
contains tsv Perl_runops

# Live.
mkfifo wait
umbra record --quiet -o live.data -- perl -e 'my $s = 0; $s += length $_ for 1 .. 200000;
    open my $f, "<", $ARGV[0]; <$f>' wait &
recorder=$!
started+=("$recorder")
for ((try = 0; try < 300; try++)); do
    umbra top live.data --once --top=500 >said 2>problems && grep -q Perl_ said && break
    sleep 0.05
done
contains said Perl_
umbra report --text live.data >said 2>problems
contains problems '^umbra: live\.data: is still being recorded; '
echo >wait
wait "$recorder"

# The supervisor's worker is killed: the program goes on, unwatched.
umbra record --quiet -o killed.data -- perl -e 'open my $f, "<", $ARGV[0]; <$f>;
    print `gawk "BEGIN { print 42 }"`' wait >out &
recorder=$!
started+=("$recorder")
for ((try = 0; try < 300; try++)); do
    [[ -e killed.data/traces ]] && compgen -G 'killed.data/traces/perl-*.bin' >/dev/null && break
    sleep 0.05
done
worker=
for child in $(pgrep -P "$(pgrep -P "$recorder" umbra | head -n 1)" umbra) \
    $(for umbra in $(pgrep -P "$recorder"); do pgrep -P "$umbra" umbra; done); do
    worker=$child
    holder=$(ps -o ppid= -p "$child")
done
[[ $worker && $(ps -o comm= -p $holder) == umbra ]] || fail 'no worker was found'
kill -KILL "$worker"
echo >wait
wait "$recorder"
equal 'output when the supervisor was killed' "$(<out)" 42

# A key that kills the program ends the loop around umbra, as it ends the one around the program.
# Python: who is started in the background ignores keys otherwise.
cat >loop.sh <<'END'
for i in 1 2; do
    "$1" record --quiet -o "key$i.data" -- perl -e 'kill "INT", 0; sleep 9'
done
END
setsid --wait python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp("bash", ["bash", *sys.argv[1:]])' loop.sh "$umbra" || true
[[ -e key1.data && ! -e key2.data ]] || fail 'a loop went on after a key'

# What is sent to umbra alone is for the program; a key's signal reaches both.
cat >sent.py <<'END'
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
waits = "trap 'echo interrupted; exit 3' INT; echo ready; read line"
command = [sys.argv[1], "record", "--quiet", "-o", "sent.data", "--", "bash", "-c", waits]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as umbra:
    print(umbra.stdout.readline(), end="")
    umbra.send_signal(signal.SIGINT)
    print(umbra.stdout.read(), end="")
print(umbra.wait())
END
python3 sent.py "$umbra" >sent.out
equal 'a signal sent to umbra' "$(tr '\n' ' ' <sent.out)" 'ready interrupted 3 '
