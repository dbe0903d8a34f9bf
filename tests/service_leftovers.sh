#!/bin/bash
# Who is killed while it writes a file, grinder or service, leaves nothing beside it, or the next one
# removes it.
# needs: strace
. "$(dirname "$0")/lib.sh"

strace -o log true 2>problems || { echo "skipped: no process may trace another here"; exit 0; }
"$BUILD/grinder/sample_traces" .
mkdir out

# killed_at SYSCALL: a grinder that is killed as it enters it the first time.
killed_at()
{
    local status
    status=$(bash -c '"$@" || echo $?' - strace -o log -e trace="$1" \
        -e inject="$1":signal=KILL:when=1 "$BUILD/grinder/grinder" --mode=profile \
        --output-file="$2" whole.bin 2>problems)
    equal "status of a grinder killed at $1" "$status" 137
}

killed_at write out/x
equal "what it left that was killed as it wrote" "$(ls -A out)" ""

grinder --mode=profile --output-file=out/x whole.bin
cp out/x whole
killed_at rename,renameat out/x
cmp out/x whole || fail "a killed grinder changed a file"
[[ $(ls -A out | wc -l) == 2 ]] || fail "expected a file with another name, found $(ls -A out)"
echo "not ours" >out/.x.umbra-whatever
ln out/.x.umbra-?????? link
grinder --mode=profile --output-file=out/y whole.bin
equal "what is left after the next one" "$(ls -A out | tr '\n' ' ')" ".x.umbra-whatever x y "
cmp link whole || fail "the left-over was no whole file"

# A link stays one, and the file that it names is as whole as any other.
touch target
ln -s ../target out/link
grinder --mode=profile --output-file=out/link whole.bin
[[ -L out/link ]] || fail "a symbolic link was replaced"
cmp target whole
killed_at write out/link
cmp target whole || fail "a file behind a link is not whole"

# Nobody else's link in a folder that is everybody's leads to a file of one's own, and a report
# replaces a link.
if ((EUID == 0)) && [[ $(</proc/sys/fs/protected_symlinks) == 1 ]]; then
    mkdir -m 1777 shared
    echo mine >own
    ln -s "$work/own" shared/x
    chown -h 54321 shared/x
    status=0
    grinder --mode=profile --output-file=shared/x whole.bin 2>problems || status=$?
    equal "status of an output at somebody's link" "$status" 1
    contains problems 'shared/x: cannot be written: Permission denied'
    equal "what the link leads to" "$(<own)" mine
fi
echo mine >own
ln -s own link.html
grinder --mode=report --output-file=link.html whole.bin
[[ ! -L link.html && $(<own) == mine ]] || fail "a report was written by way of a link"

# The service's small files, of which the first is where Windows programs find it.
status=$(bash -c '"$@" || echo $?' - strace -o log -e trace=rename,linkat \
    -e inject=rename,linkat:signal=KILL:when=1 "$BUILD/service/call_trace_service" start 2>problems)
equal "status of a killed service" "$status" 137
equal "what it left" "$(find run -type f ! -name '*.lock')" ""
