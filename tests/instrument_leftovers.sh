#!/bin/bash
# Killed by kill -9, instrument leaves nothing where the file system can have files without a name,
# and elsewhere a temporary file or tree that the next run to the same place removes. What a run still
# works on is not touched, nor is what only looks similar.
# needs: strace util-linux
. "$(dirname "$0")/lib.sh"

build fib "$TESTS/../samples/fib.c"
strace true 2>/dev/null || { echo "skipped: strace may not trace here"; exit 0; }

# killed_at SYSCALL COMMAND…: it is killed where it comes to that call, and does not get to it.
killed_at()
{
    local status=0
    strace -f -o strace.log -e trace="$1" -e inject="$1:signal=KILL" "${@:2}" >/dev/null 2>error ||
        status=$?
    equal "status of a killed run" "$status" 137
}

plain=("$BUILD/rewriter/instrument" --agent="$AGENT" --no-verify)
# Without /proc, what has no name cannot be given one.
named=(unshare -m bash -c 'mount -t tmpfs none /proc && exec "$@"' named "${plain[@]}")

leftovers()
{
    find . -maxdepth 1 -name ".$1.*" | sort
}

# --- a file
killed_at fsync "${plain[@]}" native/fib -o out
if unshare -m true 2>/dev/null; then
    equal "what is left of a file without a name" "$(leftovers out)" ""
    [[ ! -e out ]] || fail "half a file is there"
    killed_at fsync "${named[@]}" native/fib -o out
    equal "left-over files" "$(leftovers out | wc -l)" 1
else
    echo "skipped: files with a temporary name, to be had by hiding /proc, which only root can"
    : >.out.umbra-abcdef
fi
left=$(leftovers out)
# Held as by a run at work; another name; another place's; somebody else's; of another kind.
: >.out.umbra-worked
exec {held}<.out.umbra-worked
flock "$held"
: >.out.backup
: >.out.umbra-toolong
: >.other.umbra-abcdef
mkfifo .out.umbra-apipe0
ln -s native/fib .out.umbra-alink0
kept=(.out.umbra-worked .out.backup .out.umbra-toolong .other.umbra-abcdef .out.umbra-apipe0
    .out.umbra-alink0)
if ((EUID == 0)); then
    : >.out.umbra-theirs
    chown 65534 .out.umbra-theirs
    kept+=(.out.umbra-theirs)
fi
instrument native/fib -o out
[[ ! -e $left ]] || fail "$left is still there"
for name in "${kept[@]}"; do
    [[ -e $name || -L $name ]] || fail "$name was removed"
done
exec {held}<&-
instrument --undo out -o out --overwrite
cmp out native/fib
[[ ! -e .out.umbra-worked ]] || fail "--undo does not remove what is left"
rm -f .o*

# Where a file is replaced, it has a temporary name for the time of one call.
killed_at renameat2,rename,renameat "${plain[@]}" native/fib -o out --overwrite
cmp out native/fib
instrument native/fib -o out --overwrite
equal "what is left" "$(leftovers out)" ""
instrument --verify out

# The agent beside an output, too.
: >.libhooks.so.umbra-abcdef
instrument --bundle native/fib -o bundled
equal "what is left of an agent" "$(leftovers libhooks.so)" ""

# --- a tree, stopped when it has a folder
mkdir -p tree/folder/deeper
cp native/fib tree/folder
strace -f -o strace.log -e trace=mkdir -e inject=mkdir:signal=STOP:when=1 "${plain[@]}" tree -o new \
    >said 2>&1 &
tracer=$!
started=("$tracer")
# The stopped writer, its parent, and the tree it writes.
writer='' parent=''
for ((i = 0; i < 600 && !${writer:-0}; i++)); do
    parent=$(pgrep -P "$tracer" || true)
    [[ ! $parent ]] || writer=$(pgrep -P "$parent" -r T,t || true)
    sleep 0.05
done
[[ $writer ]] || { cat said; fail "the writer of the tree does not stop"; }
left=$(leftovers new)
[[ -d $left ]] || fail "there is no temporary tree"
instrument tree -o new --overwrite
[[ -d $left ]] || fail "a tree that is being written was removed"
kill -KILL "$parent"
kill -CONT "$writer"
wait "$tracer" || true
started=()
for ((i = 0; i < 600; i++)); do
    kill -0 "$writer" 2>/dev/null || break
    sleep 0.05
done
! kill -0 "$writer" 2>/dev/null || fail "the writer goes on without its parent"
equal "left-over trees" "$(leftovers new)" "$left"
instrument tree -o new --overwrite
equal "what is left of trees" "$(leftovers new)" ""
instrument --verify new/folder/fib
