#!/bin/bash
# --count=instructions: of all functions that have copies callgrind counts as many, of compiled and stripped programs,
# in threads, children and beneath signals, however calls are timed; two runs have the same counts, and nearly so one thread
# and four of the same work; recordings of other work differ; umbra refuses what counts none.
# needs: gcc g++ valgrind binutils gawk python3 bash python3.11 lua5.4 sqlite3 libsqlite3-0 xz-utils liblzma5 musl-tools
# seconds: 40
. "$(dirname "$0")/lib.sh"

if ! by_copies; then
    echo "instructions are counted in copies"
    exit 0
fi
export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY

# counting NAME: instrumented/NAME, which counts
counting()
{
    instrumented "$1" --count=instructions "${@:2}"
}

# ran COMMAND…: records it, into traces/; what is counted is in the table `ours`. The instance, which the program has in
# its environment, would have the number of a process, of as many digits as that has.
ran()
{
    rm -rf traces
    # shellcheck disable=SC2086
    run instrumented "$BUILD/service/call_trace_service" start ${SERVICE_OPTIONS:---timing=none} \
        --instance-id=counting --trace-dir="$work/traces" -- "$@"
    equal "status of $*" "$(<instrumented.status)" 0
    grinder --mode=profile --output-format=tsv --output-file=ours traces/*.bin
}

# sums [PATTERN]: instructions of functions, summed up, of a table on stdin; only of those whose names match
sums()
{
    gawk -F '\t' -v pattern="${1:-.}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["function"] ~ pattern { sum[$at["function"] " " $at["address"]] += $at["self_instructions"] }
        END { for (name in sum) print name, sum[name] }' | sort
}

# ran_alike COMMAND…: `ran` twice, with the same counts. But for bash's fmtumax: it writes process numbers, of as many
# digits as they have.
ran_alike()
{
    ran "$@"
    sums <ours >first.sums
    ran "$@"
    sums <ours >second.sums
    diff <(grep -v '^fmtumax ' first.sums) <(grep -v '^fmtumax ' second.sums) || fail "$*: two runs have other counts"
}

# compared NAME COMMAND…: what instruction_counts.py says of native/NAME beside what `ran` left, in `differences`. The
# command is the same, with what is native; `starter` stands in front of it all.
starter=()
compared()
{
    rm -rf callgrinds
    mkdir callgrinds
    run native "${starter[@]}" valgrind -q --tool=callgrind --skip-plt=no --dump-instr=yes --compress-strings=no \
        --compress-pos=no --callgrind-out-file="$work/callgrinds/%p" "${@:2}"
    equal "status of ${*:2} in callgrind" "$(<native.status)" 0
    cmp native.stdout instrumented.stdout
    instrument --list "instrumented/$1" >list
    python3 "$TESTS/instruction_counts.py" "native/$1" list ours callgrinds/* >differences
}

# beside_callgrind NAME ARGUMENT…
beside_callgrind()
{
    ran "./$1" "${@:2}"
    compared "$1" "./$1" "${@:2}"
}

# explained NAME EXPLAINED: no differences but those, of a program that beside_callgrind has looked at. What has no copy
# is the C library's beginning and end.
explained()
{
    equal "$1: differences" "$(grep -vE "^(sum|without-copy (_start|__do_global_dtors_aux|frame_dummy)) ${2:+|$2}" \
        differences || true)" ''
    [[ $(tail -n 1 differences) =~ ^sum\ ([0-9]+)\ ([0-9]+)$ ]] || fail "$1: no sum"
    [[ ${2:-} == *main* ]] || equal "$1: the sum" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
}

all=(loops 3000 switches 3000 labels 3000 tails 300 pointers 3000 jumps 300 recursion 15 signals 30 threads 300)

echo '-- C'
for options in '-O0' '-O2' '-O2 -fcf-protection -fno-pie -no-pie' '-O3'; do
    # shellcheck disable=SC2086
    build instructions instructions.c $options
    counting instructions
    beside_callgrind instructions "${all[@]}"
    explained "$options"
done

echo '-- C++'
for options in -O0 -O2; do
    build thrown thrown.cpp $options
    counting thrown
    beside_callgrind thrown
    explained "thrown $options"
done

echo '-- a child'
build instructions instructions.c
counting instructions
beside_callgrind instructions fork 3000
# callgrind has in the child's file what its parent ran before
explained fork 'differs (main|forks|register_tm_clones) '
equal 'traces of two processes' "$(traces_left)" 2

echo '-- a computed goto of a function without a frame, which is taken for a tail call'
beside_callgrind instructions direct 3000
explained direct 'differs (labels|direct) '

echo '-- an instruction that repeats counts once'
beside_callgrind instructions copies 1000
equal 'the rounds' "$(awk '$1 == "rep" && $2 == "copies" { print $4 - $3 }' differences)" 100000
equal 'other differences' "$(grep -cE '^(rep|differs)' differences)" 1

echo '-- stripped programs'
seq 1 20000 >numbers
for command in gzip sort; do
    cp "$(readlink -f "$(command -v $command)")" "native/$command"
    counting $command
done
beside_callgrind gzip -9 -c "$work/numbers"
equal 'gzip: functions that differ' "$(grep '^differs' differences || true)" ''
beside_callgrind sort -r --parallel=1 "$work/numbers"
equal 'sort: functions that differ' "$(grep '^differs' differences || true)" ''

# library NAME COMMAND…: of a library, by a program that stays as it is
library()
{
    cp "$(readlink -f "/usr/lib/x86_64-linux-gnu/$1")" "native/$1"
    counting "$1"
    LD_LIBRARY_PATH=$work/instrumented ran_alike "${@:2}"
    LD_LIBRARY_PATH=$work/native compared "$1" "${@:2}"
    equal "$1: functions that differ" "$(grep '^differs' differences || true)" ''
    awk '$1 == "sum" && $3 < 1e7 { exit 1 }' differences || fail "$1 did nothing: $(<differences)"
}
cat >rows.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    insert into t select i, 'x' || (i % 97), i / 3.0 from n;
create index k on t(b);
select b, count(*), sum(c) from t group by b order by 2 desc, 1 limit 5;
select count(*) from t x join t y on x.a = y.a + 1 where x.b like '%7';
update t set c = c + 1 where a % 3 = 0;
delete from t where b = 'x5';
select sum(c), json_extract('{"a": [1, 2]}', '$.a[1]') from t;
END
library libsqlite3.so.0 "$(command -v sqlite3)" :memory: ".read $work/rows.sql"
library liblzma.so.5 "$(command -v xz)" -1 -T1 -c "$work/numbers"

# Lua's hashes have a seed of the time and of addresses: their functions differ from run to run.
cp "$(readlink -f "$(command -v lua5.4)")" native/lua
counting lua
for ((i = 0; i < 12; i++)); do
    ran ./lua "$TESTS/programs/counted.lua"
    sums <ours
done | sort | uniq -c | awk '$1 != 12 { print $(NF - 1) }' | sort -u >varying
beside_callgrind lua "$TESTS/programs/counted.lua"
(($(wc -l <varying) < 30)) || fail "$(wc -l <varying) functions of lua vary"
awk 'NR == FNR { varies[$1]; next }
    $1 == "sum" { sum = $3 }
    $1 == "differs" && !($2 in varies) { apart += $3 > $4 ? $3 - $4 : $4 - $3; if ($4 > most) most = $4 }
    END { if (sum < 1e7 || apart > sum / 10000 || most > sum / 1000) { print apart, most, sum; exit 1 } }' \
    varying differences

echo '-- the same addresses and environment, but for where the stack is'
# recorded_alike COMMAND…: of the environment that it is started with, and what valgrind adds to that. It leaves no child
# whose end would be the command's signal.
cat >recorded_alike <<'END'
cd ../alike
env LD_PRELOAD="$PRELOADED" >../variables
mapfile -t variables <../variables
env -i "${variables[@]}" valgrind -q --tool=none env >../variables.more
mapfile -t variables <../variables.more
exec env -i "${variables[@]}" setarch -R "$@"
END
gcc -O1 -shared -fPIC "$TESTS/programs/fixed_addresses.c" -o fixed_addresses.so
mkdir alike

# alike NAME COMMAND…: instrumented and original in one folder, as `ran` and `compared`
alike()
{
    counting "$1"
    cp "instrumented/$1" alike
    PRELOADED=$work/fixed_addresses.so PYTHONHASHSEED=0 LD_LIBRARY_PATH=$work/alike \
        ran_alike "$BASH" "$work/recorded_alike" "${@:2}"
    cp "native/$1" alike
    mapfile -t starter <variables
    starter=(env -i -C "$work/alike" "${starter[@]}")
    compared "$@"
    starter=()
    awk '$1 == "sum" && $3 < 3e6 { exit 1 }' differences || fail "$1 did nothing: $(<differences)"
}

cp "$BASH" native/bash
alike bash ./bash "$TESTS/programs/counted.bash"
equal 'bash: functions that differ' "$(grep '^differs' differences | grep -v ' fmtumax ' || true)" ''

# Texts on the stack are aligned otherwise there; the last signal is ignored beneath valgrind.
cp "$(readlink -f /usr/bin/python3.11)" native/python3.11
alike python3.11 ./python3.11 -S -B "$TESTS/programs/counted.py"
awk '$1 == "differs" { count++; apart += $3 > $4 ? $3 - $4 : $4 - $3 }
    $1 == "sum" { sum = $3 }
    END { if (count > 6 || apart > sum / 50000) { print count, apart, sum; exit 1 } }' differences

# What reads exception tables reads those of copies, whose code is longer.
build streams streams.cpp -O1 -no-pie
cp native/streams alike
cp "$(readlink -f "$(gcc -print-file-name=libstdc++.so.6)")" native/libstdc++.so.6
alike libstdc++.so.6 ./streams
equal 'libstdc++: functions that differ' "$(grep -c '^differs' differences)" 1
awk '$1 == "differs" && ($3 < $4 || $3 > 1.01 * $4) { print; exit 1 }' differences

echo '-- threads'
ran ./instructions thread 3000
sums <ours | grep -vE '^(main|thread|register_tm_clones|deregister_tm_clones|_fini|_init|frame_dummy|__do_.*) ' >expected
ran ./instructions threads 3000
mapfile -t tids < <(awk -F '\t' '$4 == "in_thread" { print $2 }' ours)
equal 'threads' "${#tids[@]}" 4
for tid in "${tids[@]}"; do
    awk -F '\t' -v tid="$tid" 'NR == 1 || $2 == tid' ours | sums >found
    diff expected found
done

echo '-- one thread of xz, and four'
# Four blocks, for a thread each. What hands them out waits more or less; what compresses them does not.
head -c 2000000 "$(readlink -f "$(command -v perl)")" >binary
for threads in +1 4; do # -T1 is other code
    LD_LIBRARY_PATH=$work/instrumented ran "$(command -v xz)" -1 "-T$threads" --block-size=500000 -c "$work/binary"
    sums <ours >"xz$threads"
    mv instrumented.stdout "xz$threads.out"
    awk -F '\t' 'NR > 1 { print $2 }' ours | sort -u | wc -l >"xz$threads.tids"
done
cmp xz+1.out xz4.out
equal 'threads, and the one that hands out' "$(cat xz+1.tids xz4.tids | xargs)" '2 5'
# Not the same: a block comes in as many pieces as are there when its thread looks, and some functions are called for each
# piece. That is some 50 instructions of 100 million; a thread has a quarter.
awk '{ sum[FILENAME, $1 " " $2] = $NF; names[$1 " " $2] }
    END {
        for (name in names) {
            one = sum["xz+1", name]
            four = sum["xz4", name]
            apart = one > four ? one - four : four - one
            if (one + four >= 2e6 && apart > one / 10000)
                print name ": " one + 0 " and " four + 0
        }
    }' xz+1 xz4 >apart
equal 'one thread and four: functions that differ' "$(<apart)" ''
awk '{ sum += $NF } END { exit !(sum > 5e8) }' xz4 || fail "xz did nothing: $(<xz4)"

echo '-- signals between any two instructions'
ran ./instructions loops 2000000
expected=$(sums '^(loops|mix)$' <ours | awk '{ sum += $NF } END { print sum }')
ran ./instructions signals 1
# of the handler, once
each=$(sums '^(handle|mix)$' <ours | awk '{ sum += $NF } END { print sum }')
for timing in none samples; do
    SERVICE_OPTIONS=--timing=$timing ran ./instructions alarms 2000000
    handled=$(awk '$2 == "handled" { print $1 }' instrumented.stdout)
    found=$(sums '^(loops|mix|handle)$' <ours | awk '{ sum += $NF } END { print sum }')
    apart=$((found - expected - handled * each))
    # a signal between two instructions that take what is pending has it counted twice
    ((apart >= 0 && apart < expected / 10000)) || fail "$handled signals: $apart instructions too many"
done

echo '-- however calls are timed'
ran ./instructions "${all[@]}"
sums <ours >expected
for options in --timing=none --timing=samples --timing=adaptive '--timing=none --node-limit=5'; do
    SERVICE_OPTIONS=$options ran ./instructions "${all[@]}"
    sums <ours >found
    diff expected found || fail "$options: other counts"
done
for options in --timing=exact --mode=calltrace; do # each call is a hook's
    SERVICE_OPTIONS=$options ran ./instructions "${all[@]}"
    ! head -n 1 ours | grep instructions || fail "$options: there is a column of instructions"
    grinder --mode=summary traces/*.bin >summary
    ! grep -E 'by instructions|[0-9] instructions' summary || fail "$options: the summary has instructions"
    grinder --mode=diff --weight=instructions traces traces 2>said && fail "$options: a difference of instructions"
    grinder --mode=top --once --weight=instructions traces 2>said && fail "$options: sorted by instructions"
    contains said '--weight=instructions: expected a program that counts them, found none'
done

echo '-- differences'
# recorded_as FOLDER ROUNDS: the traces of one function's rounds, beside other work
recorded_as()
{
    ran ./instructions "${all[@]}" copies "$2"
    rm -rf "$1"
    mv traces "$1"
}
recorded_as before 1000
recorded_as again 1000
recorded_as after 1001
# changed: the functions that executed more or fewer, of a table of differences
changed()
{
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["self_instructions_change"] != 0 { print $1, ($at["self_instructions_change"] > 0 ? "more" : "fewer") }'
}
diff_instructions()
{
    grinder --mode=diff --weight=instructions --threshold=0 --output-format=tsv "$@"
}
equal 'what changed between the same' "$(diff_instructions before again | changed)" ''
diff_instructions before after >table && fail 'a difference has status 0'
equal 'what changed' "$(changed <table)" 'copies more'

echo '-- top'
# a table of one function: that which has most of what --weight names
for weight in self_instructions calls; do
    grinder --mode=profile --output-format=tsv --output-file=table after
    most=$(gawk -F '\t' -v weight=$weight 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { sum[$at["function"]] += $at[weight] }
        END { for (name in sum) if (sum[name] > sum[most]) most = name; print most }' table)
    grinder --mode=top --once --top=1 --weight=${weight#self_} after >table
    equal "top by $weight" "$(awk 'END { print $NF }' table)" "$most"
done

echo '-- umbra record'
cd native
for what in plain counted other plain; do # with one cache
    options=()
    [[ $what == plain ]] || options=(--count=instructions)
    [[ $what == other ]] && options+=(--count=blocks --once)
    umbra record -q -o "$what.data" "${options[@]}" -- ./instructions fork 300 >/dev/null
    umbra report --text "$what.data" >text
    if [[ $what == plain ]]; then
        ! grep 'by instructions' text || fail 'instructions are counted unasked'
        continue
    fi
    contains text '^functions by instructions$'
    umbra report --output-format=tsv -o "$what.tsv" "$what.data" >/dev/null
    sums '^(loops|mix|switches|step|forks|in_child|main)$' <"$what.tsv" >"$what.sums"
done
cmp counted.sums other.sums # blocks are noted besides
umbra report --mode=coverage other.data >text
contains text '^blocks +[1-9][0-9]* of [1-9][0-9]* ran'
cd ..
ran ./instructions fork 300
sums '^(loops|mix|switches|step|forks|in_child|main)$' <ours | diff - native/counted.sums
umbra record -q -o twice.data --twice --count=instructions -- native/instructions copies 100000 >/dev/null
umbra report --text twice.data >text
contains text '^ +1 +700010 .* copies$'
for options in --timing=exact --mode=calltrace --how=prologue --how=samples; do
    umbra record -q -o refused --count=instructions "$options" -- true 2>said && fail "umbra took $options"
    contains said "^umbra: record: --count=instructions: .*(leave $options out|with --how=samples: leave it out)\$"
    [[ ! -e refused ]] || fail "$options: there is a recording"
done

echo '-- what has no glibc'
musl-gcc -o native/musl -x c - <<<'int main(void) { return 0; }'
"$BUILD/rewriter/instrument" native/musl -o refused --count=instructions 2>said && fail 'a musl program was taken'
contains said 'native/musl: --count=instructions: expected a file for glibc, .* found one for musl$'
[[ ! -e refused ]] || fail 'there is an output'

echo '-- a recording whose program is gone'
ran ./instructions loops 10
mv instrumented/instructions instrumented/moved
"$BUILD/grinder/grinder" --mode=summary traces/*.bin >/dev/null 2>said
contains said 'its functions are shown by number, and have too few instructions$'
