#!/bin/bash
# What a message gives for the reason is the reason: whatever is missing, none says "Success", or
# "No such file or directory" of something that is there.
# needs: gcc python3 util-linux
. "$(dirname "$0")/lib.sh"

# Nothing in these runs is a file that does not exist.
honest()
{
    ! grep -E 'Success|No such file|Inappropriate ioctl|Illegal seek' said >&2 || fail "$*"
}

"$BUILD/grinder/sample_traces" .

echo '-- too few descriptors'
seen=0
for ((most = 3; most < 24; most++)); do
    prlimit --nofile=$most "$BUILD/service/call_trace_service" start -- "$(command -v true)" \
        >out 2>said && status=0 || status=$?
    ! grep -q 'loading shared libraries' said || continue
    honest "start with $most descriptors, status $status"
    if grep -q 'Too many open files' said; then seen=$((seen + 1)); fi
    for mode in summary report stack "profile --output-format=firefox"; do
        # shellcheck disable=SC2086
        prlimit --nofile=$most "$BUILD/grinder/grinder" --mode=$mode --output-file=out whole.bin \
            2>said || true
        honest "$mode with $most descriptors"
    done
done
((seen > 3)) || fail "$seen of the runs said that there were too few descriptors"

echo '-- a service that ends without an answer'
mkdir -p -m 0700 run/umbra
cat >deaf.py <<'END'
import os, socket
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(os.environ["XDG_RUNTIME_DIR"] + "/umbra/deaf.socket")
listener.listen()
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    connection.recv(4096)
    connection.close()
END
coproc python3 deaf.py
started+=("$COPROC_PID")
read -r _ <&"${COPROC[0]}"
for verb in status pause resume stop; do
    status=0
    call_trace_service $verb --instance-id=deaf >out 2>said || status=$?
    equal "status of $verb without an answer" "$status" 1
    contains said '^call_trace_service: instance deaf: expected an answer .* found: none, it has ended$'
done

echo '-- files that are cut off, or none'
for size in 0 1 100 4095; do
    head -c $size whole.bin >cut.bin
    for mode in summary profile stack report; do
        grinder --mode=$mode --output-file=out cut.bin 2>said && fail "$mode of $size bytes: status 0"
        honest "$mode of $size bytes"
        contains said "cut.bin: cut off in its header: expected at least 4096 bytes, found $size"
    done
done
mkfifo pipe
status=0
call_trace_service start --log-file=pipe -- true >out 2>said || status=$?
contains said 'pipe: cannot open the log file: expected a regular file$'

echo '-- no room'
status=0
call_trace_service --help >/dev/full 2>said || status=$?
contains said 'standard output: cannot write: No space left on device'
(trap '' XFSZ
    prlimit --fsize=100 "$BUILD/grinder/grinder" --mode=profile --output-file=out whole.bin) 2>said &&
    fail "a file of more bytes than may be"
contains said 'out: cannot be written: File too large'
