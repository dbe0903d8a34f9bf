#!/bin/bash
# A gate for CI by exact instructions: of two builds of a stripped program it names the one function that takes 0.2%
# of all more, though all code has moved; of twenty runs of the same build, nothing.
# needs: gawk
. "$(dirname "$0")/lib.sh"

by_copies || { echo "skipped: instructions are counted in copies"; exit 0; }

# recording NAME FOLDER: runs instrumented/NAME
recording()
{
    (cd instrumented && call_trace_service start --timing=none --trace-dir="$work/$2" -- "./$1")
}

# gate STATUS ARGUMENT…: leaves changes and problems
gate()
{
    local wanted=$1 status=0
    shift
    grinder --mode=diff --weight=instructions --output-format=table "$@" >changes 2>problems || status=$?
    equal "status of $* ($(<problems))" "$status" "$wanted"
}

# names of what changed, in the table
changed()
{
    sed '1d; /^[0-9]* that d/d; / (all)$/d; /^    [-+]/d; s/.*%  //' changes
}

# share NAME: of all instructions, what the whole has more
share()
{
    gawk '$NF == "(all)" { sub(/^\+/, "", $(NF - 1)); sub(/%/, "", $(NF - 1)); print $(NF - 1) }' changes
}

address()
{
    printf '%#x' "0x$(nm "native/$1" | gawk '$3 == "weigh" { print $1 }')"
}

build first gate.c -fno-toplevel-reorder
build second gate.c -fno-toplevel-reorder -DSECOND
[[ $(address first) != "$(address second)" ]] || fail "weigh has not moved"
for name in first second; do
    strip -s -o "native/$name.stripped" "native/$name"
    instrumented "$name.stripped" --count=instructions
    recording "$name.stripped" "$name"
done

gate 1 --threshold=0.1% first second
equal "what changed" "$(changed)" "second.stripped!$(address second) (was first.stripped!$(address first))"
contains changes "^    \+2,000 in .*second.stripped!$(address second)\$"
gawk -v share="$(share)" 'BEGIN { exit !(share > 0.15 && share < 0.25) }' || fail "0.2%: $(<changes)"
gate 1 --threshold=0.1 first second
gate 0 --threshold=0.5% first second
gate 1 --threshold=0% second first
contains changes "^    -2,000 in .*first.stripped!$(address first)\$"
equal "back again" "$(changed)" "first.stripped!$(address first) (was second.stripped!$(address second))"

# The same of a program that is linked to one place, whose code has addresses in it.
for name in first second; do
    define=
    [[ $name == first ]] || define=-DSECOND
    build "$name.fixed" gate.c -fno-toplevel-reorder -fno-pie -no-pie $define
    strip -s -o "native/$name.there" "native/$name.fixed"
    instrumented "$name.there" --count=instructions
    recording "$name.there" "fixed.$name"
done
gate 1 --threshold=0.1% fixed.first fixed.second
equal "what changed where code has addresses" "$(changed)" \
    "second.there!$(address second.fixed) (was first.there!$(address first.fixed))"

# What a repository keeps of the first build: the same bytes from each run.
baseline()
{
    grinder --mode=profile --output-format=baseline --output-file="$2" "$1"
}
baseline first baseline.txt
gate 1 --threshold=0.1% baseline.txt second
equal "what changed since the baseline" "$(changed)" "second.stripped!$(address second)"
contains changes "^    \+2,000 in .* > second.stripped!$(address second)\$"
gate 1 --threshold=0.1% --output-format=tsv baseline.txt second
contains changes $'function\t.*\tcontext\tcontext_change$'
contains changes "^second.stripped!$(address second)"$'\t.* > second.stripped!'"$(address second)"$'\t2000$'
equal "functions whose contexts changed" "$(grep -c $'[^\t]\t-*[0-9]*$' changes)" 1
gate 0 --threshold=0.5% baseline.txt second
gate 1 --threshold=0.1% second baseline.txt
gate 0 --threshold=0 baseline.txt first
equal "what changed of the baseline's own build" "$(changed)" ""
baseline second second.txt
equal "lines of a rebuild that differ, but for the module's name and report's" \
    "$(diff <(cut -f 3,4 baseline.txt) <(cut -f 3,4 second.txt) | grep -c '^[<>] 100')" 2

