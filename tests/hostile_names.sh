#!/bin/bash
# Names of files and functions may hold anything but a zero. What instrument prints of them is valid
# UTF-8 without control characters, one line a message and one line a function.
# needs: binutils bsdutils
. "$(dirname "$0")/lib.sh"

# harmless FILE: nothing in it acts on a terminal, and all of it is UTF-8.
harmless()
{
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$1 is no UTF-8"
    if LC_ALL=C grep -Pq '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' "$1"; then
        cat -v "$1" >&2
        fail "$1 has control characters"
    fi
}

# ESC [ 2 J clears a terminal; 0x9b is its other beginning, alone and as a character; U+202E turns
# what follows around.
bad=$'x\e[2J\a\177\x9b\xc2\x9b\xe2\x80\xaeu\tv\nw'
good=$'gr\xc3\xbc\xc3\x9f'

# --- functions
cat >functions.c <<'END'
__attribute__((noinline)) int one(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int two(int x) { __asm__ volatile(""); return x + 2; }
int main(int count, char **arguments) { (void)arguments; return one(count) + two(count) - 5; }
END
gcc -O2 -o native/functions functions.c
objcopy --redefine-sym "one=$bad" --redefine-sym "two=$good" native/functions
instrumented functions
for file in native/functions instrumented/functions; do
    instrument --list "$file" >list
    harmless list
    columns=5 # of an original, also why bodies would not be copied
    [[ $file == instrumented/* || ${UMBRA_TEST_HOW:-auto} == prologue ]] || columns=6
    equal "columns of --list" "$(awk -F '\t' '{ print NF }' list | sort -u)" "$columns"
    equal "names that are fine" "$(cut -f 5 list | grep -c "$good$")" 1
    contains <(cut -f 3-5 list) $'^hooked\t[a-z-]*\tx.*\?u\?v\?w$'
done

# --- files
cp native/functions "$bad"
instrument "$bad" -o "$bad.out" >said 2>error
contains said '^x.*\?u\?v\?w\.out: .* functions found'
instrument --verify "$bad.out" >>said 2>>error
mkdir "tree$bad"
cp "$bad" "tree$bad"
cp "$bad.out" "tree$bad/again$bad"
mkfifo "tree$bad/pipe$bad"
instrument "tree$bad" -o "new$bad" >>said 2>>error
equal "notes" "$(wc -l <error)" 2
equal "results" "$(wc -l <said)" 4
for arguments in "nosuch$bad -o out" "functions.c -o out$bad" "--list functions.c$bad" \
    "--no$bad" "--include= $bad" "--filter=$bad -o out" "--agent=$bad native/functions -o out"; do
    IFS=' ' read -rd '' -a words <<<"$arguments" || true
    status=0
    "$BUILD/rewriter/instrument" "${words[@]}" >>said 2>one || status=$?
    ((status == 1 || status == 2)) || fail "$arguments: status $status"
    equal "lines of error" "$(wc -l <one)" 1
    cat one >>error
done
printf '%s\n' "$bad" >rules
! instrument --filter=rules native/functions -o out 2>>error || fail "a filter of nonsense was taken"
instrument --exclude="$bad"'?' "$bad" -o out --overwrite >>said 2>>error
harmless error
harmless said

# --- a terminal, with its line that says how far it is
mkdir many
for ((i = 0; i < 100; i++)); do
    cp "$bad" "many/$bad$i"
done
script -qec "$(printf '%q ' "$BUILD/rewriter/instrument" --agent="$AGENT" --no-verify many -o shown)" \
    typescript >/dev/null
sed -E 's/\r\x1b\[K//g; s/\r$//; /^Script /d' typescript >terminal
contains terminal 'file [0-9]+ of 100  x'
harmless terminal

# --- what stdout does not take is said, with the reason
for mode in 0 L; do # unbuffered, by lines
    for verb in --verify --list; do
        status=0
        stdbuf -o$mode "$BUILD/rewriter/instrument" $verb instrumented/functions >/dev/full \
            2>error || status=$?
        equal "status of $verb to a full disk" "$status" 1
        contains error 'standard output: .*No space left'
    done
done
