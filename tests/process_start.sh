#!/bin/bash
# The start of a recorded process is short: what a recorded call costs is measured by one program and
# given to the others, at their start and at their end. An agent or a service of before that is as it was.
# needs: gcc python3 strace
. "$(dirname "$0")/lib.sh"

cat >short.c <<'END'
int twice(int n) { return 2 * n; }
int main(void) { return twice(0); }
END
gcc -O1 -fno-inline -o native/short short.c
instrumented short
gcc -I"$TESTS/.." -o costs -x c - <<'END'
#include <stdio.h>
#include "trace/trace_format.h"
int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) {
        struct trace_header header;
        FILE *file = fopen(paths[i], "rb");
        if (!file || fread(&header, sizeof header, 1, file) != 1)
            return 1;
        printf("%u %u %u %u\n", header.probe_inner, header.probe_timed, header.probe_untimed, header.probe_passed);
        fclose(file);
    }
}
END

# one_after_the_other OPTION…: 20 of them
one_after_the_other()
{
    rm -rf traces
    call_trace_service start --trace-dir=traces "$@" -- \
        bash -c 'for ((i = 0; i < 20; i++)); do instrumented/short; done'
    equal "traces with $*" "$(traces_left)" 20
    # shellcheck disable=SC2046
    ./costs $(ls -v traces/*.bin | sort -t- -k3n) >costs.found
}

for timing in exact adaptive; do
    one_after_the_other --timing=$timing
    # nine have measured; the others have the medians, and hold them at their ends
    equal "costs in the last 10 of 20 traces, $timing" "$(tail -n 10 costs.found | sort -u | wc -l)" 1
    awk '!($2 > 0 && $3 > 0 && $4 > 0) { exit 1 }' costs.found || fail "nothing was measured: $(<costs.found)"
done

# One that runs for longer measures at its end.
cat >long.c <<'END'
#include <time.h>
int twice(int n) { return 2 * n; }
int main(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, 0);
    return twice(0);
}
END
gcc -O1 -fno-inline -o native/long long.c
instrumented long
rm -rf traces
nine='for i in 1 2 3 4 5 6 7 8 9; do instrumented/short; done'
call_trace_service start --timing=adaptive --trace-dir=traces -- \
    sh -c "$nine; instrumented/short; instrumented/long"
equal "costs of a program that was given them, and of one that measured at its end" \
    "$(./costs traces/short-*-10.bin traces/long-*.bin | sort -u | wc -l)" 2

# System calls of the agent, and of a main that makes none, from the agent's first one on.
if strace -o calls true 2>said; then
    rm -rf traces
    call_trace_service start --trace-dir=traces -- \
        sh -c "$nine; strace -qq -o on.calls instrumented/short"
    calls=$(sed -n '/\/proc\/self\/auxv/,$p' on.calls | wc -l)
    by_copies && most=98 || most=95 # seven of them for samples
    ((calls <= most)) || fail "a short program makes $calls system calls when it is recorded, expected at most $most"
    echo "system calls: $calls"
    # its own file, what is loaded at the start and at the end, and its stack
    equal "walks through what is mapped" "$(grep -c '/proc/self/maps' on.calls)" 4
    # Each of eight libraries is known from the first one's walk.
    libraries=()
    for i in 1 2 3 4 5 6 7 8; do
        echo "int lib$i(int n) { return n + $i; }" | gcc -shared -fPIC -O1 -Wl,-soname,"lib$i.so" -x c - -o "native/lib$i.so"
        instrumented "lib$i.so"
        libraries+=("native/lib$i.so")
    done
    {
        for i in 1 2 3 4 5 6 7 8; do echo "int lib$i(int);"; done
        echo "int main(void) { return lib1(lib2(lib3(lib4(lib5(lib6(lib7(lib8(-36)))))))); }"
    } | gcc -O1 -x c - -x none "${libraries[@]}" -o native/many
    rm -rf traces
    call_trace_service start --trace-dir=traces -- \
        sh -c "$nine; LD_LIBRARY_PATH=$work/instrumented strace -qq -o many.calls native/many"
    equal "walks with eight libraries" "$(grep -c '/proc/self/maps' many.calls)" 4
    grinder --mode=summary traces/many-*.bin >summary
    for i in 1 2 3 4 5 6 7 8; do contains summary " $work/instrumented/lib$i.so\$"; done
else
    echo "skipped: no process may trace another here"
fi

# An agent that does not say who it is, as those of before, or whom nobody knows, is given nothing.
cat >hello.py <<'END'
import array, os, socket, struct, sys

HEADER = 4096
def costs(more):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect("%s/umbra/%s.socket" % (os.environ["XDG_RUNTIME_DIR"], os.environ["UMBRA_INSTANCE_ID"]))
    connection.send(struct.pack("<8I", 0x41524255, 2, 1, os.getpid(), 0, *more, 0))
    welcome, files, _, _ = socket.recv_fds(connection, 64, 3)
    equal_size = len(welcome) == 32
    header = os.pread(files[0], HEADER, 0)
    at = int(sys.argv[1])
    return equal_size, struct.unpack_from("<4I", header, at)

note = open(sys.argv[2], "rb").read()
agent = struct.unpack("<2I", note[16:24])
known = costs(agent)
print("known", known[0], *known[1])
print("before", *costs((0, 0)))
print("other", *costs((agent[0] ^ 1, agent[1])))
END
objcopy -O binary --only-section=.note.gnu.build-id "$AGENT" note
at=$(gcc -I"$TESTS/.." -o offset -x c - <<<'#include <stddef.h>
#include <stdio.h>
#include "trace/trace_format.h"
int main(void) { printf("%zu\n", offsetof(struct trace_header, probe_inner)); }' && ./offset)
rm -rf traces
call_trace_service start --trace-dir=traces -- sh -c "$nine; instrumented/short; python3 hello.py $at note" >told
equal "costs given to the agent that measured" "$(sed -n 's/^known True //p' told)" "$(./costs traces/short-*-10.bin)"
contains told '^before True \(0, 0, 0, 0\)$'
contains told '^other True \(0, 0, 0, 0\)$'
