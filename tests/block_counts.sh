#!/bin/bash
# --count=blocks: each instruction of a copied function ran as often as callgrind says, of compiled and stripped
# programs, with calls and without, beneath exceptions, longjmp and children; what a killed process ran is there; lines
# have gcov's counts. --count=instructions --no-calls is the same; with calls, too, callgrind's files have both.
# needs: gcc g++ valgrind binutils gawk python3 sqlite3 libsqlite3-0 xz-utils liblzma5
# seconds: 15
. "$(dirname "$0")/lib.sh"

if ! by_copies; then
    echo "blocks are counted in copies"
    exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
unset DISPLAY WAYLAND_DISPLAY

# counting NAME [OPTION…]: instrumented/NAME, which counts
counting()
{
    instrumented "$1" --overwrite --count=blocks "${@:2}"
}

# coverage OPTION…: of traces/
coverage()
{
    grinder --mode=coverage "$@" traces
}

# ran COMMAND…: records it, into traces/; what is counted is in the file `ours`
ran()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing=none --trace-dir="$work/traces" -- "$@"
    coverage --output-format=callgrind --output-file=ours
}

# beside_callgrind NAME COMMAND…: runs it as it is, and as it counts; no instruction of native/NAME differs
beside_callgrind()
{
    rm -rf callgrinds
    mkdir callgrinds
    LD_LIBRARY_PATH=$work/native run native valgrind -q --tool=callgrind --skip-plt=no --dump-instr=yes \
        --compress-strings=no --compress-pos=no --callgrind-out-file="$work/callgrinds/%p" "${@:2}"
    LD_LIBRARY_PATH=$work/instrumented ran "${@:2}"
    equal "status of ${*:2}" "$(<instrumented.status)" "$(<native.status)"
    cmp native.stdout instrumented.stdout
    instrument --list "instrumented/$1" >list
    python3 "$TESTS/block_counts.py" "native/$1" list ours callgrinds/* >differences
    equal "$*: differences" "$(grep '^differs' differences || true)" ''
    awk '$1 == "sum" && $2 < 10000 { exit 1 }' differences || fail "$* did nothing: $(<differences)"
}

all=(loops 3000 switches 3000 labels 3000 tails 300 pointers 3000 jumps 300 recursion 15 signals 30 copies 100)

echo '-- C'
for options in '-O0' '-O2' '-O2 -fcf-protection -fno-pie -no-pie' '-O3'; do
    # shellcheck disable=SC2086
    build instructions instructions.c $options
    for calls in '' --no-calls; do
        counting instructions $calls
        beside_callgrind instructions ./instructions "${all[@]}"
    done
done
coverage --output-format=callgrind --output-file=blocks
instrumented instructions --overwrite --count=instructions --no-calls
ran ./instructions "${all[@]}"
cmp blocks ours

echo '-- beside instructions of contexts: the profile has them by line'
# of_lines FILE: Ir of each file and line of callgrind's format, but for what calls took
of_lines()
{
    gawk '/^positions:/ { first = $2 == "instr" ? 2 : 1 }
        /^(fl|fi|fe|cfi)=/ {
            name = gensub(/^[a-z]+=/, "", 1)
            if (match(name, /^\(([0-9]+)\) ?(.*)/, part)) {
                if (part[2] != "")
                    names[part[1]] = part[2]
                name = names[part[1]]
            }
            if (!/^cfi/)
                file = name
        }
        /^calls=/ { getline; next }
        /^[0-9]/ && $(first + 1) { sum[file ":" $first] += $(first + 1) }
        END { for (line in sum) print line, sum[line] }' "$1" | grep -v '^???:' | sort
}

# by_line ARGUMENT…: the profile of ./instructions has the lines that the blocks have
by_line()
{
    ran ./instructions "$@"
    of_lines ours >expected
    (($(wc -l <expected) > 10)) || fail "$*: $(wc -l <expected) lines"
    grinder --mode=profile --merge --output-file=profile traces
    of_lines profile | diff expected -
    [[ $(own_lines profile) != "$(grep -c '^fn=' profile) "* ]] || fail "$*: a line a function"
}

# own_lines FILE: how many lines functions have that are not calls', and their sum of the first event
own_lines()
{
    gawk '/^calls=/ { getline; next } /^[0-9]/ { n++; sum += $2 } END { print n, sum }' "$1"
}
for options in -O0 -O2; do
    build instructions instructions.c $options
    counting instructions --count=instructions
    by_line "${all[@]}"
    by_line threads 3000
    # blocks are not counted by thread or by caller
    for part in --thread-parts '--merge --function=in_thread'; do
        # shellcheck disable=SC2086
        grinder --mode=profile $part --output-file=profile traces
        equal "$part: lines" "$(own_lines profile | cut -d ' ' -f 1)" "$(grep -c '^fn=' profile)"
    done
    # what a child ran before its first call is in its parent's blocks, and in no context
    ran ./instructions fork 3000
    grinder --mode=profile --merge --output-file=profile traces
    equal 'the sum of lines' "$(own_lines profile | cut -d ' ' -f 2)" "$(awk '/^totals:/ { print $2 }' profile)"
done

echo '-- C++'
for options in -O0 -O2; do
    build thrown thrown.cpp $options
    counting thrown
    beside_callgrind thrown ./thrown
done

echo '-- stripped programs, whose originals are overwritten'
seq 1 20000 >numbers
cp "$(readlink -f "$(command -v gzip)")" native/gzip
counting gzip --how=copy --poison --no-calls
beside_callgrind gzip ./gzip -9 -c "$work/numbers"
for library in libsqlite3.so.0 liblzma.so.5; do
    cp "$(readlink -f "/usr/lib/x86_64-linux-gnu/$library")" "native/$library"
    counting "$library" --how=copy --poison
done
cat >rows.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    insert into t select i, 'x' || (i % 97), i / 3.0 from n;
create index k on t(b);
select b, count(*), sum(c) from t group by b order by 2 desc, 1 limit 5;
update t set c = c + 1 where a % 3 = 0;
select sum(c), json_extract('{"a": [1, 2]}', '$.a[1]') from t;
END
beside_callgrind libsqlite3.so.0 "$(command -v sqlite3)" :memory: ".read $work/rows.sql"
beside_callgrind liblzma.so.5 "$(command -v xz)" -1 -T1 -c "$work/numbers"

echo '-- a child, and what was killed'
build instructions instructions.c
counting instructions
# runs_of FUNCTION: how often it was called
runs_of()
{
    coverage --output-format=tsv | awk -F '\t' -v name="$1" \
        'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $1 == name { print $at["runs"] }'
}
ran ./instructions fork 3000
equal 'runs of what parent and child ran' "$(runs_of loops)" 2
build covered covered.c -O0 -pthread
counting covered
ran ./covered kill
equal 'runs of what was killed' "$(runs_of in_killed)" 1

echo '-- threads, which have words of their own'
for options in '' '-fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    build instructions instructions.c $options
    for calls in '' --no-calls; do
        counting instructions $calls
        ran ./instructions thread 100000
        coverage --output-format=tsv | sort >one
        for ((i = 0; i < 3; i++)); do
            ran ./instructions threads 100000
            coverage --output-format=tsv | sort >four
            # of what threads alone run
            join -t $'\t' -j 1 <(grep -E '^(in_thread|loops|mix|switches|recursion|fibonacci)' one) four |
                awk -F '\t' '{ n++; if ($14 != 4 * $7) { print $1 ": four threads", $14 ", one", $7; bad = 1 } }
                    END { exit bad || !n }'
        done
    done
done

echo '-- more threads than there are lanes, one after the other and at a time'
cat >native/many.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all;

__attribute__((noinline)) static unsigned counted(unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum = sum * 3 + i;
    return sum;
}

static void *in_thread(void *argument)
{
    if (argument)
        pthread_barrier_wait(&all);
    return (void *)(unsigned long)counted(100000);
}

/* many [fork] AT-A-TIME TIMES: fork: half of the times in a child, after one thread has run in the parent */
int main(int count, char **arguments)
{
    unsigned threads = (unsigned)atoi(arguments[count - 2]), times = (unsigned)atoi(arguments[count - 1]);
    pthread_t thread[1000];
    pid_t child = 0;

    if (count == 4) {
        if (pthread_create(&thread[0], NULL, in_thread, NULL) || pthread_join(thread[0], NULL))
            return 1;
        times /= 2;
        child = fork();
    }

    pthread_barrier_init(&all, NULL, threads);
    for (unsigned i = 0; i < times; i++) {
        for (unsigned k = 0; k < threads; k++)
            if (pthread_create(&thread[k], NULL, in_thread, threads > 1 ? &all : NULL))
                return 1;
        for (unsigned k = 0; k < threads; k++)
            pthread_join(thread[k], NULL);
    }
    return child && waitpid(child, NULL, 0) != child;
}
END
gcc -O1 native/many.c -o native/many -pthread
for calls in '' --no-calls; do
    counting many $calls
    for figures in '1 300' '60 10' '300 1' 'fork 1 300' 'fork 30 20'; do
        # shellcheck disable=SC2086
        ran ./many $figures
        equal "status of many $figures" "$(<instrumented.status)" 0
        found=$(coverage --output-format=tsv | awk -F '\t' '$1 == "counted" { print $8 }')
        read -r threads times <<<"${figures#fork }"
        expected=$((threads * times))
        [[ $figures != fork* ]] || expected=$((expected + 1))
        ((found > 0 && found <= expected)) || fail "many $figures $calls: $found runs of $expected"
        [[ $figures == '300 1' ]] || equal "runs of counted, many $figures $calls" "$found" "$expected"
        (($(du -sk traces | cut -f1) < 100000)) || fail "many $figures: $(du -sk traces) kB of traces"
    done
done

echo '-- lines'
# without `labels`, whose computed gotos share a jump, and `jumps`: gcov counts no second return of setjmp
known=(loops 3000 switches 3000 tails 300 pointers 3000 recursion 15 signals 30 copies 100)
gcc -O0 -g --coverage "$TESTS/programs/instructions.c" -o gcov_twin -pthread
./gcov_twin "${known[@]}" >/dev/null
gcov -t -o . gcov_twin-instructions.gcda 2>/dev/null |
    awk -F: '$1 ~ /^ *[0-9]+\*?$/ { gsub(/[ *]/, "", $1); print $2 + 0, $1 }' | sort >expected
gcc -O0 -g "$TESTS/programs/instructions.c" -o native/instructions -pthread
counting instructions --no-calls
ran ./instructions "${known[@]}"
coverage --output-format=lcov | awk -F '[:,]' '$1 == "DA" { print $2, $3 }' | sort >found
join expected found >both
awk '$2 != $3 { print "line", $1 ": gcov", $2, "found", $3; bad = 1 } END { exit bad }' both
(($(wc -l <both) > 50)) || fail "$(wc -l <both) lines are in both"

echo '-- without calls: functions, in every view, and a gate by them'
# instructions_of FUNCTION: of a table of functions on stdin
instructions_of()
{
    awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["function"] == name { print $at["calls"], $at["self_instructions"] }'
}
build instructions instructions.c
instrumented instructions --overwrite --count=instructions --no-calls
ran ./instructions "${all[@]}"
expected=$(coverage --output-format=tsv | awk -F '\t' '$1 == "loops" { print $8, $7 }')
equal 'loops' "$(grinder --mode=profile --output-format=tsv --output-file=- traces/*.bin | instructions_of loops)" "$expected"
grinder --mode=summary traces/*.bin >summary
contains summary '^functions by instructions$'
! grep -qE 'BROKEN|UNSAMPLED|self ns' summary || fail "the summary: $(<summary)"
grinder --mode=profile --output-format=callgrind --output-file=profile.callgrind traces/*.bin
contains profile.callgrind '^events: Ir Calls$'
grinder --mode=profile --output-format=folded --weight=instructions --output-file=- traces/*.bin >folded
contains folded "loops ${expected#* }\$"
grinder --mode=profile --output-format=baseline --output-file=baseline traces/*.bin
cp -r traces before
ran ./instructions "${all[@]}"
for other in before baseline; do
    grinder --mode=diff --weight=instructions --threshold=0 --output-format=tsv "$other" traces >table
done
ran ./instructions "${all[@]}" loops 3001
for other in before baseline; do
    grinder --mode=diff --weight=instructions --threshold=0.1% --output-format=tsv "$other" traces >table &&
        fail "twice the loops, and status 0"
    awk -F '\t' 'NR > 1 && $1 == "loops" && $5 == 1 { found = 1 } END { exit !found }' table || fail "$(<table)"
done

echo '-- views'
coverage >table
contains table '^executed   [1-9][0-9]+ instructions$'
contains table '^ +instructions +% +runs  function$'
coverage --output-format=cobertura --output-file=cobertura
contains cobertura 'hits="[1-9][0-9]{2,}"'
callgrind_annotate ours >annotated
contains annotated 'PROGRAM TOTALS'
coverage >again
cmp table again
cp -r traces twice
grinder --mode=coverage traces twice >both
equal 'instructions of two recordings' "$(awk '$1 == "executed" { print $2 }' both)" \
    $(($(awk '$1 == "executed" { print $2 }' table) * 2))
instrumented instructions --overwrite --count=blocks --once
rm -rf traces
run instrumented "$BUILD/service/call_trace_service" start --timing=none --trace-dir="$work/traces" -- ./instructions loops 3
coverage --output-format=callgrind 2>said && fail 'counts of what was not counted'
contains said '^grinder: --output-format=callgrind: expected how often blocks ran, found whether they did: record without --once$'
