#!/bin/bash
# umbra bisect finds the file and the function whose hook makes a program fail, and says so where it is
# not a single one, or none. The program and its libraries look at the first bytes of their functions.
# needs: gcc util-linux procps
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache TMPDIR=$work/tmp
unset DISPLAY WAYLAND_DISPLAY
mkdir tmp

# lib NAME: a library with functions of which it can be asked whether they are hooked
lib()
{
    cat >"$1.c" <<END
#define KEPT __attribute__((noinline, noclone)) static int
KEPT $1_before(int n) { volatile int x = n; return x * 3; }
KEPT $1_looks(int n) { volatile int x = n; return x * 5; }
KEPT $1_between(int n) { volatile int x = n; return x * 7; }
KEPT $1_too(int n) { volatile int x = n; return x * 11; }
KEPT $1_after(int n) { volatile int x = n; return x * 13; }
static int is_hooked(int (*function)(int)) { return *(unsigned char *)function == 0xe9; }
int $1(void)
{
    if ($1_before(1) + $1_looks(1) + $1_between(1) + $1_too(1) + $1_after(1) != 39)
        return 8;
    return is_hooked($1_looks) + 2 * is_hooked($1_too);
}
END
    gcc -O1 -shared -fPIC -o "lib$1.so" "$1.c"
}
lib one
lib two
lib three
cat >looks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int one(void), two(void), three(void);
int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    const int first = one(), second = two(), third = three();
    char line[32] = "";
    if (!strcmp(how, "function") && (second & 1))
        abort();
    if (!strcmp(how, "functions"))
        return second == 3 ? 3 : 0;
    if (!strcmp(how, "either"))
        return second & 1 ? 4 : third & 1 ? 5 : 7;
    if (!strcmp(how, "files"))
        return first && third ? 3 : 0;
    if (!strcmp(how, "output"))
        printf("%s\n", second & 2 ? "wrong" : "right");
    if (!strcmp(how, "all"))
        return one() * two() * three() == 27 ? 3 : 0;
    if (!strcmp(how, "input") && (!fgets(line, sizeof(line), stdin) || strcmp(line, "a line\n")))
        return 6;
    if (!strcmp(how, "input"))
        return third & 1;
    return !strcmp(how, "always") ? 3 : 0;
}
END
gcc -O1 -o looks looks.c -L. -lone -ltwo -lthree -Wl,-rpath,"$work"
sha256sum looks ./*.so >before

# bisected STATUS ARGUMENT…: said has the result, and problem all else; and nothing is left
bisected()
{
    local expected=$1 status=0
    shift
    umbra bisect "$@" >said 2>problem || status=$?
    equal "status of bisect $*, which says $(cat said problem)" "$status" "$expected"
    equal "what bisect $* leaves behind" "$(ls -A tmp)" ''
}

# ends STATUS: the program, by the command that the last line of the result names
ends()
{
    local status=0 command
    command=$(sed -n '$s/.* with: umbra record //p' said)
    eval "umbra record -o checked.data --quiet $command" >checked 2>&1 || status=$?
    equal "status of umbra record $command" "$status" "$1"
}

echo '-- a function of a library'
bisected 0 -- ./looks function
contains said "^culprit: $work/libtwo\.so: 0x[0-9a-f]+ two_looks; leave it out with: umbra record --exclude=function:two_looks -- \./looks function$"
equal 'lines of the result' "$(wc -l <said)" 1
equal 'what else is said, not on a terminal' "$(<problem)" ''
ends 0

echo '-- without a name'
cp libtwo.so kept.so
strip libtwo.so
bisected 0 --timing=none -- ./looks function
contains said "^culprit: $work/libtwo\.so: (0x[0-9a-f]+); leave it out with: umbra record --timing=none --exclude=0x[0-9a-f]+ -- "
ends 0
mv kept.so libtwo.so

echo '-- two functions together'
bisected 0 -- ./looks functions
contains said "^no single function is to blame: it fails when these 2 functions of $work/libtwo\.so are hooked together:$"
contains said '^    0x[0-9a-f]+ two_looks$'
contains said '^    0x[0-9a-f]+ two_too$'
contains said "^leave one of them out with: umbra record --exclude=function:two_too -- "
ends 0

echo '-- two files, each alone harmless'
bisected 0 -- ./looks files
contains said '^no single file is to blame: it fails when these 2 files are instrumented together:$'
contains said "^    $work/libone\.so$"
contains said "^    $work/libthree\.so$"
contains said "^leave one of them out with: umbra record --leave=$work/libthree\.so -- \./looks files$"
ends 0

echo '-- three files together, and many functions together'
bisected 0 -- ./looks all
contains said '^no single file is to blame: it fails when these 3 files are instrumented together:$'
ends 0
{
    for ((i = 0; i < 10; i++)); do
        echo "__attribute__((noinline, noclone)) static int f$i(int n) { volatile int x = n; return x + $i; }"
    done
    echo 'int main(void) { int hooked = 0;'
    for ((i = 0; i < 10; i++)); do
        echo "f$i(0); hooked += *(unsigned char *)f$i == 0xe9;"
    done
    echo 'return hooked == 10; }'
} >many.c
gcc -O1 -o many many.c
bisected 0 --leave='libc.so*' -- ./many
contains said "^culprit: $work/many, as a whole: it takes many of its functions together; leave it out with: umbra record .* --leave=$work/many -- \./many$"
ends 0

echo '-- two functions, each of which does it, of a program that has a status natively'
bisected 0 -- ./looks either
equal 'culprits' "$(sed -n 's/^culprit: .*: 0x[0-9a-f]* \([a-z_]*\); leave it out .*/\1/p' said | sort | paste -sd' ')" \
    'three_looks two_looks'
