#!/bin/bash
# What people type by habit, from perf and others, is understood, or they are told what to type instead;
# messages name the command that was typed; and it is said where a file was written.
# needs: gcc jq
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello

# answered STATUS LINE COMMAND…: with that one line
answered()
{
    local status=$1 line=$2 is=0
    shift 2
    "$@" >out 2>said || is=$?
    equal "$*: status" "$is" "$status"
    equal "$*: lines" "$(wc -l <said)" 1
    contains said "^umbra: $line"
}

# helped PATTERN COMMAND…: it prints that
helped()
{
    local pattern=$1
    shift
    "$@" >out 2>said || fail "$*: status $?: $(<said)"
    contains out "$pattern"
}

echo '-- help and version'
# fits LINES: what was printed last does, on lines of 80 columns
fits()
{
    (($(wc -l <out) <= $1)) || fail "help of more than $1 lines: $(wc -l <out)"
    ! grep -E '.{81}' out || fail 'help of more than 80 columns'
}
for words in help -h --help; do
    helped '^umbra VERB \[OPTION' umbra $words
    fits 24
done
for verb in record report top diff ls cache bisect; do
    contains out "^  $verb "
done
mv out overview
for verb in record report top diff ls cache bisect; do
    for words in "$verb --help" "$verb -h" "help $verb"; do
        # shellcheck disable=SC2086
        helped "^umbra $verb .*\[OPTION" umbra $words
        contains out "^  umbra $verb( |$)"
        fits 40
    done
done
for words in 'record -o x --help' 'report x.data -h' 'ls . --help' 'bisect --check=true -h -- nosuch'; do
    # shellcheck disable=SC2086
    helped "^umbra ${words%% *} .*\[OPTION" umbra $words
done
umbra record --help >out
contains out '^  --leave=PATTERN '
! grep -e --text out || fail "record's help has an option of report"
umbra report --help >out
contains out '^  --text '
! grep -e --leave out || fail "report's help has an option of record"
umbra record -q -- /bin/echo --help -h >out
equal "the program's own words" "$(<out)" '--help -h'
answered 2 'nosuch: expected a verb: ' umbra help nosuch
answered 2 'record: --nosuch: .*; see umbra record --help$' umbra record --nosuch
answered 2 'bisect: --output=x: .*; see umbra bisect --help$' umbra bisect --output=x
for words in -V 'record -V' '--version'; do
    # shellcheck disable=SC2086
    helped '^umbra [0-9]' umbra $words
done

echo "-- perf's options of record"
for word in '-p 999999999' -p999999999 '--pid 999999999' --pid=999999999; do
    # shellcheck disable=SC2086
    if umbra record $word >out 2>said; then fail "umbra record $word"; fi
    contains said '^umbra record: pid 999999999: there is no such process$'
done
answered 2 'record: -a: .*not the whole system: umbra record -- PROGRAM' umbra record -a
answered 2 'record: -e: .*no events of the processor: umbra record -- PROGRAM' umbra record -e cycles -- ./hello
answered 2 '-p: expected a verb in front of it: .*umbra record -- PROGRAM' umbra -p 12
answered 2 'top: -p: expected a recording: .*umbra record -- PROGRAM' umbra top -p 12
umbra record -q -g -F 500 -- ./hello >out 2>said
equal 'quiet' "$(cat out said)" hello
umbra record -v -gF500 -- ./hello >out 2>said
contains said '^umbra: \+ .*/call_trace_service start .*--samples=500'

