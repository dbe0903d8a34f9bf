#!/bin/bash
# A report holds no file but those that everybody may read or that were asked for, whatever a module
# says its sources are; it is its owner's alone, and says what it holds.
# needs: gcc python3 chromium chromium-driver
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
chmod 711 "$work"
for ((above = 1; above; )); do
    folder=$(dirname "${folder:-$work}")
    [[ $(stat -c %A "$folder") == *[xt] ]] || { echo "skipped: $folder is not open to all"; exit 0; }
    [[ $folder != / ]] || above=0
done

# Of the program, of its reader, and of everybody. Each names itself.
mkdir -p home/{src,.ssh,.config} public elsewhere
chmod 755 public
chmod 700 home elsewhere
for file in home/src/{open,own}.c home/.ssh/key home/src/.env home/.config/open public/{open,own}.c \
    elsewhere/far.c; do
    printf '/* the text of %s */\nint x;\n' "$file" >"$file"
    chmod 644 "$file"
done
chmod 600 home/.ssh/key home/src/{own.c,.env} public/own.c
ln -s ../.ssh/key home/src/key.c
ln -s ../../elsewhere/far.c home/src/far.c
ln -s ../home/.ssh/key public/key.c
ln -s "$work/home/src" public/src
ln -s /dev/zero public/device.c
mkfifo public/pipe.c
truncate -s 1G public/huge.c
chmod 644 public/huge.c

# A module that has a function in each of them.
sources=("$work"/home/{src/{open,own,key,far}.c,.ssh/key,src/.env,.config/open}
    "$work"/public/{open.c,own.c,key.c,src/open.c,../home/.ssh/key,pipe.c,huge.c,device.c}
    /proc/self/environ /proc/self/maps /proc/kcore /proc/version /sys/kernel/notes /dev/zero
    "$work"/{elsewhere/far.c,nothing.c,home} /build/src/open.c /build/../home/.ssh/key)
{
    echo 'static volatile int sink;'
    for i in "${!sources[@]}"; do
        printf '#line 1 "%s"\n__attribute__((noinline)) void f%d(void) { sink++; }\n' \
            "${sources[i]}" "$i"
    done
    printf '#line 1 "%s/public/open.c"\nint main(void) {' "$work"
    printf 'f%d();' "${!sources[@]}"
    echo 'return 0; }'
} >hostile.c
build hostile "$work/hostile.c" -gdwarf-4 # of DWARF 5, libdwarf takes file 1 for file 0
instrumented hostile
run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- ./hostile
equal "status of the program" "$(<instrumented.status)" 0
chmod 700 traces

# holds "FILE…" OPTION…: the report holds the text of these, and of no other.
holds()
{
    local files=$1
    shift
    grinder --mode=report --output-file=page.html "$@" traces 2>said || fail "$*: $(<said)"
    equal "what the report with $* holds" \
        "$({ grep -o 'the text of [^ ]* \*/' page.html || true; } | cut -d' ' -f4 | sort -u | xargs)" \
        "$files"
    [[ $* != *--verbose* ]] || equal "what it says that it holds" \
        "$(sed -n "s|.* holds the text of $work/||p" said | sort -u | xargs)" "$files"
    equal "permissions" "$(stat -c %a page.html)" 600
}

touch page.html
chmod 644 page.html
holds "public/open.c"
contains said '^grinder: page.html: holds the text of 1 source file; --verbose lists them$'
contains said "page.html: leaves out 7 source files that not everybody on .* may read: $work/elsewhere/far.c, "
contains said 'source-root=DIR takes in those below DIR$'
python3 "$TESTS/report.py" policy page.html
mkdir profile
python3 "$TESTS/report.py" sealed "file://$work/page.html" "$work/profile" public/open.c

# Who asks for a folder gets what lies in it, links followed, but for what is hidden in it.
holds "home/src/open.c home/src/own.c public/open.c" --source-root=home/src/ --verbose
contains said "page.html: does not hold the text of $work/home/.ssh/key$"
holds "home/src/open.c home/src/own.c public/open.c" --source-root=home --verbose
holds "home/src/open.c home/src/own.c public/open.c" --source-root=public/src --verbose
holds "home/.ssh/key public/open.c" --source-root=home/.ssh --verbose
holds "public/open.c public/own.c" --source-root=public --verbose
holds "elsewhere/far.c home/src/open.c home/src/own.c public/open.c public/own.c" --source-root=/ \
    --verbose
holds "elsewhere/far.c home/src/open.c home/src/own.c public/open.c" --source-root=home/src \
    --source-root=elsewhere --quiet
! grep -q ' holds the text' said || fail "--quiet says what the report holds"

# To say where files lie is not to ask for them.
holds "public/open.c" --path-map="/build=$work/home" --verbose
holds "public/open.c public/own.c" --path-map="/build=$work/public" --source-root=public --verbose

# A folder is its owner's alone, too.
umask 022
grinder --mode=report --output-file=pages/ traces 2>said
equal "permissions of a folder" "$(stat -c %a pages pages/* | sort -u | xargs)" "600 700"
equal "what the folder holds" "$(cat pages/s*.js | grep -c 'the text of')" 1
python3 "$TESTS/report.py" policy pages/index.html
python3 "$TESTS/report.py" sealed "file://$work/pages/index.html" "$work/profile" public/open.c

status=0
grinder --mode=report --source-root=nothing --output-file=none.html traces 2>said || status=$?
equal "status of a root that is not there" "$status" 1
contains said '^grinder: --source-root=nothing: expected a folder: No such file or directory$'
[[ ! -e none.html ]] || fail "a report without its --source-root"
status=0
grinder --mode=summary --source-root=. traces 2>said || status=$?
equal "status of a root for a summary" "$status" 2