# Twenty runs of one build.
for ((i = 0; i < 20; i++)); do
    recording second.stripped "again.$i"
    gate 0 --threshold=0 second "again.$i"
    equal "what changed in run $i" "$(changed)" ""
    gate 0 --threshold=0 second.txt "again.$i"
    equal "what changed in run $i since the baseline" "$(changed)" ""
    baseline "again.$i" again.txt
    cmp second.txt again.txt
done

# Functions that have names match by these.
instrumented first --count=instructions
instrumented second --count=instructions
recording first named.first
recording second named.second
baseline named.first named.txt
contains named.txt $'^first\t-\t100\t16400\tweigh$'
equal "functions that were not called" "$(grep -c 'report' named.txt)" 0
for before in named.first named.txt; do
    gate 1 --threshold=0.1% "$before" named.second
    equal "what changed since $before" "$(changed)" weigh
    contains changes '^    \+2,000 in main > step > weigh$'
done
status=0
grinder --mode=diff --weight=instructions --output-format=tsv named.txt named.second >changes || status=$?
equal "status without a threshold" "$status" 0
contains changes $'^weigh\t.*\t16400\t18400\t2000\t\t\t\tmain > step > weigh\t2000$'

# What two runs of one build do differently is noise, which is said, with what helps.
build varies varies.c
instrumented varies --count=instructions
cp instrumented/varies instrumented/python9
recording varies noise.first
recording varies noise.second
recording python9 noise.third
baseline noise.first noise.txt
for before in noise.first noise.txt; do
    gate 1 --threshold=0 "$before" noise.second
    equal "what changed since $before" "$(changed)" vary
    contains problems "^grinder: $before and noise.second are of the same build, which differs from run to run"
    contains problems 'addresses.* \(setarch -R\), the environment \(env -i\), files, time or random numbers$'
done
contains noise.txt $'^build\tmodule$'
gate 0 noise.first noise.second
contains problems 'of the same build'
gate 1 --threshold=0 noise.first noise.third
contains problems "addresses, which were not the same \(setarch -R\), python's hashes \(PYTHONHASHSEED=0\), the"
gate 0 --weight=calls --threshold=0 noise.first noise.second
equal "said of calls, which do not differ" "$(<problems)" ""
gate 1 --threshold=0.1% named.first named.second
equal "said of two builds" "$(<problems)" ""

# A second recording of the first build tells what is not judged of another.
build varies.next varies.c -DSECOND
instrumented varies.next --count=instructions
recording varies.next noise.next
baseline noise.second noise.again.txt
gate 1 --threshold=0 noise.first noise.next
equal "what changed, and varies" "$(changed | sort | xargs)" "vary work"
for again in noise.second noise.again.txt; do
    for before in noise.first noise.txt; do
        gate 1 --threshold=0 --again="$again" "$before" noise.next
        equal "what changed since $before, less $again" "$(changed)" work
        contains changes '^1 that differ between runs of one build, which are not judged: [0-9.]+% of instr\.$'
        gate 0 --threshold=0 --again="$again" "$before" noise.third
        equal "what changed of $before itself, less $again" "$(changed)" ""
        equal "said of that" "$(<problems)" ""
    done
done
gate 1 --threshold=0 --output-format=tsv --again=noise.second noise.first noise.next
contains changes $'\tvaries$'
equal "functions that vary" "$(sed -n $'s/\t.*\t1$//p' changes)" vary
gate 2 --threshold=0 --again=noise.next noise.first noise.third
contains problems '--again=noise.next: expected a recording of the build that noise.first is of, found another$'
sed '/^build/,/^[0-9a-f]/d' noise.txt >unknown.txt
gate 2 --threshold=0 --again=noise.second unknown.txt noise.next
contains problems 'or a baseline that does not know; --output-format=baseline writes it anew$'
gate 2 --threshold=0 --again=nowhere noise.first noise.next

# A baseline without instructions is one of calls.
instrumented first
recording first plain
baseline plain plain.txt
contains plain.txt $'^first\t-\t100\t-\tweigh$'
gate 2 plain.txt named.second
contains problems 'plain.txt has no instructions for --weight=instructions'
gate 0 --weight=calls --threshold=0 plain.txt named.second
sed '/\t34\t.*second_of_two$/s/\t34\t/\t33\t/' plain.txt >fewer.txt
gate 1 --weight=calls --threshold=0 fewer.txt named.second
contains changes '^    \+1 in main > step > second_of_two$'

