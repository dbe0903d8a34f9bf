#!/bin/bash
# On a terminal, the summary shows the hottest functions first, figures as people read them, and no line that
# is wider than the terminal. In a pipe it is the table that scripts read.
# needs: gcc less python3
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache TERM=xterm
unset NO_COLOR PAGER UMBRA_PAGER LESS COLUMNS LINES LD_LIBRARY_PATH
umbra=$BUILD/front/umbra
long=a_function_whose_name_is_longer_than_what_a_small_terminal_has_room_for_behind_its_figures

# hot computes for 0.3 s of processor time, the one with the long name for a tenth of that; cold for no time.
cat >computes.c <<END
#include <time.h>

volatile unsigned long sum;

__attribute__((noinline)) void cold(unsigned long value) { sum += value; }

__attribute__((noinline)) void spin(void)
{
    for (int i = 0; i < 200000; i++)
        sum += (unsigned long)i;
}

__attribute__((noinline)) void hot(void)
{
    for (int i = 0; i < 200000; i++)
        sum += (unsigned long)i;
}

__attribute__((noinline)) void $long(void)
{
    for (int i = 0; i < 200000; i++)
        sum += (unsigned long)i;
}

int main(void)
{
    for (int i = 0; i < 1234; i++)
        cold(1);
    while (clock() < CLOCKS_PER_SEC * 3 / 10)
        hot();
    while (clock() < CLOCKS_PER_SEC * 33 / 100)
        $long();
    return 0;
}
END
gcc -O1 -g computes.c -o computes
umbra record -q -o r.data -- ./computes
umbra record -q -o timed.data --time=hot -- ./computes
umbra record -q -o children.data -- /bin/sh -c './computes; ./computes --with a command line that is longer than lines are'
umbra record -q -o calls.data --mode=calltrace -- /bin/true
umbra record -q -o untimed.data --timing=none -- /bin/true
umbra record -q -o exact.data --timing=exact -- /bin/true

# What a command writes on a terminal of so many rows and columns, its standard error left out.
cat >on_terminal.py <<'END'
import fcntl, os, pty, struct, sys, termios

