#!/bin/bash
# instrument --count=blocks --once: the lines that ran are gcov's, in threads, children and killed processes,
# too; recordings add up; other tools read what is written of them.
# needs: gcc g++ lcov gcovr libxml2-utils python3 lua5.4
. "$(dirname "$0")/lib.sh"

if [[ ${UMBRA_TEST_HOW:-} == prologue ]]; then
    echo "blocks are counted in copies"
    exit 0
fi

# covered NAME OPTION…: instruments native/NAME for its blocks
covered()
{
    instrumented "$1" --overwrite --count=blocks --once "${@:2}"
}

# ran NAME ARGUMENT…: records it, whatever its status
ran()
{
    run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- "./$1" "${@:2}"
}

coverage()
{
    grinder --mode=coverage --output-file=- "$@" traces
}

# lines FILE: "line ran" of a source file, in an lcov tracefile on stdin
lines()
{
    awk -F '[:,]' -v name="/$1" '/^SF:/ { here = substr($2, length($2) - length(name) + 1) == name }
        here && /^DA:/ { print $2, $3 }' | sort -n
}

# gcov_lines SOURCE ARGUMENT…: the same of a twin that the compiler counts
gcov_lines()
{
    local source=$1 compiler=gcc
    [[ $source == *.cpp ]] && compiler=g++
    rm -rf twin
    mkdir twin
    (
        cd twin
        "$compiler" -O0 -g -pthread -I"$TESTS/programs" --coverage "$source" -o twin
        ./twin "${@:2}" >/dev/null 2>&1
        gcov --json-format --stdout ./*.gcda
    ) | python3 -c '
import json, sys
decoder, text, ran = json.JSONDecoder(), sys.stdin.read(), {}
while text.strip():
    report, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    for file in report["files"]:
        if file["file"].endswith(sys.argv[1]):
            for line in file["lines"]:
                number = line["line_number"]
                ran[number] = ran.get(number, False) or line["count"] > 0
for number in sorted(ran):
    print(number, int(ran[number]))' "$(basename "$source")"
}

# A function's head is one line for gcov, and another (that of its brace) in debug information.
for source in "$TESTS/programs/edges.c" "$TESTS/programs/thrown.cpp" "$TESTS/../samples/exceptions.cpp" \
    "$TESTS/programs/coroutines.c"; do
    name=$(basename "${source%.*}")
    compiler=gcc
    [[ $source == *.cpp ]] && compiler=g++
    for calls in '' --no-calls; do
        rm -rf traces
        "$compiler" -O0 -g -pthread -I"$TESTS/programs" "$source" -o "native/$name"
        covered "$name" $calls
        run native "./$name"
        ran "$name"
        cmp native.stdout instrumented.stdout
        coverage --output-format=lcov | lines "$(basename "$source")" >found
        gcov_lines "$source" >expected
        join <(sort expected) <(sort found) >both
        (($(wc -l <both) * 10 >= $(wc -l <expected) * 8)) ||
            fail "$name: $(wc -l <both) lines of $(wc -l <expected) are in both"
        awk -v name="$name" '$2 != $3 { print name, "line", $1 ": expected", $2 ", found", $3; bad = 1 }
            END { exit bad }' both
    done
done

# blocks_ran NAME: "ran of all" of a function, all images together
blocks_ran()
{
    coverage --output-format=tsv | awk -F '\t' -v name="$1" '$1 == name { all += $5; ran += $6 }
        END { print ran + 0, "of", all + 0 }'
}

# is_run NAME: did the function at all?
is_run()
{
    [[ $(blocks_ran "$1") != "0 of "* ]]
}

build covered covered.c -O0 -pthread
for calls in '' --no-calls; do
    rm -rf traces
    covered covered $calls
    ran covered
    is_run in_main || fail "in_main did not run"
    for part in in_thread in_child in_executed in_killed; do
        equal "$part, which did not run" "$(blocks_ran $part | cut -d' ' -f1)" 0
    done
    ran covered thread
    ran covered child
    ran covered kill
    equal 'status of what was killed' "$(<instrumented.status)" 137
    for part in in_thread in_child in_executed in_killed; do
        is_run $part || fail "$part did not run, $calls"
    done
    coverage --output-format=lcov >lines.info
    lines covered.c <lines.info >found
    while IFS=: read -r number text; do
        [[ $text == *'/* never */'* ]] && expected=0 || expected=1
        equal "line $number: $text" "$(awk -v line="$number" '$1 == line { print $2 }' found)" $expected
    done < <(grep -n 'done = ' "$TESTS/programs/covered.c" | grep -v 'after its parent')
done

# what others read
lcov --summary lines.info >said 2>&1
contains said 'lines\.*: .*% \(.* of .* lines\)'
genhtml --quiet lines.info -o pages >/dev/null
[[ -s pages/index.html ]] || fail 'genhtml wrote no page'
coverage --output-format=cobertura >coverage.xml
xmllint --nonet --noout coverage.xml
equal 'classes' "$(xmllint --nonet --xpath 'count(//class)' coverage.xml)" "$(grep -c '^SF:' lines.info)"
equal 'lines' "$(xmllint --nonet --xpath 'count(//line)' coverage.xml)" "$(grep -c '^DA:' lines.info)"
equal 'lines that ran' "$(xmllint --nonet --xpath 'count(//line[@hits="1"])' coverage.xml)" \
    "$(grep -c '^DA:.*,1$' lines.info)"
coverage --output-format=gcovr >coverage.json
gcovr --filter=/ --add-tracefile=coverage.json --json-summary | python3 -c '
import json, sys
summary = json.load(sys.stdin)
print(len(summary["files"]), summary["line_total"], summary["line_covered"])' >found
equal "files, lines, lines that ran in gcovr's eyes" "$(<found)" \
    "$(awk '/^SF:/ { files++ } /^DA:/ { all++; ran += !/,0$/ } END { print files, all, ran }' lines.info)"
gcovr --filter=/ --add-tracefile=coverage.json --html-details=details.html
[[ -s details.html ]] || fail 'gcovr wrote no page'
coverage --output-format=drcov >blocks.drcov
python3 - blocks.drcov >drcov_blocks <<'END'
import re, struct, sys
log = open(sys.argv[1], "rb").read()
assert log.startswith(b"DRCOV VERSION: 2\nDRCOV FLAVOR: ")
modules = int(re.search(rb"\nModule Table: version 2, count (\d+)\nColumns: id, base, end, entry, path\n", log)[1])
table = re.search(rb"\nBB Table: (\d+) bbs\n", log)
entries = log[table.end():]
assert len(entries) == 8 * int(table[1]), "the table is cut"
for start, size, module in struct.iter_unpack("<IHH", entries):
    assert size and module < modules
print(int(table[1]))
END
coverage >table
equal 'blocks' "$(<drcov_blocks)" "$(awk '$1 == "blocks" { print $2; exit }' table)"

# A child's blocks are in its own trace, where it has one: its parent's is written by then.
rm -rf traces
covered covered --overwrite
ran covered outlive
for ((try = 0; try < 100 && $(ls traces/*.bin | wc -l) < 2; try++)); do
    sleep 0.1
done
is_run in_outliving || fail 'what a child ran after its parent is not there'

# a library that is gone when a child begins its trace: nothing was lost
gcc -O0 -g -fPIC -shared -I"$TESTS/programs" "$TESTS/programs/plugin.c" -o native/plugin.so
covered covered
covered plugin.so
rm -rf traces
ran covered reload
coverage --output-format=tsv >table 2>said
equal 'what is said of a library that is gone' "$(<said)" ''
contains table '^plugin_run'$'\t'

# a process whose address space has no room for the whole trace
for calls in '' --no-calls; do
    rm -rf traces
    covered covered $calls
    ran covered
    coverage --output-format=tsv >expected
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- \
        "$BASH" -c 'ulimit -v 900000; exec ./covered'
    coverage --output-format=tsv >table
    cmp expected table
done

# a program that is instrumented again, with other blocks: those of before are not taken for them
rm -rf traces
covered covered
ran covered
covered covered --exclude=in_main
run instrumented "$BUILD/grinder/grinder" --mode=coverage --output-format=tsv ../traces
contains instrumented.stderr 'it was instrumented otherwise since'
equal 'blocks of another making' "$(awk -F '\t' '{ sum += $6 } END { print sum + 0 }' instrumented.stdout)" 0

# a stripped program whose originals are int3
cp "$(readlink -f "$(command -v lua5.4)")" native/lua
rm -rf traces
for calls in '' --no-calls; do
    covered lua $calls --poison
    echo 'local t = {} for i = 1, 1000 do t[i] = i * 2 end print(#t, pcall(error, "x"))' >script.lua
    run native ./lua ../script.lua
    ran lua ../script.lua
    cmp native.stdout instrumented.stdout
done
coverage >table
contains table '^functions +[1-9][0-9]+ of 7[0-9][0-9] ran'
contains table '^lines +no debug information'
contains table '^left out +[1-9] functions that cannot be copied'

# by umbra, with libraries
rm -rf recording
umbra record -q -o recording --count=blocks --once --no-calls -- "$work/native/covered" >/dev/null
umbra report --mode=coverage recording >table
contains table '^blocks +[1-9][0-9]* of [1-9][0-9]* ran'

# several recordings add up, also where each has images of its own
umbra record -q -o other --count=blocks --once --no-calls -- "$work/native/covered" thread >/dev/null
umbra report --mode=coverage --output-format=tsv recording other >both
ran_in()
{
    awk -F '\t' '$1 == "in_thread" { print $6 + 0 }' "$1"
}
umbra report --mode=coverage --output-format=tsv recording >one
equal 'in_thread, in one' "$(ran_in one)" 0
equal 'in_thread, in both' "$(ran_in both)" 1
"$BUILD/front/umbra" report recording other 2>said && fail 'two recordings made a report'
contains said 'expected 1 recording at most'

# what makes no sense
for options in --once --no-calls '--count=blocks --once --how=prologue' '--count=calls --once'; do
    "$BUILD/rewriter/instrument" native/covered -o refused $options 2>said && fail "instrument took $options"
    "$BUILD/front/umbra" record -o refused $options -- true 2>said && fail "umbra took $options"
    [[ $(wc -l <said) == 1 ]] || fail "$options: more than a line is said: $(<said)"
done
rm -rf traces
instrumented covered --overwrite
recorded covered
"$BUILD/grinder/grinder" --mode=coverage traces 2>said && fail 'blocks were found where none were counted'
contains said 'has no blocks'
"$BUILD/grinder/grinder" --mode=coverage --process=1 traces 2>said && fail '--process was taken'
contains said 'no --process'
