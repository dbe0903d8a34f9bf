#!/bin/bash
# umbra top shows processes that begin after it, those that come and go at once, and goes on with what
# they did when they have ended.
# needs: gcc
. "$(dirname "$0")/lib.sh"

# program NAME: calls NAME_work once it has a line of input
program()
{
    printf '#include <stdio.h>
        __attribute__((noinline)) void %s_work(int n) { __asm__ volatile("" :: "r"(n)); }
        int main(void) { for (int i = 0; i < 7; i++) %s_work(i); return getchar() == EOF; }\n' \
        "$1" "$1" >"$1.c"
    gcc -g -O1 "$1.c" -o "$1"
}

# until_shown PATTERN: the tables have it
until_shown()
{
    local try
    for ((try = 0; try < 200; try++)); do
        grep -Eq -- "$1" tables && return
        sleep 0.1
    done
    cat tables problems >&2
    fail "top does not show $1"
}

for name in first second third; do
    program $name
    mkfifo "$name.gate"
done
export XDG_CACHE_HOME=$work/cache
"$BUILD/front/umbra" record --quiet -o r.data -- sh -c './first <first.gate & ./second <second.gate; ./third </dev/null; wait' \
    >out 2>said &
recording=$!
started+=("$recording")
exec 3>first.gate
for ((try = 0; ; try++)); do
    umbra top --once --top=500 r.data >tables 2>problems && grep -q first_work tables && break
    ((try < 100)) || fail "top shows nothing: $(cat tables problems)"
    sleep 0.1
done
"$BUILD/front/umbra" top --interval=0.1 --count=600 --top=500 r.data >tables 2>problems &
top=$!
started+=("$top")
until_shown ' 7  first_work$'
! grep -q second_work tables || fail "second has begun before"

exec 4>second.gate
until_shown ' 7  second_work$'
echo >&4
exec 4>&-
until_shown ' 7  third_work$'
! grep -Eq 'rogram.* and [0-9]{19,} calls' tables || fail "calls below zero"
children=$(<"/proc/$top/task/$top/children")
kill "$top"
wait "$top" || true
for process in $children; do
    for ((try = 0; try < 100; try++)); do
        [[ -e /proc/$process ]] || break
        sleep 0.1
    done
    [[ ! -e /proc/$process ]] || fail "what feeds top is left: $(tr '\0' ' ' <"/proc/$process/cmdline")"
done
[[ ! -s problems ]] || fail "top says: $(<problems)"
echo >&3
exec 3>&-
wait "$recording" || true
equal "said" "$(<said)" ""
