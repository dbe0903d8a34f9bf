#!/bin/bash
# call_trace_service attach: programs that no dynamic linker loads, those of musl, and those that libgcc's unwinder was
# linked with: calls are counted, exceptions pass them, and all is out afterwards. Without symbols, an unwinder inside
# is refused.
# needs: gcc g++ musl-tools
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

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

for name in static static-pie unwinder-inside static-c musl static-musl; do
    echo "-- $name"
    talks "./$name"
    for turn in 1 2; do
        rounds 5
        attached --timing=none
        rounds 20
        detached
        grinder --mode=profile --output-format=tsv --output-file=functions traces/*.bin
        equal "$name: calls of step" "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
            $column["function"] ~ /^step/ { sum += $column["calls"] } END { print sum }' functions)" 60
        rm -r traces
        ! grep -v 'are hooked' attach.log || fail "$name: $(<attach.log)"
    done
    nothing_left
    rounds 5
    exec 5>&-
    wait "$job"
done

echo '-- an unwinder that has no symbols'
strip unwinder-inside -o stripped
talks ./stripped
! "$service" attach "$pid" --trace-dir=traces 2>said || fail "attached to an unwinder without symbols"
contains said 'throws exceptions by an unwinder of its own, which cannot be told of hooks'
rounds 2
exec 5>&-
