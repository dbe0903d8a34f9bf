#!/bin/bash
# A whole tree: programs and libraries are instrumented, the rest is kept as it is, and the new
# tree appears whole or not at all.
. "$(dirname "$0")/lib.sh"

build fib "$TESTS/../samples/fib.c"
build fib.static "$TESTS/../samples/fib.c" -static
echo table >table
objcopy --add-section .gopclntab=table native/fib.static native/fib.go
build plugin.so plugin.c -shared -fPIC
instrumented fib

mkdir -p tree/bin "tree/lib/deep er" tree/empty
cp native/fib "tree/bin/an fib"
cp native/fib.static native/fib.go instrumented/fib tree/bin
cp native/plugin.so "tree/lib/deep er/plugin.so.1"
cp "$AGENT" tree/lib
ln -s "deep er/plugin.so.1" tree/lib/plugin.so
ln -s /nowhere tree/lib/dangling
ln "tree/bin/an fib" tree/bin/fib.too
head -c 3000 native/fib >tree/bin/truncated
gcc -c -x c -o tree/lib/object.o "$TESTS/../samples/fib.c"
echo '#!/bin/sh' >tree/bin/script
: >tree/empty/nothing
printf '\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x28\0' >tree/bin/arm
head -c 100 /dev/zero >>tree/bin/arm
mkfifo tree/pipe
chmod 0750 "tree/bin/an fib"
chmod 0640 tree/bin/script
touch -d 2001-02-03 tree/bin/script tree/lib tree/bin tree
chmod 0711 "tree/lib/deep er"

instrument tree/ -o new >said 2>error
equal "lines" "$(wc -l <said)" 4 # a file that was instrumented, and the sum
equal "lines of files" "$(sed -n 's/^\(new\/.*\): [0-9]* functions found, [0-9]* hooked, [0-9]* left alone, [0-9]* of them for want of a safe patch$/\1/p' said |
    sort | tr '\n' '|')" 'new/bin/an fib|new/bin/fib.static|new/lib/deep er/plugin.so.1|'
contains said '^new: 11 files: 3 instrumented, 3 other files copied, 5 refused \(1 Go, 1 already'
contains said '1 for another machine'
equal "reasons" "$(wc -l <error)" 6
contains error 'fib.go: .*Go program.*; copied as it is'
contains error 'bin/fib: .*already instrumented'
contains error 'bin/arm: .*for arm'
contains error 'truncated: truncated'
contains error 'libhooks.so: .*agent'
contains error 'pipe: .*left out'

# Same names, permissions, times of what is as it was, and links.
listing()
{
    (cd "$1" && find . ! -name pipe -printf '%P %y %m %TY-%Tm-%Td %l\n' | sort)
}
diff <(listing tree) <(listing new)
[[ "new/bin/an fib" -ef new/bin/fib.too ]] || fail "a hard link was lost"
for file in bin/fib.go bin/fib bin/truncated bin/script bin/arm lib/object.o lib/libhooks.so; do
    cmp "tree/$file" "new/$file"
done
instrument --verify "new/bin/an fib" >/dev/null
instrument --undo "new/lib/deep er/plugin.so.1" -o undone
cmp undone native/plugin.so
instrument --quiet --exclude=nosuch tree -o new.quiet >said 2>&1
instrument --quiet --verify "new.quiet/bin/an fib" >>said 2>&1
equal "what is said with --quiet" "$(<said)" ""
rm -r new.quiet
equal "what it prints" "$("new/bin/an fib" 10)" "$(native/fib 10)"

refused()
{
    local pattern=$1 before status=0
    shift
    before=$(find . -not -name error -not -name said | sort)
    instrument "$@" >said 2>error || status=$?
    equal "$*: status" "$status" 1
    contains error "$pattern"
    diff <(echo "$before") <(find . -not -name error -not -name said | sort)
}
refused 'new: .*--overwrite' tree -o new
refused 'tree: expected -o outside this directory' tree -o tree/bin/new
refused 'nowhere' tree -o nowhere/new
refused 'expected programs or libraries' tree/empty -o other
touch new/stale
instrument tree -o new --overwrite >/dev/null 2>error
[[ ! -e new/stale ]] || fail "--overwrite left something of the old tree"

# A filter is for the whole tree: a pattern that matches in one file has matched.
instrument tree -o filtered --include='fi?' --exclude=nosuch 2>error | tee said
contains error 'warning: --exclude=nosuch matches nothing'
! grep -q 'warning: --include' error || fail "a pattern that matched is said not to"
contains said '2 instrumented.*1 with nothing to hook'

# Ended in the middle, it leaves nothing.
mkdir many
for ((i = 0; i < 300; i++)); do
    cp native/fib "many/fib$i"
done
"$BUILD/rewriter/instrument" --agent="$AGENT" many -o half >/dev/null 2>&1 &
process=$!
started+=("$process")
for ((i = 0; i < 500; i++)); do
    compgen -G '.half.*/fib*' >/dev/null && break
    sleep 0.01
done
kill -TERM "$process"
status=0
wait "$process" || status=$?
equal "status after SIGTERM" "$status" 143
[[ ! -e half ]] && ! compgen -G '.half.*' >/dev/null || fail "something was left"
