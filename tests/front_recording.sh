#!/bin/bash
# A recording is used by its descriptor: who can rename it, or has put links and pipes into it, gets
# nothing written, removed or read elsewhere, and makes nobody wait. Where there can be no recording,
# the program runs all the same.
# needs: gcc perl util-linux coreutils
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
chmod 755 "$work"

# quickly COMMAND…: it does not wait for anybody; its status is in $status, and what it said in said
quickly()
{
    status=0
    timeout -k 5 30 "$@" >said 2>&1 </dev/null || status=$?
    ((status != 124 && status != 137)) || fail "waits: $*"
}

# runs WHY COMMAND…: perl runs as it does natively, after a line that says what is lost
runs()
{
    local why=$1
    shift
    quickly "$@" perl -e 'print "ran\n"; exit 3'
    equal "$why: status" "$status" 3
    equal "$why: output" "$(grep -cx ran said)" 1
    contains said "^umbra: .*$why"
}

# --- nobody else may read it ---

for mask in 000 022 777; do
    (umask $mask && "$umbra" record --quiet -o "mask$mask.data" -- perl -e 'printf "%03o\n", umask') >out
    equal "the program's umask" "$(<out)" $mask
    for name in recording files; do
        equal "mode of $name with umask $mask" "$(stat -c %a "mask$mask.data/$name")" 600
    done
    umbra report --text "mask$mask.data" >summary
    contains summary ' Perl_'
done

# --- names that options and variables split ---

# A library of the name of one of perl's, in the folder that the path would be split to.
mkdir evil
echo '__attribute__((constructor)) static void begin(void) { __builtin_trap(); }' >evil.c
gcc -shared -fPIC evil.c -o evil/libm.so.6
for name in "a:$work/evil:b" "a;$work/evil;b"; do
    mkdir -p "$name"
    quickly "$umbra" record --in-place=no -o "$name/split.data" -- perl -e 'print "ran\n"; exit 3'
    equal "status in $name" "$status" 3
    contains said '^umbra: .*/split\.data: its path has a character of :;\$, .*: so the program'\''s libraries are not recorded'
done
# shellcheck disable=SC2016
mkdir '$LIB'
# shellcheck disable=SC2016
quickly "$umbra" record --in-place=no -o '$LIB/split.data' -- perl -e 'exit 3'
equal 'status in a folder of a token' "$status" 3
contains said '^umbra: \$LIB/split\.data: its path has'

mkdir 'x=y'
printf 'int twice(int i) { return 2 * i; }\nint main(void) { return twice(21) != 42; }\n' >twice.c
gcc -O0 twice.c -o 'x=y/twice=1'
umbra record --quiet -o equals.data -- 'x=y/twice=1'
umbra report --text --top=500 equals.data >summary
contains summary " twice\$"

# --- pipes and links in it ---

umbra record --quiet -o piped.data -- perl -e 0
for name in files report.html; do
    rm -f "piped.data/$name"
    mkfifo "piped.data/$name"
    quickly "$umbra" report piped.data
    quickly "$umbra" ls piped.data
    quickly "$umbra" ls --left piped.data
    quickly "$umbra" report --text piped.data
    quickly "$umbra" diff piped.data piped.data
    quickly "$umbra" top piped.data
done
[[ -f piped.data/report.html ]] || fail 'the page did not take the place of a pipe'
# Who reads the pipe gets nothing.
rm piped.data/report.html
mkfifo piped.data/report.html
exec 3<>piped.data/report.html
quickly "$umbra" report piped.data
read -r -t 0.1 -u 3 line && fail "the page was handed to who reads a pipe: $line"
exec 3>&-
equal 'mode of the page' "$(stat -c '%a %F' piped.data/report.html)" '600 regular file'
echo mine >mine
ln -sf "$work/mine" piped.data/report.html
quickly "$umbra" report piped.data
equal 'what a link as the page leads to' "$(<mine)" mine
# The same as a folder of pages.
rm piped.data/report.html
mkdir elsewhere
ln -s "$work/elsewhere" piped.data/report.html
quickly "$umbra" report --split piped.data
equal 'what a link as the pages leads to' "$(ls elsewhere)" ''
contains said '^umbra: piped\.data/report\.html: cannot be written: '
rm piped.data/report.html
quickly "$umbra" report --split piped.data
equal 'a folder of pages' "$status $(tail -n 1 said)" '0 piped.data/report.html'
[[ -e piped.data/report.html/index.html ]] || fail "no pages: $(ls piped.data/report.html)"