ends 7

echo '-- wrong output'
bisected 1 -- ./looks output
contains problem '^umbra: it does not fail when it is recorded: exit status 0, as natively; .*--check=COMMAND$'
# shellcheck disable=SC2016
bisected 0 --check='grep -q right "$UMBRA_STDOUT" && test "$UMBRA_STATUS" = 0 && test -e "$UMBRA_STDERR"' -- ./looks output
contains said "^culprit: $work/libtwo\.so: 0x[0-9a-f]+ two_too; leave it out with: "
bisected 1 --check='exit 2' -- ./looks output
contains problem "^umbra: it fails natively, too: the check's exit status 2; "

echo '-- each run reads the input from its beginning'
echo 'a line' >input
status=0
umbra bisect -- ./looks input <input >said 2>problem || status=$?
equal "status: $(<problem)" "$status" 0
contains said ': 0x[0-9a-f]+ three_looks; '

echo '-- options of record'
bisected 1 --exclude='*_looks' -- ./looks function
bisected 1 --leave=libtwo.so -- ./looks function
bisected 0 --in-place=no --include='t*' --exclude=two_before -- ./looks function
contains said "^culprit: $work/libtwo\.so: 0x[0-9a-f]+ two_looks; leave it out with: umbra record --in-place=no '--include=t\*' --exclude=two_before --exclude=function:two_looks -- "
ends 0

echo '-- nothing to find'
bisected 1 -- ./looks
contains problem '^umbra: it does not fail when it is recorded: exit status 0, as natively; '
bisected 1 -- ./looks always
contains problem '^umbra: it fails natively, too, and recorded as natively: exit status 3; '
# shellcheck disable=SC2016
bisected 1 -- sh -c 'grep -q "^Seccomp:.*2" /proc/self/status && exit 3; exit 0'
contains problem '^umbra: it fails recorded even if no file is instrumented, '
bisected 127 -- ./nowhere
contains problem '^umbra: \./nowhere: cannot be run: No such file or directory$'
bisected 2 --timing=sometimes -- ./looks
contains problem 'sometimes'
contains problem '^umbra: bisect: \./looks was not recorded; '
bisected 2
bisected 2 --output=here -- ./looks
bisected 2 --check

echo '-- on a terminal, and with --verbose, each run is shown'
script -qec "$(printf '%q ' "$BUILD/front/umbra" bisect -- ./looks function)" /dev/null >shown
contains shown '^umbra: run 1: natively: exit status 0'
contains shown '^umbra: run 2: recorded, files instrumented: [0-9]+: exit status 134 \(SIGABRT\)'
contains shown '^umbra: run 3: 0 of [0-9]+ files instrumented: exit status 0'
contains shown '^umbra: run [0-9]+: [0-9]+ of [0-9]+ functions hooked in .*/libtwo\.so: exit status '
(($(grep -c '^umbra: run ' shown) <= 20)) || fail "more runs than halving takes: $(<shown)"
bisected 1 --verbose -- ./looks output
contains problem '^right$'
contains problem '^wrong$'
contains problem '^umbra: \+ .*/umbra record '

echo '-- a program that fails with any hook in it'
cat >agent.c <<'END'
#define KEPT __attribute__((noinline, noclone))
#include <stdio.h>
#include <string.h>
KEPT static int is_agent(const char *line) { return strstr(line, "/libhooks") != NULL; }
KEPT static int has_agent(FILE *maps)
{
    char line[4096];
    int has = 0;
    while (fgets(line, sizeof(line), maps))
        has |= is_agent(line);
    return has;
}
int main(void) { FILE *maps = fopen("/proc/self/maps", "r"); return maps ? has_agent(maps) : 9; }
END
gcc -O1 -o agent agent.c
bisected 0 --leave='libc.so*' -- ./agent
equal 'lines of the result' "$(wc -l <said)" 3
contains said "^culprit: $work/agent, as a whole: it fails with others of its functions, too; leave it out with: umbra record '--leave=libc.so\*' --leave=$work/agent -- \./agent$"
equal 'what else is said' "$(sort -u problem)" 'umbra: without that it still fails: the search goes on'
ends 0

echo '-- an interruption, of the native and of a recorded run'
cat >sleeps.sh <<'END'
if grep -q "^Seccomp:.*2" /proc/self/status; then kind=recorded; else kind=native; fi
echo $kind >>kinds
[ $kind != "$1" ] || exec "$PWD/sleeper" 60
END
cp "$(command -v sleep)" sleeper
for kind in native recorded; do
    : >kinds
    "$BUILD/front/umbra" bisect -- sh sleeps.sh $kind 2>problem &
    bisect=$!
    started+=("$bisect")
    for ((i = 0; i < 400; i++)); do
        grep -q $kind kinds && break
        sleep 0.05
    done
    sleep 0.1
    kill -TERM "$bisect"
    status=0
    wait "$bisect" || status=$?
    equal "status of one that was interrupted, $kind" "$status" 143
    contains problem 'interrupted by signal 15'
    equal 'what it leaves behind' "$(ls -A tmp)" ''
    ! pgrep -f "^$work/sleeper" || fail "the program runs on, $kind"
done
sha256sum --quiet -c before
