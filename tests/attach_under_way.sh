#!/bin/bash
# call_trace_service attach: calls that are under way when the hooks come are shown, uncounted, above what they go on to
# call, in each thread; without the file that has their stacks, all that stands below the root.
# needs: gcc
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

# Two threads: main serves by way of handle; the other one handles as well. A line of input is a round for each.
cat >rounds.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long count;
static int ends[2][2];

__attribute__((noipa)) static void step(void)
{
    count++;
}

__attribute__((noipa)) static void run(void)
{
    step();
    step();
}

__attribute__((noipa)) static void handle(int input, int output)
{
    char byte;

    while (read(input, &byte, 1) == 1) {
        run();
        write(output, &byte, 1);
    }
}

__attribute__((noipa)) static void *other(void *unused)
{
    handle(ends[0][0], ends[1][1]);
    return unused;
}

__attribute__((noipa)) static void serve(void)
{
    char byte;

    while (read(0, &byte, 1) == 1) {
        run();
        write(ends[0][1], &byte, 1);
        read(ends[1][0], &byte, 1);
        write(1, &byte, 1);
    }
}

int main(void)
{
    pthread_t thread;

    printf("%d\n", getpid());
    fflush(stdout);
    if (pipe(ends[0]) || pipe(ends[1]) || pthread_create(&thread, NULL, other, NULL))
        return 1;
    serve();
    close(ends[0][1]);
    return pthread_join(thread, NULL);
}
END
gcc -O1 -g rounds.c -o rounds
talks ./rounds
printf a >&5
read -r -N 1 <&6 # both threads are where they wait
attached --timing=none --include='module:rounds'
printf abc >&5
read -r -N 3 <&6
detached
exec 5>&-
wait "$job"

# below_root: of the calls that were recorded, their contexts, without process, thread and the C library's part
below_root()
{
    grinder --mode=profile --output-format=folded --weight=calls --output-file=folded traces/*.bin
    sed -E 's/^[^;]*;[^;]*;//; s/(^|;)(_start|[^; ]*libc[^; ]*|start_thread|clone|__clone3?)(;|$)/\1/g' folded |
        sed -E ':a; s/(^|;)(_start|[^; ]*libc[^; ]*|start_thread|clone|__clone3?)(;|$)/\1/; ta' | sort
}
equal 'contexts' "$(below_root)" 'main;serve;run 3
main;serve;run;step 6
other;handle;run 3
other;handle;run;step 6'
grinder --mode=profile --output-format=tsv --output-file=functions traces/*.bin
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { print $column["function"], $column["calls"] }' functions | grep -E '^(handle|main|run|serve) ' | sort >counts
equal 'calls' "$(xargs <counts)" 'handle 0 main 0 run 3 run 3 serve 0'
grinder --mode=profile --output-format=callgrind --output-file=callgrind traces/*.bin
grep -q '^calls=0 ' callgrind || fail "no call under way in the callgrind file"

echo '-- a file that is damaged, or not there'
file=$(echo traces/images-*/under-way)
cp "$file" whole
head -c 2000 whole >"$file"
below_root >contexts # what is whole of it
echo 'no stacks' >"$file"
grinder --mode=summary traces/*.bin >summary 2>problems
contains problems 'under-way: expected whole stacks, found something else or a damaged file; calls that were under way'
rm "$file"
equal 'contexts without the file' "$(below_root)" 'run 3
run 3
run;step 6
run;step 6'