for trace in piped.data/traces/*.bin; do
    mv "$trace" a.trace
    mkfifo "$trace"
    quickly "$umbra" report --text piped.data
    quickly "$umbra" report piped.data
    mv a.trace "$trace"
done
rm -r piped.data/traces
mkfifo piped.data/traces
quickly "$umbra" report piped.data
quickly "$umbra" ls piped.data
rm piped.data/recording
mkfifo piped.data/recording
quickly "$umbra" ls
quickly "$umbra" report piped.data
equal 'report of a pipe' "$status" 1
quickly "$umbra" record -o piped.data -- perl -e 0
equal 'record over what is no recording' "$status $(<said)" "1 umbra: piped.data: expected a recording or nothing there, found something else; name another place with -o"

# What it says is shown without control characters, and what is too much is not read.
umbra record --quiet -o hostile.data -- perl -e 0
printf 'command\t\033[2Jclear\n' >>hostile.data/recording
printf 'left\t/\033[2J\t\033[2J\ninstrumented\t/etc/passwd\t../../../../../../../../etc/passwd\n' >>hostile.data/files
umbra ls hostile.data >said
umbra ls --left hostile.data >>said
! grep -q $'\033' said || fail 'control characters of a recording are shown'
umbra report --verbose --text hostile.data >said 2>&1 || true
! grep -q 'path-map=/etc/passwd' said || fail 'what lies outside of a recording is taken for its image'
truncate -s 1T hostile.data/files
(ulimit -v 4000000 && quickly "$umbra" ls hostile.data && ((status == 0))) || fail "a large list: $(<said)"
awk 'BEGIN { for (i = 0; i < 200000; i++) print "instrumented\t/" i "\tx" }' >hostile.data/files
quickly "$umbra" ls hostile.data
contains said ' 200000 '

# --- where there can be none ---

gone_folder()
{
    mkdir "$work/gone"
    cd "$work/gone"
    rmdir "$work/gone"
    exec "$@"
}
(gone_folder "$umbra" record -- perl -e 'print "ran\n"; exit 3') >out 2>said && status=0 || status=$?
equal 'in a removed folder' "$status $(<out)" '3 ran'
contains said '^umbra: umbra\.data: cannot be made: No such file or directory; perl is run as it is, and not recorded$'
runs 'nosuch/umbra\.data: cannot be made: ' "$umbra" record -o nosuch/umbra.data --
# shellcheck disable=SC2016
quickly "$umbra" record -o removed.data -- sh -c 'rm -rf removed.data; perl -e "print qq(ran\n)"; exit 3'
equal 'when it is removed' "$status $(grep -cx ran said)" '3 1'
# shellcheck disable=SC2016
if unshare -Urm sh -c 'mkdir noexec && mount -t tmpfs -o noexec none noexec' 2>/dev/null; then
    # shellcheck disable=SC2016
    runs 'noexec/a\.data: is on a file system that executes nothing \(noexec\); perl is run as it is' \
        unshare -Urm sh -c 'mount -t tmpfs -o noexec none noexec && exec "$@"' sh "$umbra" record -o noexec/a.data --
    # shellcheck disable=SC2016
    runs '/proc: No such file or directory' \
        unshare -Urm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$umbra" record -o proc.data --
    [[ ! -e proc.data ]] || fail 'a recording without /proc was left'
fi

((EUID == 0)) || { echo "skipped: other users, for want of rights"; exit 0; }
uid=$((RANDOM % 10000 + 40000))
as_other=(setpriv --reuid="$uid" --regid="$uid" --clear-groups)
[[ ! -e /tmp/umbra-$uid ]] || fail "/tmp/umbra-$uid is there already"

# The services of that user have their commands there.
cleanup()
{
    local status=$?
    set +e
    rm -rf "/tmp/umbra-$uid"
    (exit "$status")
    end_of_script
}
trap cleanup EXIT
mkdir -m 755 others
chown $uid:$uid others
"${as_other[@]}" test -x "$umbra" || { echo "skipped: others cannot get at $umbra"; exit 0; }

mkdir -m 755 readable
(cd readable && "${as_other[@]}" env XDG_CACHE_HOME="$work/others/cache" \
    "$umbra" record -- perl -e 'print "ran\n"; exit 3') >out 2>said && status=0 || status=$?
equal 'in a folder that cannot be written' "$status $(<out)" '3 ran'
contains said '^umbra: umbra\.data: cannot be made: Permission denied; perl is run as it is'
"${as_other[@]}" mkdir -m 700 others/run
for count in {1..8}; do
    quickly "${as_other[@]}" env XDG_CACHE_HOME="$work/others/cache" XDG_RUNTIME_DIR="$work/others/run" \
        prlimit --nproc="$count" "$umbra" record -o "others/n$count.data" -- perl -e 'print "ran\n"; exit 3'
    equal "with $count processes" "$status $(grep -cx ran said)" '3 1'
    contains said '^umbra: (.*; perl is run as it is, and not recorded|.*no process was recorded|1 process recorded)'
done

# --- where another user can rename it ---

# exchanged OPTION…: root records into others/umbra.data. When the program runs, the other user has put
# a folder of his own in its place, with links.
mkdir -m 755 target target/traces
touch target/traces/perl-1-1.bin
exchange=$work/exchange.sh
cat >exchange.sh <<END
cd $work/others
mv umbra.data moved
mkdir -p umbra.data/images
ln -s $work/target/appended umbra.data/files
ln -s $work/target/appended umbra.data/recording
ln -s $work/target/traces umbra.data/traces
ln -s $work/target umbra.data/images/usr
ln -s $work/target umbra.data/shadow
ln -s $work/target umbra.data/cache
END
exchanged()
{
    rm -rf others/umbra.data* others/moved
    : >target/appended
    (umask 022; "$umbra" record -o others/umbra.data "$@" -- sh -c "
        setpriv --reuid=$uid --regid=$uid --clear-groups sh $exchange
        perl -e 'print qq(ran\n)'; exit 3") >out 2>said && status=0 || status=$?
    equal "$*: status" "$status $(<out)" '3 ran'
    [[ -L others/umbra.data/files ]] || fail "$*: nothing was exchanged"
    equal "$*: what root wrote by a link" "$(<target/appended)" ''
    equal "$*: what is where the links lead" "$(cd target && find . | sort | tr '\n' ' ')" \
        '. ./appended ./traces ./traces/perl-1-1.bin '
    contains others/moved/recording '^status	3$'
    contains others/moved/files '^(instrumented|left)	.*/dash	'
}
exchanged
compgen -G 'others/moved/traces/*.bin' >/dev/null || fail 'traces do not go where the recording is'
exchanged --children=no
exchanged --in-place=no
contains said '^umbra: others/umbra\.data: another user or group can rename things in its path: so the program'\''s libraries are not recorded'

