#!/bin/bash
# Where a trace, or what lies beside it, or what it names, is a pipe or a device, nothing waits,
# nothing is opened that is no file, and what else there is is shown.
# needs: gcc binutils python3 strace
. "$(dirname "$0")/lib.sh"

cat >small.c <<'END'
__attribute__((noinline)) int small(int x) { __asm__ volatile(""); return x + 1; }
int main(int count, char **arguments) { (void)arguments; return small(count) - 2; }
END
gcc -O2 -g small.c -o native/small
instrumented small
for mode in profile calltrace; do
    (cd instrumented && call_trace_service start --mode=$mode --trace-dir="$work/$mode" -- ./small)
done
profile=$(echo profile/*.bin) calltrace=$(echo calltrace/*.bin)

# looked OPTION…: what the grinder says and shows, which does not take for ever
looked()
{
    status=0
    timeout -k 5 60 "$BUILD/grinder/grinder" "$@" >shown 2>said </dev/null || status=$?
    ((status == 0 || status == 1)) || fail "$*: status $status: $(<said)"
}

# --- a pipe in place of each file beside a trace, and of the trace
for kind in slices samples events ring events.1; do
    for trace in "$profile" "$calltrace"; do
        beside=${trace%.bin}.$kind
        [[ ! -e $beside ]] || mv "$beside" kept
        mkfifo "$beside"
        looked --mode=summary "$trace"
        contains shown 'small'
        [[ $kind != events* ]] || contains said "events(.1)?: cannot be opened: is not a regular file"
        looked --mode=report --output-file=page.html "$trace"
        rm "$beside"
        [[ ! -e kept ]] || mv kept "$beside"
    done
done
mkfifo pipe.bin
looked --mode=summary pipe.bin
contains said '^grinder: pipe.bin: cannot be opened: is not a regular file$'

# --- of what it names: image, separate debug file, file of the linker's debug information
opened()
{
    strace -f -o calls -e trace=open,openat "$BUILD/grinder/grinder" --mode=summary --debug-dir=debug \
        "$profile" >shown 2>said || true
    awk -v path="$1" '/ = [0-9]+$/ && !/O_PATH/ && index($0, path "\"") { print }' calls
}

traced=yes
strace -o calls true 2>said || { echo "skipped: no process may trace another here"; traced=; }
mv instrumented/small image
for kind in pipe device; do
    [[ $kind == device ]] && ln -sf /dev/zero instrumented/small || mkfifo instrumented/small
    looked --mode=summary "$profile"
    contains said 'instrumented/small: is not a regular file; its functions are shown by number'
    [[ ! $traced ]] || equal "opened of a $kind in place of an image" "$(opened instrumented/small)" ""
    rm instrumented/small
done

cp image instrumented/small
objcopy --only-keep-debug instrumented/small small.debug 2>problems
strip --strip-debug instrumented/small
objcopy --add-gnu-debuglink=small.debug instrumented/small
mkfifo instrumented/small.debug
id=$(readelf -n instrumented/small | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
mkfifo "debug/.build-id/${id:0:2}/${id:2}.debug"
looked --mode=summary --debug-dir=debug "$profile"
contains shown ' small$'
[[ ! $traced ]] || equal "opened of debug files" "$(opened .debug)" ""

# A link that leads out of the folder of the image is none.
python3 - instrumented/small small.debug ../al.debug <<'END'
import sys
path, old, new = sys.argv[1:]
data = open(path, "rb").read()
assert data.count(old.encode()) == 1 and len(old) == len(new)
open(path, "wb").write(data.replace(old.encode(), new.encode()))
END
mv small.debug al.debug
rm -r debug native/small # the original has lines, too
looked --mode=profile --output-file=out "$profile"
! grep -q 'small\.c' out || fail "a debug file was found by ../"
