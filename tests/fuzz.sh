# Hostile files: mutations of small images, manifests, PDBs, reports of lines, traces, whole stacks, baselines,
# lists of unhooked functions and messages, each read without a crash, a hang or more than 64 MB and 8 times the
# file's size; images made to take time without end are refused with a line. CASES (2000; with sanitizers, where
# each takes up to thirty times as long, the first 500 of them) and SEED (1) choose the mutations; what fails is
# kept in FAILED.
# needs: gcc binutils
# seconds: 50
. "$(dirname "$0")/lib.sh"

cases=${CASES:-2000}
sanitized_part=4 # one case in so many
[[ ! ${CASES:-} ]] || sanitized_part=1
seed=${SEED:-1}
failed=${FAILED:-${TMPDIR:-/tmp}/umbra-fuzz-failed}
images=("$TESTS"/fuzz/seeds/*.so "$TESTS"/fuzz/seeds/{program,static}.{pie,fixed})
windows=("$TESTS"/fuzz/seeds/*.{dll,exe})
export AGENT # image_fuzz puts it into static programs
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

# campaign HARNESS FILE…: with the build at hand and with the one for sanitizers, if there is one
campaign()
{
    local harness=$1 build count=$cases
    shift
    for build in "$BUILD" "$TESTS/../build/sanitized"; do
        build=$build/tests/fuzz
        [[ -x $build/$harness ]] || continue
        [[ $build != */sanitized/* ]] || count=$((cases / sanitized_part))
        build=$(cd "$build" && pwd)
        mkdir -p "$failed"
        (cd "$failed" && "$build/$harness" -n "$count" -s "$seed" "$@") ||
            fail "$harness: see $failed"
        rmdir "$failed" 2>/dev/null || true
    done
}

# refused NAME PATTERN: native/NAME, within seconds, with one line
refused()
{
    local status=0
    timeout 20 "$BUILD/rewriter/instrument" --agent="$AGENT" "native/$1" -o refused 2>line ||
        status=$?
    equal "status for $1" "$status" 1
    equal "lines for $1" "$(wc -l <line)" 1
    contains line "$2"
    [[ ! -e refused ]] || fail "$1: an output was left"
}

# assembled NAME: native/NAME.so from assembly on standard input
assembled()
{
    gcc -nostdlib -shared -Wl,-Bsymbolic -x assembler - -o "native/$1"
}

mkdir manifests traces windows
"$BUILD/tests/fuzz/trace_seeds" traces
"$BUILD/tests/fuzz/pe_seeds" windows
for image in "${images[@]}"; do
    instrument --no-verify "$image" -o "manifests/$(basename "$image")" >/dev/null
    instrument --no-verify --how=copy "$image" -o "manifests/copied.$(basename "$image")" >/dev/null
done

for image in mingw msvc; do
    "$BUILD/grinder/windows_sample" "$TESTS/fuzz/seeds/$image.dll" "manifests/$image.dll" trace.bin \
        'Z:\image.dll' 0x1000 0x1010
done
# Each is rewritten twice, with copies of bodies and without.
cases=$((cases / 2)) campaign image_fuzz "${images[@]}" "${windows[@]}" "$work"/windows/* "$work"/manifests/*
campaign manifest_fuzz "$work"/manifests/*
campaign pdb_fuzz "$TESTS/fuzz/seeds/msvc.pdb"
campaign trace_fuzz "$work"/traces/*.trace
mkdir messages
"$BUILD/tests/fuzz/protocol_seeds" messages
cases=$((10 * cases)) campaign protocol_fuzz "$work"/messages/*

mkdir stacks
"$BUILD/tests/fuzz/stacks_seeds" stacks >/dev/null
cases=$((cases / 2)) campaign stacks_fuzz "$work"/stacks/* "$TESTS"/fuzz/seeds/{bare.so,program.pie}

# A jitdump as a program writes it, and a map as node does.
build jit jit.c
(cd native && ./jit dump >/dev/null)
printf '%s\n' '7f529803e700 378 JS:~rounds /home/me/script.js:7:16' '18cfc40 36c Builtin:Call' \
    '7f529803e780 40 JS:*rounds /home/me/script.js:7:16' '0x1000 0x20 plain' >native/perf.map
campaign jit_fuzz "$work"/native/jit-*.dump "$work/native/perf.map"

# A report of lines, and of two calls inlined one within the other (grinder/symbols/lines.h).
printf '%b' 'F\x03\0\0\0a.c' 'F\x03\0\0\0a.h' \
    'L\x01\0\0\0\x01\0\0\0\x05\0\0\0' 'P\x01\0\0\0\x02\0\0\0\x07\0\0\0' D \
    'N\x05\0\0\0scale' 'I\0\0\0\0\x01\0\0\0\x01\0\0\0\x05\0\0\0' \
    'N\x05\0\0\0clamp' 'I\x01\0\0\0\x02\0\0\0\x02\0\0\0\x0c\0\0\0' \
    'S\x01\0\0\0\x02\0\0\0' 'S\x02\0\0\0\x01\0\0\0' >lines.report
cases=$((5 * cases)) campaign lines_fuzz "$work/lines.report"

# Baselines of both versions, and three times that a hook was taken out, of functions in tests/fuzz/unhooked_fuzz.c.
headings='module\tcode\tcalls\tinstructions\tname\n'
printf '%b' "umbra-baseline\t1\n$headings" 'demo\t0000000000000aaa\t1\t-\tmain\n' 'demo\t0000000000000bbb\t2\t-\n' \
    'libz\t-\t134\t-\tcrc32\n' >baseline.1
printf '%b' "umbra-baseline\t2\n$headings" 'demo\t0000000000000aaa\t1\t10\tmain\n' \
    'demo\t0000000000000bbb\t2\t600\n' 'demo\t0000000000000bbb\t3\t400\n' 'demo\t0000000000000ccc\t0\t0\n' \
    'libz\t-\t134\t536\tcrc32\n' 'libz (2)\t-\t1\t-\tadler32\n' \
    'build\tmodule\n' '5f0c1e93b2a87d64\tdemo\n' 'e93f20c18b7a6d54\tlibz\n' \
    'depth\tcalls\tinstructions\tfunction\n' '1\t1\t10\tmain\n' '2\t2\t600\t0000000000000bbb\n' \
    '3\t3\t400\t0000000000000bbb#2\n' '2\t134\t536\tcrc32\n' '1\t1\t1\t-\n' >baseline.2
campaign baseline_fuzz "$work"/baseline.[12]
ticks='\x64\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0'
printf '%b' 'UMBRAOUT\x01\0\0\0\x03\0\0\0\x02\0\0\0\0\0\0\0\x07\0\0\0\0\x02\0\0' "\x01\0\0\0\0\0\0\0$ticks" \
    "\x06\0\0\0\x01\0\0\0$ticks" "\x01\0\0\0\0\0\0\0$ticks" >functions.unhooked
campaign unhooked_fuzz "$work/functions.unhooked"

# Each of 30,000 functions claims all code behind its start.
{
    echo .text
    seq 30000 | awk '{
        print ".globl f" $1 "; .type f" $1 ", @function; .size f" $1 ", end - f" $1
        print "f" $1 ": mov $1, %eax"
    }'
    echo 'ret; end:'
} | assembled overlapping.so
refused overlapping.so 'functions side by side'

# Found one a round: each of 200,000 functions is called by the one behind it only.
{
    echo '.text; .globl last; .type last, @function'
    seq 200000 | awk '{ print "f" $1 ": call f" ($1 > 1 ? $1 - 1 : 1) "; ret" }'
    echo 'last: call f200000; ret; .size last, . - last'
} | assembled chain.so
refused chain.so 'functions side by side'