# What cannot be compared has a status of its own, and is named with its line.
gate 2 --threshold=0.1%% first second
gate 2 --threshold=% first second
gate 2 --threshold=0.1% first nowhere

# refused LINE COMMAND WHY: a baseline of which sed has made something else
refused()
{
    sed "$2" baseline.txt >refused.txt
    gate 2 --threshold=0.1% refused.txt second
    contains problems "^grinder: refused.txt:$1: $3"
}
refused 1 '1s/2$/3/' 'expected a baseline of version 1 or 2, found .umbra-baseline'
refused 2 '2d' 'expected its headings, found .first.stripped'
refused 3 '3,$d' 'expected a function, found the end'
refused 3 '3s/\t[0-9a-f]\{16\}/\tcode/' "expected a hash of 16 digits, or -, in column 2, found 'code'"
refused 4 '4s/\t[0-9]*\t[0-9]*$//' 'expected a number of calls in column 3, found none'
refused 5 '5s/\t[0-9]*\t/\t-1\t/' "expected a number of calls in column 3, found '-1'"
refused 6 '6s/[0-9]*$/99999999999999999999/' "expected a number of instructions, or -, in column 4, found '9"

# Builds and contexts follow the functions; a baseline of version 1 has none.
headings=$(grep -n ^depth baseline.txt | cut -d : -f 1)
gawk -v headings="$headings" 'NR > headings' baseline.txt >contexts
equal "one context of each function that ran" "$(cut -f 1-3 contexts | grep -c -P '\t100\t16400$')" 1
refused $((headings + 1)) "$((headings + 1))s/^1/3/" 'expected a depth, at most one more'
refused $((headings + 2)) "$((headings + 2))s/[^\t]*\$/nobody/" "expected the name or the code .* 'nobody'"
refused $((headings - 1)) "$((headings - 1))s/^..//" "expected a hash of 16 digits in column 1, found"
refused $((headings - 1)) "$((headings - 1))s/.\$/x/" "expected the name of a module above in column 2, found"
sed "1s/2\$/1/; /^build/,\$d" baseline.txt >old.txt
gate 1 --threshold=0.1% old.txt second
equal "what changed since an old baseline" "$(changed)" "second.stripped!$(address second)"
equal "contexts that an old baseline has" "$(grep -c '^    [-+]' changes)" 0
gate 2 --process=first baseline.txt second
contains problems 'baseline.txt: expected no --process'
gate 2 --output-format=folded baseline.txt second
contains problems 'baseline.txt: expected a recording for --output-format=folded, found a baseline'
! grinder --mode=summary baseline.txt 2>problems || fail "a summary of a baseline"
contains problems 'baseline.txt: expected a trace, found a baseline'
# Without calls there are functions alone.
for name in first second; do
    instrumented "$name" --count=instructions --no-calls
    recording "$name" "alone.$name"
done
baseline alone.first alone.txt
equal "contexts without calls" "$(grep -c ^depth alone.txt)" 0
for before in alone.first alone.txt; do
    gate 1 --threshold=0.1% "$before" alone.second
    equal "what changed since $before" "$(changed)" weigh
    equal "contexts since $before" "$(grep -c '^    [-+]' changes)" 0
done

echo '-- by umbra'
export XDG_CACHE_HOME=$work/cache
for name in first second; do
    umbra record -q -o "$name.data" --count=instructions --leave='lib*' -- "native/$name.stripped"
done
umbra report --output-format=baseline -o kept.txt first.data >/dev/null
"$BUILD/front/umbra" diff --weight=instructions --threshold=0 kept.txt first.data >/dev/null || fail 'a change of nothing'
status=0
"$BUILD/front/umbra" diff --weight=instructions --threshold=0.1% --output-format=table kept.txt second.data >changes || status=$?
equal 'status of umbra diff' "$status" 1
equal "what changed, by umbra" "$(changed)" "second.stripped!$(address second)"
for again in first.data kept.txt; do
    status=0
    "$BUILD/front/umbra" diff --weight=instructions --threshold=0.1% --output-format=table --again="$again" \
        first.data second.data >changes || status=$?
    equal "status of umbra diff --again=$again" "$status" 1
    equal "what changed, by umbra" "$(changed)" "second.stripped!$(address second) (was first.stripped!$(address first))"
done