echo '-- where it was written'
equal 'a page' "$(umbra report -q -o x.html)" x.html
contains x.html '<html'
equal 'a page by -oFILE' "$(umbra report -q -oy.html -g)" y.html
before=$(ls)
for format in callgrind folded flamegraph pprof speedscope tsv tsv-edges json firefox; do
    file=$(umbra report --output-format=$format)
    [[ $file == umbra.data/* && -s $file ]] || fail "$format: is said to be in '$file'"
    umbra report --output-format=$format -o - >standard
    [[ -s standard ]] || fail "$format: nothing on standard output"
done
equal 'the current folder' "$(ls | grep -vx standard)" "$before"
contains umbra.data/profile.svg '<svg'
equal 'a thread each' "$(umbra report --output-format=folded --split)" 'umbra.data/profile.folded-*'
[[ -s umbra.data/profile.folded-01 ]] || fail 'no file of the first thread'
equal 'as named' "$(umbra report --output-format=tsv -o my.tsv -i umbra.data)" my.tsv
equal 'by --mode' "$(umbra report --mode=profile)" umbra.data/callgrind.out
equal 'nothing new is not said to be there' "$(umbra report --output-format=nosuch 2>said || true)" ''

echo '-- who says so'
contains said '^umbra report: --output-format: .* does not have nosuch, but callgrind, .*; see umbra report --help and grinder --help$'
umbra report --output-format=chrome 2>said && fail 'a time line of a profile' || true
contains said '^umbra report: .*needs a call-trace recording \(umbra record --mode=calltrace\)'
umbra record --timing=often -- ./hello >out 2>said && fail 'a wrong option' || true
contains said '^umbra record: --timing=often: expected '
grinder --mode=profile --nosuch x 2>said && fail 'a wrong option' || true
contains said '^grinder: --nosuch: unknown option; see grinder --help$'

echo '-- a function without a name, in a program that is linked to a fixed address'
cat >fixed.c <<'END_OF_SOURCE'
#include <stdio.h>
__attribute__((noinline, noclone)) static int first(int n) { volatile int x = n; return x + 1; }
__attribute__((noinline, noclone)) static int second(int n) { volatile int x = n; return first(x) + 2; }
int main(int count, char **arguments) { (void)arguments; return printf("%d\n", second(count)) < 0; }
END_OF_SOURCE
gcc -O1 -no-pie fixed.c -o fixed
address=0x$(nm fixed | sed -n 's/^0*\(.*\) t second$/\1/p')
strip fixed
base=0x400000
# functions_of OPTION…: of the program, that a recording with these options has
functions_of()
{
    umbra record -q -o fixed.data "$@" -- ./fixed >out
    umbra report fixed.data --output-format=tsv -o - | grep -o 'fixed!0x[0-9a-f]*' | sort || true
}
functions_of >all
grep -qx "fixed!$address" all || fail "the report does not have fixed!$address: $(<all)"
instrument --list fixed | grep -q "^$address	" || fail "--list does not have $address"
grep -vx "fixed!$address" all >others
for pattern in "fixed!$address" "$address" "$(printf '%#x' $((address - base)))" "fixed!$(printf '%#x' $((address - base)))" \
    "$address-$(printf '%#x' $((address + 1)))"; do
    functions_of --exclude="$pattern" >left
    diff others left || fail "--exclude=$pattern"
done
functions_of --exclude="other!$address" >left
diff all left || fail 'of another module'
equal 'the module by its name' "$(functions_of --exclude=module:fixed)" ''

echo '-- patterns that match nothing'
umbra record -o pattern.data --exclude=main --exclude=nosuch --exclude="fixed!0x1" -- ./hello >out 2>said
equal 'what matches nothing' "$(grep 'matches nothing' said)" "umbra: --exclude=nosuch matches nothing in what was recorded
umbra: --exclude=fixed!0x1 matches nothing in what was recorded"
umbra record -o pattern.data --include=main --include='fput*' -- ./hello >out 2>said
equal 'all match' "$(grep -c 'matches nothing' said)" 0
umbra record -o pattern.data --exclude='*' -- ./hello >out 2>said
equal 'one that matches all' "$(grep -c 'matches nothing' said)" 0

echo '-- what is recorded by default'
# default_is PATTERN OPTION…: of the summary
default_is()
{
    umbra record -q -o default.data "${@:2}" -- ./hello >out
    umbra report --text default.data >summary
    contains summary "$1"
}
default_is '^  timing    samples'
counted_in_copies default.data/traces/*.bin || fail 'no call was counted in a copy'
# What the agent looks up as it begins is not recorded.
! grep -E 'dlsym|setspecific' summary || fail "the agent's own calls are recorded"
# No sample met it, perhaps: there is something to see, and it is said.
umbra report --output-format=folded -o - default.data >folded 2>said
[[ -s folded ]] || fail 'nothing is shown of a program without samples'
grep -q '^  samples   0' summary && contains said 'no sample met it, as it computed for too short: shown by calls'
default_is '^  timing    adaptive' --samples=0
default_is '^  timing    exact' --mode=calltrace
default_is '^  timing    adaptive' --timing=adaptive --how=prologue
! counted_in_copies default.data/traces/*.bin || fail 'calls were counted in copies'

echo '-- a list for programs'
mkdir listed
equal 'no recordings' "$(umbra ls --json listed | jq -c .)" '[]'
umbra record -q -o listed/fine.data -- ./hello >out
umbra record -q -o 'listed/a "quoted".data' -- sh -c 'exit 3 # "\' 'é' || true
umbra ls --json listed >list
equal 'names' "$(jq -c 'map(.path)' list)" "$(jq -cn --arg at "$work/listed" '[$at + "/a \"quoted\".data", $at + "/fine.data"]')"
equal 'command' "$(jq -c '.[0].command' list)" '["sh","-c","exit 3 # \"\\","é"]'
equal 'status' "$(jq -c 'map([.state, .status])' list)" '[["ended",3],["ended",0]]'
equal 'processes' "$(jq -c 'map(.processes)' list)" '[1,1]'
(($(jq '.[1].images' list) >= 2)) || fail "images: $(<list)"
(($(jq '.[1].size' list) > $(du -B1 listed/fine.data/traces/*.bin | cut -f1))) || fail "size: $(<list)"
equal 'as in the table' "$(jq -r '.[1].began' list)" "$(umbra ls listed/fine.data | sed -nE 's/^listed\S* +(\S+) .*/\1/p')"
jq -e '.[1].began | fromdate' list >out || fail 'began is no date of ISO 8601'
answered 2 'ls: --left and --json' umbra ls --left --json
# What a recording holds may be anybody's.
printf 'arguments\t["x"], "path": [1\nstatus\t0, "a": 1\nbegan\t"\n' >>listed/fine.data/recording
equal 'hostile values' "$(umbra ls --json listed/fine.data | jq -c '.[0] | [.command, .status, .began]')" '[null,null,"\""]'
for text in '' '[' '["' '["x\"]' '["x"' '["x",]' '["\n"]' '[x]' '["x"]]'; do
    printf 'arguments\t%s\n' "$text" >>listed/fine.data/recording
    equal "arguments $text" "$(umbra ls --json listed/fine.data | jq -c '.[0].command')" null
done
printf 'arguments\t[]\n' >>listed/fine.data/recording
umbra ls --json listed/fine.data | jq -e . >out

((EUID == 0)) || { echo 'skipped: another user, for want of rights'; exit 0; }
echo "-- nothing is written into another's recording"
chown -R 65534:65534 umbra.data
answered 1 "umbra.data: is another user's; say where to write: -o FILE" umbra report --output-format=json
equal 'as named' "$(umbra report --output-format=json -o my.json)" my.json
