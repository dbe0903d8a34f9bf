#!/bin/bash
# instrument --bisect finds the functions whose hooks make a command fail, and leaves nothing behind.
# The program looks at the first bytes of two of its functions.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export TMPDIR=$work/tmp
mkdir tmp
cat >own_bytes.c <<'END'
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noinline, noclone)) int
KEPT first(int n) { volatile int x = n; return x * 3; }
KEPT other(int n) { volatile int x = n; return x * 5; }
KEPT another(int n) { volatile int x = n; return x * 7; }
KEPT last(int n) { volatile int x = n; return x * 11; }
static int is_hooked(int (*function)(int)) { return *(unsigned char *)function == 0xe9; }
int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    if (first(count) + other(count) + another(count) + last(count) == 0)
        return 9;
    if (!strcmp(how, "one"))
        return is_hooked(first) ? 3 : 0;
    if (!strcmp(how, "both"))
        return is_hooked(first) && is_hooked(last) ? 3 : 0;
    if (!strcmp(how, "either") && (is_hooked(first) || is_hooked(last)))
        abort();
    return !strcmp(how, "always");
}
END
gcc -O1 -o own_bytes own_bytes.c
sha256sum own_bytes >before

# bisected ARGUMENT…: said, status; culprits are the names
bisected()
{
    status=0
    instrument --bisect "$@" >said 2>problem || status=$?
    culprits=$(sed -n 's/^culprit: 0x[0-9a-f]* \([a-z]*\); leave it out with --exclude=0x[0-9a-f]*$/\1/p' said |
        sort | tr '\n' ' ')
    equal "what $* leaves behind" "$(ls -A tmp)" ""
}
finds()
{
    local wanted=$1
    shift
    bisected "$@"
    equal "status of $*" "$status" 0
    equal "culprits of $*" "$culprits" "$wanted "
}

finds first -- ./own_bytes one
contains said '^run 1: the original: succeeds$'
contains said '^run 2: [0-9]+ of [0-9]+ functions hooked: fails: exit status 3$'
finds 'first last' -- ./own_bytes both
contains said '^it fails when these 2 functions are hooked together:$'
finds 'first last' -- ./own_bytes either
contains said 'fails: signal 6$'
finds first "$work/own_bytes" -- sh -c 'own_bytes one' # through PATH
# shellcheck disable=SC2016
finds first own_bytes -- sh -c '"$UMBRA_BISECT" one'
finds first own_bytes -- sh -c '"$1" one' sh own_bytes # an argument
finds last --exclude=first -- ./own_bytes either
# what is said helps
exclude=$(sed -n 's/^culprit: .* leave it out with //p' said)
instrument own_bytes -o own_bytes.instr --exclude=first "$exclude" >said.too
./own_bytes.instr either || fail "it fails with --exclude=first $exclude"

bisected -- ./own_bytes always
equal "status where the original fails" "$status" 1
contains problem 'expected the command to succeed with a copy of the original, but it fails'
bisected -- ./own_bytes
equal "status where nothing fails" "$status" 1
contains problem 'expected the command to fail with all functions hooked, but it succeeds'

echo '-- a library, by the name it gives itself'
cat >library.c <<'END'
__attribute__((noinline)) int looked_at(int n) { volatile int x = n; return x + 1; }
int library(void) { return looked_at(0) && *(unsigned char *)looked_at == 0xe9 ? 3 : 0; }
END
cat >user.c <<'END'
int library(void);
int main(void) { return library(); }
END
mkdir library
gcc -O1 -shared -fPIC -Wl,-soname,liblooks.so.1 -o library/liblooks.so.1.2 library.c
ln -s liblooks.so.1.2 library/liblooks.so.1
gcc -o user user.c -Llibrary -l:liblooks.so.1
export LD_LIBRARY_PATH=$work/library
status=0
instrument --bisect library/liblooks.so.1.2 -- ./user >said || status=$?
contains said '^culprit: 0x[0-9a-f]+ looked_at;'
unset LD_LIBRARY_PATH

echo '-- an interruption'
(trap - INT; exec "$BUILD/rewriter/instrument" --agent="$AGENT" --bisect own_bytes -- sleep 60) >said 2>problem &
bisect=$!
for ((i = 0; i < 400; i++)); do
    pgrep -P "$bisect" >/dev/null && break
    sleep 0.05
done
kill -TERM "$bisect"
status=0
wait "$bisect" || status=$?
equal "status of one that was interrupted" "$status" 1
contains problem 'interrupted by signal 15'
equal "what it leaves behind" "$(ls -A tmp)" ""
sha256sum --quiet -c before

for wrong in "--bisect own_bytes" "--bisect -o out -- true" "--bisect --list -- true"; do
    status=0
    # shellcheck disable=SC2086
    instrument $wrong >said 2>problem || status=$?
    equal "status of $wrong" "$status" 2
done
