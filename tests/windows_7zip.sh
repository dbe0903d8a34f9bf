#!/bin/bash
# A Windows program by Microsoft's compiler: 7za.exe does on archives, whole and corrupt, what it
# did, without a service and recorded, and every thread's counts balance; at least 99% of its
# function entries are hooked.
# needs: wine wine64 gcc-mingw-w64-x86-64 npm
# seconds: 40
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

for attempt in 1 2 3; do # registries are out of reach now and then
    npm pack --loglevel=error 7zip-bin@5.2.0 >package.name 2>npm.log && break
    ((attempt < 3)) || { cat npm.log >&2; fail "npm cannot get 7zip-bin"; }
done
tar -xf "$(<package.name)"
cp package/win/x64/7za.exe native
windows_tools
AGENT=$WINDOWS/hooks/hooks.dll
wine_begins

instrument native/7za.exe -o instrumented/7za.exe >line 2>notes
instrument --verify instrumented/7za.exe >said
instrument --undo instrumented/7za.exe -o undone
cmp undone native/7za.exe

# Fragments and import thunks are no entries of functions; what is left alone besides is named.
instrument --list instrumented/7za.exe >list
awk -F '\t' '$3 == "hooked" { hooked++ }
    $3 == "skipped" && $4 != "fragment" && $4 != "plt" { left++; why[$4]++ }
    END {
        printf "%d of %d function entries hooked, %.2f%%; left alone:", hooked, hooked + left,
            100 * hooked / (hooked + left)
        for (reason in why)
            printf " %s %d", reason, why[reason]
        print ""
        exit !(hooked >= 4800 && hooked / (hooked + left) >= 0.99)
    }' list || fail "less than 99% of the functions are hooked"

# Every target of a call in the disassembly is listed, and all but 1% of them are hooked.
x86_64-w64-mingw32-objdump -d --no-show-raw-insn native/7za.exe |
    awk '$2 == "call" && $3 ~ /^0x/ { print $3 }' | sort -u >called
awk -F '\t' 'NR == FNR { state[$1] = $3 " " $4; next }
    { total++ }
    !($1 in state) { print "not listed: " $1; bad = 1 }
    state[$1] ~ /^hooked/ || state[$1] == "skipped plt" { fine++ }
    END { exit bad || total < 1500 || fine / total < 0.99 }' list called ||
    fail "calls lead to functions that are not hooked"

mkdir -p native/files
cp "$TESTS"/programs/*.c native/files
find native/files -exec touch -d '2024-01-02 03:04:05' {} +
cp -rp native/files instrumented
LIMIT=300

# both WHAT ARGUMENT…: natively, instrumented, and recorded from the same files on
both()
{
    run native 7za.exe "$@"
    rm -rf before
    cp -rp instrumented before
    run instrumented 7za.exe "$@"
    compare_runs "7za $*"
    rm -rf instrumented
    mv before instrumented
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- \
        ./7za.exe "$@"
    compare_runs "7za $* under a service"
    balanced
    echo "7za $*: status $(<native.status), $(summed entries) calls on $(grep -c ' holds' summary) threads"
}

both a -mmt1 archive.7z files
cmp native/archive.7z instrumented/archive.7z
both a -mmt1 -mtc- archive.zip files
both a -mmt2 -m0=bzip2 threads.7z files
both l archive.7z
both t archive.7z
both t archive.zip
both x -oout archive.7z
diff -r native/out/files native/files
diff -r instrumented/out native/out
for folder in native instrumented; do
    head -c 3000 "$folder/archive.7z" >"$folder/short.7z"
    cp "$folder/archive.7z" "$folder/broken.7z"
    printf 'xxxx' | dd of="$folder/broken.7z" bs=1 seek=4000 conv=notrunc status=none
done
both t short.7z
equal "status for a short archive" "$(<native.status)" 2
both t broken.7z
equal "status for a broken archive" "$(<native.status)" 2

# The benchmark's output is times, but for what they stand in.
normalise()
{
    [[ $1 == *.status ]] || sed -i -E 's/[0-9]+/N/g; s/ +/ /g; s/\r$//' "$1"
}

both b 1 -mmt2 -md18 -mtime=1
contains native.stdout '^Tot:'
