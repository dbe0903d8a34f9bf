#!/bin/bash
# Images and trees from somebody who means harm name files that instrument would open, or have
# something else put in their place while it works. It opens nothing but regular files, follows no
# link out of a tree, takes nobody else's file for the agent, and libraries that read images are
# confined.
# needs: strace util-linux binutils
. "$(dirname "$0")/lib.sh"

build fib "$TESTS/../samples/fib.c"

# opens_only_files COMMAND…: whatever its status, the pipe is not opened. It would wait for ever for
# somebody to write, as a device would do whatever devices do.
opens_only_files()
{
    local status=0
    timeout -k 5 60 strace -f -o opened -e trace=open,openat,openat2 "$@" >said 2>error || status=$?
    ((status < 124)) || fail "$*: status $status"
    if grep -v O_PATH opened | grep -E '/?pipe"'; then
        fail "$*: opens a pipe"
    fi
}

if ! strace true 2>/dev/null; then
    echo "skipped: strace may not trace here"
    exit 0
fi
tool=("$BUILD/rewriter/instrument" --agent="$AGENT")

# --- the path of the original, which only an image that was changed is asked for
mkdir original
cp native/fib original/pipe
instrument original/pipe -o changed >/dev/null
at=$({ cmp -l native/fib changed 2>/dev/null || true; } | awk 'END { print $1 }')
printf '\x55' | dd of=changed bs=1 seek="$at" conv=notrunc status=none
rm original/pipe
mkfifo original/pipe
for options in --verify --undo; do
    # shellcheck disable=SC2046
    opens_only_files "${tool[@]}" $options changed $([[ $options == --verify ]] || echo "-o undone")
    contains error 'changed: changed after it was written.*not there to tell where'
done

# --- a debug file
cp native/fib linked
objcopy --only-keep-debug native/fib pipe
objcopy --strip-debug linked
objcopy --add-gnu-debuglink=pipe linked
instrument --list --exclude='source:*/fib.c' linked >said
contains said $'\texcluded\tfib'
rm pipe
mkfifo pipe
opens_only_files "${tool[@]}" --list --exclude='source:*/fib.c' linked
mkdir -p fib.dSYM/Contents/Resources/DWARF
ln -s "$work/pipe" fib.dSYM/Contents/Resources/DWARF/fib
cp native/fib .
opens_only_files "${tool[@]}" --list --exclude='source:*/fib.c' fib
contains said $'\texcluded\tfib' # its own lines are read all the same

# --- what reads it with somebody else's library, LIEF or libdwarf, may do nothing but read
# confined COMMAND…: so is its child; the images are hostile no more than any other.
confined()
{
    strace -f -o calls -e trace=prctl "$@" >said 2>error
    equal "children that are confined" "$(grep -c 'PR_SET_SECCOMP, SECCOMP_MODE_FILTER.* = 0' calls)" 1
}
confined "${tool[@]}" native/fib -o judged
confined "${tool[@]}" --list --exclude='source:*/fib.c' native/fib
contains said $'\texcluded\tfib'

# --- an agent that somebody else has put beside the output, to change it later
if ((EUID == 0)); then
    mkdir beside
    cp "$AGENT" beside/libhooks.so
    chown 65534 beside/libhooks.so
    ! "${tool[@]}" --bundle native/fib -o beside/fib 2>error || fail "another user's agent was taken"
    contains error 'beside/libhooks.so: expected a new file'
    [[ ! -e beside/fib ]] || fail "an output is there without its agent"
    "${tool[@]}" --bundle native/fib -o beside/fib --overwrite >said
    equal "owner of the agent" "$(stat -c %u beside/libhooks.so)" 0
    ln -s "$AGENT" link
    chown -h 65534 link
    mv link beside/libhooks.so
    ! "${tool[@]}" --bundle native/fib -o beside/fib --overwrite 2>error ||
        fail "another user's link to an agent was taken"
    contains error 'beside/libhooks.so: expected a file to write, found a symbolic link'
    rm beside/libhooks.so
    ln -s "$AGENT" beside/libhooks.so
    "${tool[@]}" --bundle native/fib -o beside/fib --overwrite >said
    [[ -L beside/libhooks.so ]] || fail "one's own link to the agent was replaced"
else
    echo "skipped: files of another user, which only root can make"
fi

# --- trees that are changed while they are read or written
# stopped_copy TREE OUT: leaves it stopped where it has copied the first file that is no program.
stopped_copy()
{
    strace -f -o strace.log -e trace=copy_file_range \
        -e inject=copy_file_range:signal=STOP:when=1 "${tool[@]}" "$1" -o "$2" >said 2>error &
    tracer=$!
    started=("$tracer")
    writer=
    for ((i = 0; i < 600 && !${writer:-0}; i++)); do
        writer=$(pgrep -P "$(pgrep -P "$tracer" || echo 0)" -r T,t || true)
        sleep 0.05
    done
    [[ $writer ]] || { cat said error; fail "the writer of the tree does not stop"; }
}

# goes_on STATUS
goes_on()
{
    local status=0
    kill -CONT "$writer"
    wait "$tracer" || status=$?
    started=()
    equal "status" "$status" "$1"
}

mkdir -p secret tree/folder
echo private >secret/key
chmod 0600 secret/key
cp native/fib tree
echo public | tee tree/folder/first >tree/folder/key
stopped_copy tree new
mv tree/folder tree/moved
ln -s "$work/secret" tree/folder
goes_on 1
contains error 'tree/folder/key: expected the file that was found there, found something else'
! grep -rqs private new .new.* || fail "a file from outside of the tree was copied"
[[ ! -e new ]] || fail "there is a tree"

rm tree/folder
mv tree/moved tree/folder
mkdir victim open
stopped_copy tree open/new
growing=(open/.new.*)
mv "${growing[0]}" open/moved
ln -s ../victim "${growing[0]}"
goes_on 1
contains error 'open/new: .*something else put in its place'
equal "what was written elsewhere" "$(ls -A victim)" ""
equal "what is there" "$(ls -A open)" moved

# --- data that looks like a long table of OCaml's frames at each of its words
cat >words.c <<'END_OF_SOURCE'
__asm__(".text\n.balign 16\n.globl f\nf: nop\nnop\nnop\ncall g\nbehind: ret\ng: ret\n"
        ".section .rodata\n.balign 8\n.rept 1000000\n.quad behind\n.endr\n.text\n");
void f(void);
int main(void) { f(); return 0; }
END_OF_SOURCE
gcc -no-pie -fcf-protection=none -Wl,-Ttext-segment=0xf0000 words.c -o native/words
timeout -k 5 60 "${tool[@]}" -o words native/words >said || fail "words: status $?"