# The keeper writes where the recording is, when the service has been killed.
rm -rf others/umbra.data* others/moved
mkfifo gate
"$umbra" record --quiet -o others/umbra.data -- perl -e 'open my $f, "<", $ARGV[0]; <$f>; exit 3' gate >out 2>said &
recorder=$!
started+=("$recorder")
for ((try = 0; try < 300; try++)); do
    compgen -G 'others/umbra.data/traces/perl-*.bin' >/dev/null && break
    sleep 0.05
done
"${as_other[@]}" sh exchange.sh
service=$(pgrep -P "$recorder" call_trace | head -n 1)
[[ $service ]] || fail 'no service was found'
kill -KILL "$service"
echo >gate
for ((try = 0; try < 300; try++)); do
    [[ $(find others/moved/traces -name '*.bin' -size +8k) ]] && break
    sleep 0.05
done
completed others/moved/traces
equal 'what the keeper left elsewhere' "$(ls target/traces)" perl-1-1.bin
wait "$recorder" || true

# Where others can rename things, earlier recordings are kept as elsewhere.
rm -rf others/umbra.data* others/moved
for _ in 1 2 3; do "$umbra" record --quiet -o others/umbra.data -- perl -e 0; done
equal 'recordings' "$(cd others && echo umbra.*)" 'umbra.data umbra.data.old'

# Root reads another user's recording.
"${as_other[@]}" env XDG_CACHE_HOME="$work/others/cache" XDG_RUNTIME_DIR="$work/others/run" \
    "$umbra" record --quiet -o others/his.data -- perl -e 0
echo secret >secret
chmod 600 secret
"${as_other[@]}" ln -s "$work/secret" others/his.data/report.html
quickly "$umbra" report others/his.data
equal 'report of his' "$status $(<said)" '0 others/his.data/report.html'
equal 'what his link leads to' "$(<secret)" secret
equal 'the page' "$(stat -c '%a %u %F' others/his.data/report.html)" '600 0 regular file'
