#!/bin/bash
# Who is killed while it writes a file, grinder or service, leaves nothing beside it, or the next one
# removes it.
# needs: strace util-linux python3
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

# Where services are found, the next one, of any instance, removes that of a killed one; not what somebody
# else holds or listens at.
rm -rf run/umbra
links=/tmp/umbra-$EUID/commands

# until CONDITION
until_true()
{
    local try
    for ((try = 0; try < 500; try++)); do
        if eval "$1"; then return; fi
        sleep 0.02
    done
    fail "waited in vain for: $1"
}

# killed_service INSTANCE [COMMAND…]: its pid in $service
killed_service()
{
    local instance=$1
    shift
    "$BUILD/service/call_trace_service" start --quiet --trace-dir="$work/traces" \
        --instance-id="$instance" ${1:+-- "$@"} 2>>said &
    service=$!
    started+=("$service")
    until_true "${1:+[[ -s program ]] && }[[ -S run/umbra/$instance.socket && -s run/umbra/$instance.rendezvous ]]"
    kill -KILL "$service"
    wait "$service" 2>/dev/null || true
}

killed_service second sh -c 'echo $$ >program; exec sleep 60'
started+=("$(<program)")
with_link=$service
[[ -L $links/$with_link ]] || fail "there is no link"
killed_service first
contains <(echo run/umbra/*) 'first.lock .*first.rendezvous .*first.socket'
python3 -c '
import socket, time
def bound(name):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.bind("run/umbra/" + name)
    return made
bound("dead.socket").close()
bound("dead.keeper").close()
listening = bound("awaited.socket")
listening.listen(1)
print("ready", flush=True)
time.sleep(600)' >ready &
listener=$!
started+=("$listener")
until_true '[[ -s ready ]]'
touch run/umbra/awaited.lock run/umbra/dead.lock # as of a killed service whose socket systemd has
linked()
{
    until_true 'mkdir -pm 700 "$links" 2>/dev/null && ln -s '"$1 $2"' 2>/dev/null' # others may remove the folder
}
linked "$work/run/umbra/awaited.socket" "$links/$listener"
sleep 600 & # it has the number of a service that was killed
reused=$!
started+=("$reused")
linked "$work/run/umbra/first.socket" "$links/$reused"
(exec 7>run/umbra/held.lock && flock 7 && echo ready >held && exec sleep 600) &
holder=$!
started+=("$holder")
until_true '[[ -s held ]]'
"$BUILD/service/call_trace_service" start --quiet --trace-dir="$work/traces" -- \
    sh -c 'ls run/umbra >there; ls "$1" >linked' - "$links" 2>problems
equal "what is said" "$(<problems)" ""
equal "what is left" "$(ls run/umbra | tr '\n' ' ')" "awaited.socket held.lock "
! grep -qxE "$with_link|$reused" linked || fail "the link of a killed service is left"
contains linked "^$listener\$"
rm "$links/$listener"
kill "$(<program)" "$reused" "$listener"

# The folder with the links goes with the last one: also as another service makes its own there.
if ((EUID == 0)); then
    user=$((20000 + $$ % 20000))
    chmod 711 .
    mkdir -m 700 alone
    chown $user alone
    (cd alone && exec setpriv --reuid=$user --regid=$user --clear-groups \
        env -u XDG_RUNTIME_DIR strace -o log -e trace=symlink,mkdir -e inject=symlink:delay_enter=1500000:when=1 \
        "$BUILD/service/call_trace_service" start --quiet -- true) 2>problems &
    slow=$!
    until_true "rmdir /tmp/umbra-$user/commands 2>/dev/null"
    wait "$slow" || fail "a service whose folder was removed: status $?"
    rm -rf "/tmp/umbra-$user"
    equal "a folder that went meanwhile" "$(<problems)" ""
fi
