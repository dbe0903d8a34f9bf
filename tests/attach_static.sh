#!/bin/bash
# call_trace_service attach: programs that no dynamic linker loads, those of musl, and those that libgcc's unwinder was
# linked with: calls are counted, exceptions pass them, and all is out afterwards. Without symbols, an unwinder inside
# is refused.
# needs: gcc g++ musl-tools
. "$(dirname "$0")/lib.sh"

service=$BUILD/service/call_trace_service
# A line of input is three calls of step, from a thread that ends then; C++ throws through them.
cat >lines.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long count;

#ifdef __cplusplus
extern "C"
#endif
__attribute__((noipa)) void step(int depth)
{
    count++;
    if (depth)
        step(depth - 1);
#ifdef __cplusplus
    else
        throw 1;
#endif
    count++;
}

static void *round_of(void *unused)
{
#ifdef __cplusplus
    try {
        step(2);
    } catch (int) {
        return unused;
    }
#else
    step(2);
#endif
    return unused;
}

int main(void)
{
    char line[10];
    pthread_t thread;

    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%d\n", getpid());
    while (fgets(line, sizeof(line), stdin)) {
        if (pthread_create(&thread, NULL, round_of, NULL) || pthread_join(thread, NULL))
            return 1;
        printf("%s", line);
    }
    return 0;
}
END
g++ -x c++ -O1 -g -static lines.c -o static
g++ -x c++ -O1 -g -static-pie lines.c -o static-pie
g++ -x c++ -O1 -g -static-libgcc -static-libstdc++ lines.c -o unwinder-inside
gcc -O1 -g -static lines.c -o static-c
musl-gcc -O1 -g lines.c -o musl
musl-gcc -O1 -g -static lines.c -o static-musl
mkfifo input output

# rounds N
rounds()
{
    local i line
    for ((i = 0; i < $1; i++)); do
        echo "$i" >&5
        read -r line <&6
    done
}

# attached NAME: until detached
attached()
{
    : >attach.log
    "$service" attach "$pid" --trace-dir="traces-$1" --timing=none >attach.log 2>&1 5>&- 6<&- &
    attaching=$!
    started+=($!)
    until grep -q 'are hooked' attach.log; do
        kill -0 "$attaching" || { cat attach.log >&2; fail "$1: attach has ended"; }
        sleep 0.01
    done
}

for name in static static-pie unwinder-inside static-c musl static-musl; do
    echo "-- $name"
    "./$name" <input >output &
    job=$!
    started+=($!)
    exec 5>input 6<output
    read -r pid <&6
    for turn in 1 2; do
        rounds 5
        attached "$name-$turn"
        rounds 20
        "$service" detach "$pid" >detached
        wait "$attaching"
        ! grep -v 'are hooked' attach.log || fail "$name: $(<attach.log)"
    done
    ! grep 'libattach\|images-' "/proc/$pid/maps" || fail "$name: what was mapped is still there"
    rounds 5
    exec 5>&-
    wait "$job"
    for turn in 1 2; do
        grinder --mode=profile --output-format=tsv --output-file=functions "traces-$name-$turn"/*.bin
        equal "$name: calls of step" "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
            $column["function"] ~ /^step/ { sum += $column["calls"] } END { print sum }' functions)" 60
    done
done

echo '-- an unwinder that has no symbols'
strip unwinder-inside -o stripped
./stripped <input >output &
started+=($!)
exec 5>input 6<output
read -r pid <&6
! "$service" attach "$pid" --trace-dir=traces 2>said || fail "attached to an unwinder without symbols"
contains said 'throws exceptions by an unwinder of its own, which cannot be told of hooks'
rounds 2
exec 5>&-
