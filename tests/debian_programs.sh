#!/bin/bash
# Debian's own stripped programs, instrumented, do at least a second's work each with output and
# exit status identical to the originals; each leaves a callgrind file that callgrind_annotate
# reads and whose totals agree with the summary.
# needs: lua5.4 sqlite3 xz-utils git python3.11 libpython3.11-testsuite valgrind
# seconds: 90
. "$(dirname "$0")/lib.sh"
SERVICE_OPTIONS=--timing=adaptive # a time for each function that is called
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

# One merged part is what callgrind_annotate takes.
profile_agrees()
{
    local name=$1 annotated in_summary
    grinder --mode=profile --merged --output-file="$name.callgrind" traces/*.bin
    callgrind_annotate --threshold=100 "$name.callgrind" >annotated 2>annotate.log ||
        { cat annotate.log; fail "$name: callgrind_annotate does not read the profile"; }
    annotated=$(sed -nE '/PROGRAM TOTALS/ { s/,|\([^)]*\)//g; p }' annotated | awk '{ print $2 }')
    in_summary=$(summed entries)
    [[ $in_summary -gt 100000 ]] || fail "$name: only $in_summary calls were recorded"
    equal "$name: calls in the profile and in the summary" "$annotated" "$in_summary"
    echo "$name: $(grep -c . instrumented.stdout) lines of output, $in_summary calls recorded"
}

# library NAME: the instrumented program gets an instrumented library where the work is in one;
# native/ has the library as it is.
library()
{
    cp -L "/usr/lib/x86_64-linux-gnu/$1" "native/$1"
    instrumented "$1"
    cat instrumented.line
    export LD_LIBRARY_PATH=.
}

# debian NAME ARGUMENT…: /usr/bin/NAME, which is instrumented for it.
debian()
{
    local name=$1
    shift
    cp "/usr/bin/$name" "native/$name"
    instrumented "$name"
    cat instrumented.line
    recorded "$name" "$@"
    profile_agrees "$name"
}

debian lua5.4 "$TESTS/../samples/words.lua" 600000

{
    cat "$TESTS/../bench/workloads/rows.sql"
    echo "SELECT * FROM nonexistent;"
} >work.sql
library libsqlite3.so.0
debian sqlite3 -bail work.db ".read $work/work.sql"

awk 'BEGIN { for (i = 1; i <= 60000; i++) print i " is a number, and so is " i * i % 65537 }' >numbers
library liblzma.so.5
debian xz -6 -k -c "$work/numbers"
cp native.stdout numbers.xz
recorded xz -t -v -T2 "$work/numbers.xz"
recorded xz -dc "$work/numbers.xz"

unset LD_LIBRARY_PATH

# git runs itself under many names; its library of helpers is rebuilt around the program under test.
cp /usr/bin/git native/git
instrumented git
cat instrumented.line
for folder in native instrumented; do
    mkdir "$folder/core"
    for helper in /usr/lib/git-core/*; do
        if [[ $helper -ef /usr/lib/git-core/git || $(readlink -f "$helper") == */git ]]; then
            ln -s ../git "$folder/core/${helper##*/}"
        else
            ln -s "$helper" "$folder/core/${helper##*/}"
        fi
    done
    cat >"$folder/work" <<'EOF'
#!/bin/sh
export GIT_EXEC_PATH=$PWD/core PATH=$PWD/core:$PATH HOME=$PWD GIT_CONFIG_NOSYSTEM=1
git clone --no-local ../repository copy && git -C copy log -p --stat | cksum &&
    git -C copy fsck --full --strict && git -C copy blame file7 | cksum &&
    git clone ../repository local && git -C local checkout -q HEAD~500 && git -C local status &&
    git -C copy no-such-command
status=$?
rm -rf copy local
exit $status
EOF
    chmod +x "$folder/work"
done
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q -b main repository
awk 'BEGIN {
    for (i = 1; i <= 5000; i++) {
        printf "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 10\ncommit %03d\n", 1700000000 + i, i % 1000
        text = ""
        for (j = 0; j < 100; j++) text = text sprintf("line %05d %05d\n", j, j % 10 == i % 10 ? i : j)
        printf "M 100644 inline file%d\ndata %d\n%s\n", i % 20, length(text), text
    }
}' | git -C repository fast-import --quiet
recorded work
profile_agrees git

# Python's tests print how long they took; each test of the first three modules has its line.
normalise()
{
    sed -i -E 's/in [0-9.]+s$//; s/^[0-9:]+ load avg: [0-9.]+ //; s/^(Total duration: ).*/\1/; /^[a-z_]+ passed in [0-9.]+ (sec|min)/d' "$1"
}
LIMIT=200
# Of json without test_tool, which is 25 more starts of an interpreter, and test_unicode.
debian python3.11 -m unittest -v \
    test.test_json.test_{decode,default,dump,encode_basestring_ascii,enum,fail,float,indent} \
    test.test_json.test_{pass1,pass2,pass3,recursion,scanstring,separators,speedups} \
    test.test_re test.test_exceptions
contains instrumented.stderr '^OK'
recorded python3.11 -m test test_threading
contains instrumented.stdout 'SUCCESS'