rows, columns = int(sys.argv[1]), int(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
    os.execv(sys.argv[3], sys.argv[3:])
sent = b""
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    sent += chunk
sys.stdout.buffer.write(sent.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END

# shown ROWS COLUMNS OPTION…: of umbra report --text, into the file shown
shown()
{
    local status=0
    /usr/bin/python3 on_terminal.py "$1" "$2" "$umbra" report --text "${@:3}" >shown || status=$?
    equal "status with ${*:3}: $(<said)" $status 0
}

# widest FILE: columns of its widest line; its names are of ASCII
widest()
{
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'
}

# --- less than a sample: the clocks know how long it was
umbra record -q -o short.data -- /bin/true
shown 50 80 --no-pager short.data
contains shown '^[0-9.]+ [um]s wall, [0-9.]+ [um]s CPU, '

# --- how it is laid out
for columns in 60 80 200; do
    for recording in r timed children calls untimed exact; do
        shown 50 $columns --no-pager $recording.data
        (($(widest shown) <= columns)) || fail "$recording is wider than $columns: $(<shown)"
        (($(wc -l <shown) > 10)) || fail "$recording: nothing is shown: $(<shown)"
    done
    NO_COLOR=1 shown 50 $columns --no-pager r.data
    ! grep -q $'\x1b' shown || fail "colour with NO_COLOR: $(cat -v shown)"
    equal "the first line" "$(sed -E '1!d; s/[0-9]+/PID/' shown)" "process PID: ./computes"
    head -n 40 shown >first
    contains first '^[0-9.]+ m?s wall, [0-9]+ ms CPU, ([0-9.]+ [um]s waited, )?[0-9,.]+( M)? calls, 1 thread$'
    contains first '^Hottest functions by self time \(CPU\)$'
    equal "the hottest" "$(awk '/^Hottest/ { getline; getline; print $NF == "computes" ? $(NF - 1) : $NF; exit }' first)" hot
    contains first '^Hottest functions by inclusive time \(CPU\)$'
    contains first '^ *[0-9]+ ms +[0-9.]+% +<?[0-9.]+% .*  main( |$)' # which seldom has a sample
    contains first '^ *[0-9]+ ms +[0-9.]+% +<[0-9.]+% '
    contains shown '^    .* /.*/computes$'
    ! grep -E 'libhooks|ld-linux' shown || fail "the agent or the linker among the modules"
    if ((columns < 200)); then
        ! grep -q $long shown || fail "a name that does not fit: $(<shown)"
        contains shown '^ *[0-9]+ ms .*  a_function_.*….*figures$'
    else
        contains shown "^ *[0-9]+ ms .*  $long  computes\$"
    fi
done

# --- what is known of a function that no sample met
NO_COLOR=1 shown 50 80 --no-pager --sort=calls --top=500 r.data
contains shown '^Functions by calls$'
contains shown '^ +1,234 +[0-9.]+% +<[0-9.]+% +<[0-9.]+% +< [0-9.]+ [nu]s  cold$'
equal "tables of functions" "$(grep -ciE '^(hottest )?functions' shown)" 2 # and the modules' heading
NO_COLOR=1 shown 50 80 --no-pager --sort=inclusive --top=2 r.data
equal "rows of --top=2" "$(awk '/^Hottest/ { inside = 1; next } !NF { inside = 0 } inside' shown | wc -l)" 3

# --- what it used, where hooks took much of it, as they do of calls that do nothing
cat >calls.c <<END
__attribute__((noinline)) void nothing(void) { __asm__(""); }
int main(void)
{
    for (int i = 0; i < 30000000; i++)
        nothing();
}
END
gcc -O1 calls.c -o calls_nothing
umbra record -q -o hooks.data -- ./calls_nothing
NO_COLOR=1 shown 50 80 --no-pager hooks.data
contains shown '^[0-9.]+ m?s wall, [0-9.]+ m?s CPU, .*30\.0 M'
share=$(sed -nE 's/^ +samples .*: ([0-9.]+)% of .*/\1/p' shown)
grep -Eq 'CPU, ([0-9.]+ [mun]s of it in functions|all its samples in hooks),' shown ||
    awk -v share="$share" 'BEGIN { exit !(share > 75) }' || fail "$share% in functions, and no word of it: $(<shown)"

# --- times of another run: where they are from, and none of what this one did not measure
if umbra record -q -o stacks.data --how=samples -- /bin/sh -c './computes; exit 3' 2>said; then
    fail "another status"
elif [[ -d stacks.data/traces ]]; then
    NO_COLOR=1 shown 50 80 --no-pager stacks.data --process=sh
    contains shown '^  state     ended, exit status 3$'
    ! grep -E 'hooked|without exit' shown || fail "of what was not instrumented: $(<shown)"
    umbra record -q -o twice.data --twice -- ./computes
    NO_COLOR=1 shown 50 80 --no-pager twice.data
    contains shown '^times from .*: [0-9]+ samples'
    contains shown '^  timing    none of its own: counts are exact'
    contains shown '^ +calls +thread +name$'
    ! grep -E 'there are no times|measuring' shown || fail "of times that there are: $(<shown)"
fi

# --- calls that were timed each
NO_COLOR=1 shown 50 80 --no-pager timed.data
contains shown '^ +[0-9,]+( +[0-9.]+ [um]s){6}  hot$'

# --- colour, and letters of ASCII alone
shown 50 80 --no-pager r.data
contains shown $'^\x1b\\[1mHottest functions by self'
TERM=dumb shown 50 80 r.data
! grep -q $'\x1b' shown || fail "colour with TERM=dumb: $(cat -v shown)"
NO_COLOR=1 LC_ALL=C shown 50 60 --no-pager r.data
! LC_ALL=C grep -q '[^ -~]' shown || fail "not of ASCII: $(cat -v shown)"
contains shown '  a_function_.*\.\.\..*figures$'

# --- what scripts read is the same whatever the environment says
umbra report --text r.data >piped
NO_COLOR='' UMBRA_PAGER='cat >paged' COLUMNS=60 umbra report --text r.data | cmp - piped
[[ ! -e paged ]] || fail "a pager for a pipe"
equal "headings" "$(grep -A1 'hottest' piped)" \
'hottest functions by self time (CPU)
         calls          self ns   self%     inclusive ns   incl%  function
--
hottest functions by inclusive time (CPU)
         calls          self ns   self%     inclusive ns   incl%  function'
contains piped '^ +1234 +0 +0\.00 +0 +0\.00  cold$'
contains piped "^ +[0-9]+ +[0-9]{8} +[0-9.]+ +[0-9]{8} +[0-9.]+  $long\$"
contains piped '^ +- +- +- +/.*/libhooks\.so \(not instrumented\)$'
contains piped '^totals: [0-9]+ ns [0-9]+ calls [0-9]+ functions$'
umbra report --text --sort=calls --top=3 r.data >sorted
equal "tables in a pipe" "$(grep -c 'functions by' sorted)" 1
contains sorted '^functions by calls$'
umbra report --text --output-file=file r.data
cmp piped file

# --- a pager, where there is more than fits
UMBRA_PAGER='cat >paged' PAGER=nosuch shown 10 80 r.data
equal "on the terminal" "$(<shown)" ''
contains paged '^.*Hottest functions by self time'
rm paged
PAGER='cat >paged' shown 1000 80 r.data
[[ ! -e paged ]] || fail "a pager for what fits"
contains shown 'Hottest functions by self'
PAGER='cat >paged' shown 10 80 --no-pager r.data
[[ ! -e paged ]] || fail "a pager in spite of --no-pager"
for pager in nosuch 'nosuch --option' '' cat; do
    PAGER=$pager shown 10 80 r.data
    contains shown 'Hottest functions by self'
done
mkdir bin
cat >bin/less <<END
#!/bin/sh
echo "LESS=\$LESS" >"$work/less"
cat >/dev/null
END
chmod +x bin/less
PATH=$work/bin:$PATH shown 10 80 r.data
equal "of less" "$(<less)" LESS=FRX
PATH=$work/bin:$PATH LESS=R shown 10 80 r.data
equal "of the user's less" "$(<less)" LESS=R

# --- what cannot be sorted
# refused PATTERN COMMAND…
refused()
{
    local status=0
    "${@:2}" >out 2>said || status=$?
    equal "status of ${*:2}" $status 2
    contains said "$1"
    [[ ! -s out ]] || fail "${*:2} writes: $(<out)"
}
refused '^umbra report: --sort is for the summary: umbra report --text' "$umbra" report --sort=self r.data
refused '^grinder: --sort is for the summary: --mode=summary' "$BUILD/grinder/grinder" --mode=stack --sort=self r.data/traces
refused '^grinder: --no-pager is for the summary' "$BUILD/grinder/grinder" --mode=stack --no-pager r.data/traces
refused 'expected self, inclusive, calls, wait, p99 or instructions, found time' "$umbra" report --text --sort=time r.data
refused 'has no times to sort by: .*--sort=calls' "$umbra" report --text --sort=self untimed.data
refused 'has no waits to sort by: .*--timing=samples' "$umbra" report --text --sort=wait exact.data
umbra report --text --sort=calls untimed.data >out
contains out '^functions by calls$'
