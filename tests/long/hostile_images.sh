# Mutated programs and libraries under `umbra record`: each that runs natively runs so recorded, the others
# end, and what comes behind them is recorded. `instrument` refuses them with a line or makes an image. CASES (400)
# mutations that SEED (1) chooses; what fails is kept in FAILED.
# needs: gcc util-linux
. "$(dirname "$0")/../lib.sh"

cases=${CASES:-400}
seed=${SEED:-1}
failed=${FAILED:-${TMPDIR:-/tmp}/umbra-hostile-failed}
export XDG_CACHE_HOME=$work/cache
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
echo "seed $seed"

# A mutated program may do anything: it is a user that has nothing, with limits.
as=()
((EUID != 0)) || as=(setpriv --reuid=4711 --regid=4711 --clear-groups)
chmod 711 "$work"
cat >program.c <<'END'
#include <stdio.h>
static int values[4] = {1, 2, 3, 4};
int (*volatile table[2])(int);
__attribute__((noinline)) int twice(int x) { return 2 * x + values[x & 3]; }
__attribute__((noinline)) int third(int x) { return x % 3 ? twice(x) : twice(x + 1) + 1; }
int main(void)
{
    table[0] = twice;
    table[1] = third;
    for (int i = 0; i < 6; i++)
        printf("%d %d\n", i, table[i & 1](i));
    return 7;
}
END
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments)
{
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    int (*called)(int) = library ? (int (*)(int))dlsym(library, "third") : 0;
    printf("%s\n", library ? "loaded" : "not loaded");
    fflush(stdout);
    return called ? called(5) : 3;
}
END
sed 's/int main/int library_main/' program.c >library.c
gcc -O1 program.c -o dynamic
gcc -O1 -no-pie program.c -o fixed
gcc -O1 -fpic -shared library.c -o library.so
gcc -O1 loads.c -o loads
gcc -O1 program.c -o good

# run FOLDER COMMAND…: each file there, and what comes of it; then the good one
cat >each.sh <<'END'
ulimit -c 0 -t 5 -f 2000
folder=$1
shift
for ((i = 0; i < $(ls "$folder" | wc -l); i++)); do
    status=0
    "$@" "./$folder/$i" >"$OUT/printed" 2>/dev/null </dev/null || status=$?
    # What a broken table makes the dynamic linker do goes by what lies behind it: that may differ, as
    # whether it refuses to load a library or dies of it.
    ! grep -qsx 'not loaded' "$OUT/printed" || status=1
    case $status in
        1 | 12[67] | 1[3-9]? | 2??) echo "$i: fails" ;;
        *) echo "$i: status $status $(cksum <"$OUT/printed")" ;;
    esac
done 2>/dev/null
./good >/dev/null
echo "good: $?"
END

wrong()
{
    mkdir -p "$failed"
    cp -r "$1" "$failed/" || true
    fail "$2; see $failed"
}

# tried FILE [COMMAND…]
tried()
{
    local file=$1 number status build
    shift
    mkdir -p "mutated.$file"
    (cd "mutated.$file" && "$BUILD/tests/fuzz/write_mutations" -n $((cases / 4)) -s "$seed" "../$file") >written
    chmod -R a+rX "mutated.$file"
    mkdir -m 777 out.native out.recorded
    OUT=out.native timeout 300 "${as[@]}" bash each.sh "mutated.$file" "$@" >native.out
    OUT=out.recorded timeout 600 "$umbra" record --quiet -o data -- "${as[@]}" bash each.sh "mutated.$file" "$@" \
        >recorded.out 2>said || wrong "mutated.$file" "$file: recording: status $?: $(<said)"
    grep -v fails native.out >native.right
    (($(wc -l <native.right) > cases / 16)) || fail "$file: hardly any mutation runs"
    grep -Fxvf recorded.out native.right >differ && { cat differ >&2; wrong "mutated.$file" "$file: a mutation runs otherwise"; } || true
    contains native.out '^0: status (7|12|42) '
    contains data/files "^instrumented	$work/good	"
    contains data/files "^instrumented	$work/mutated.$file/0	"
    for build in "$BUILD" "$TESTS/../build/sanitized"; do
        [[ -x $build/rewriter/instrument ]] || continue
        for ((number = 0; number < $(ls "mutated.$file" | wc -l); number++)); do
            status=0
            timeout 60 "$build/rewriter/instrument" --agent="$AGENT" --overwrite "mutated.$file/$number" \
                -o made >line 2>&1 || status=$?
            ((status < 2)) && [[ $(wc -l <line) == 1 ]] ||
                wrong "mutated.$file/$number" "$file: instrument $number: status $status: $(<line)"
        done
    done
    rm -rf "mutated.$file" data out.native out.recorded
}

tried dynamic
tried fixed
tried library.so ./loads
cat >static.c <<'END'
static int odd(unsigned number);
__attribute__((noinline)) static int even(unsigned number) { return number ? odd(number - 1) : 41; }
__attribute__((noinline)) static int odd(unsigned number) { return number ? even(number - 1) : 42; }
int (*volatile chosen)(unsigned) = even;
void _start(void)
{
    long status = chosen(3);
    __asm__ volatile("syscall" : : "a"(231l), "D"(status));
    __builtin_unreachable();
}
END
gcc -O1 -nostdlib -static -fno-pie -no-pie static.c -o static
tried static
