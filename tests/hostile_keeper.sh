#!/bin/bash
# What a service and a keeper say to each other: packets that are none, of every length and with every
# kind of descriptor, end neither of them, and name no file outside of the trace's folder.
# needs: python3 gcc
. "$(dirname "$0")/lib.sh"

unset UMBRA_RUNTIME_DIR
printf '#include <unistd.h>\nint main(void) { while (access("go", F_OK)) usleep(10000); return 0; }\n' >waits.c
gcc -g waits.c -o native/waits
instrument native/waits -o instrumented/waits >/dev/null
mkdir -m 700 run/umbra within
mkdir -p "within$work" # a temporary name of what is named /… begins with a dot
touch go
"$BUILD/service/call_trace_service" start --quiet --trace-dir="$work/first" -- instrumented/waits
trace=$(find first -name 'waits-*.bin')

cat >packets.py <<'END'
# packets.py keeper COUNT TRACE: speaks as a keeper to the service that comes; a line `ready` before
# packets.py service COUNT TRACE: as a service to the keeper that is there, once for each packet
import os, random, socket, struct, sys, time

role, count, trace = sys.argv[1], int(sys.argv[2]), open(sys.argv[3], "rb").read()
HEAD = struct.Struct("<6I")
size = int(sys.argv[4])
random.seed(7)
names = [b'x-1-1.bin', b'../escaped-1-1.bin', os.fsencode(os.getcwd() + '/escaped-1-1.bin')] * 3 + [b'..', b'', b'n' * 5000]

def memory(content):
    file = os.memfd_create("trace", os.MFD_ALLOW_SEALING)
    os.write(file, content)
    return file

def descriptor():
    kind = random.randrange(8)
    if kind < 2:
        return memory(trace)
    if kind == 2:
        content = bytearray(trace)
        for _ in range(random.randrange(1, 9)):
            content[random.randrange(min(len(content), 4096))] = random.randrange(256)
        return memory(bytes(content))
    if kind == 3:
        return memory(trace[:random.randrange(8192)])
    if kind == 4:
        return os.open("within", os.O_RDONLY | os.O_DIRECTORY)
    if kind == 5:
        return os.pipe()[0]
    return os.open("/dev/null" if kind == 6 else "/dev/zero", os.O_RDWR)

def packet(kind, name):
    body = HEAD.pack(0x5045454b, kind, random.randrange(4), 0x7ffffff0, 0, random.randrange(2))
    body += name[:size - HEAD.size - 4097].ljust(size - HEAD.size - 4096, b"\0")
    return body + random.choice([os.fsencode(os.getcwd() + "/within"), b"d" * 4096, b""]).ljust(4096, b"\0")

def send(to):
    files = [descriptor() for _ in range(random.randrange(6))]
    good = random.randrange(2)
    if good:
        files = [memory(trace), os.open("within", os.O_RDONLY | os.O_DIRECTORY)]
    kind = random.choice([0, 1, 2, 3, 5]) # 4 has the keeper end
    data = bytearray(packet(1 if good else kind, random.choice(names)))
    struct.pack_into("<I", data, 16, 3 if good else random.randrange(20))
    if not good and random.randrange(3) == 0:
        data = data[:random.randrange(1, len(data))]
    if not good and len(data) >= 24 and random.randrange(4) == 0:
        data[random.choice([0, 1, 2, 3, 12, 16])] ^= 1 << random.randrange(8)
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("%di" % len(files), *files))] if files else []
    try:
        to.sendmsg([bytes(data)], control)
        return True
    except OSError:
        return False
    finally:
        for file in files:
            os.close(file)

if role == "keeper":
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("run/umbra/%s.keeper" % sys.argv[5])
    listener.listen(1)
    print("ready", flush=True)
    connection, _ = listener.accept()
    connection.settimeout(5)
    for _ in range(random.randrange(1, count)):
        if not send(connection):
            break
else:
    for _ in range(count):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect("run/umbra/%s.keeper" % sys.argv[5])
        send(connection)
        connection.close()
END

size=$(printf '#include <stdio.h>\n#include "service/keeper/linux/keeper_packet.h"\nint main(void) { printf("%%zu", sizeof(struct keeper_packet)); }\n' >size.c &&
    gcc -D_GNU_SOURCE -I"$TESTS/.." size.c -o size && ./size)

# serves WHAT OPTION…: the service comes up, and records
serves()
{
    rm -rf served
    timeout -k 5 50 "$BUILD/service/call_trace_service" start --quiet --instance-id="$1" --trace-dir="$work/served" \
        -- instrumented/waits >out 2>said || { cat said >&2; fail "$1: status $?"; }
    [[ $(find served -name 'waits-*.bin') ]] || fail "$1: nothing was recorded"
}

for ((i = 0; i < 25; i++)); do
    sed -i "s/^random.seed.*/random.seed($i)/" packets.py
    : >ready
    python3 packets.py keeper 32 "$trace" "$size" "fake$i" >ready &
    keeper=$!
    started+=("$keeper")
    until grep -q ready ready; do sleep 0.01; done
    serves "fake$i"
    wait "$keeper" || fail "the keeper of test $i"
done

# A service that is killed leaves a keeper, which others of its user may connect to.
rm go
"$BUILD/service/call_trace_service" start --quiet --instance-id=killed --trace-dir="$work/kept" \
    -- instrumented/waits >out 2>said &
service=$!
started+=("$service")
until [[ $(find kept -name 'waits-*' 2>/dev/null) || -e run/umbra/killed.socket ]]; do sleep 0.01; done
until [[ $(pgrep -P "$service" waits) ]]; do sleep 0.01; done
sleep 0.5
kill -KILL "$service"
wait "$service" 2>/dev/null || true
until [[ -S run/umbra/killed.keeper ]]; do sleep 0.01; done
python3 packets.py service 400 "$trace" "$size" killed
touch go
until [[ ! -e run/umbra/killed.keeper ]]; do sleep 0.01; done
[[ $(find kept -name 'waits-*.bin') ]] || fail 'the keeper wrote no trace'
equal 'named outside' "$(find . -name '*escaped*' -o -name 'b-1-1*')" ''
