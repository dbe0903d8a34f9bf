#!/bin/bash
# While files are instrumented, a line on the terminal says which one and how many there were. It leaves
# what the program writes as it is, and is nowhere but on a terminal.
# needs: gcc python3 python3-pyte
# seconds: 15
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache TERM=xterm
unset LD_LIBRARY_PATH

# A library for which instrument takes longer than the line waits: one object, thirty times.
python3 - >big.c <<'END'
for i in range(1000):
    print(f"__attribute__((used)) static int f{i}(int a, int b) {{ if (a > {i}) return b * {i}; for (int k = 0; k < a; k++) b ^= k * {i % 97}; return b; }}")
END
gcc -O0 -c -fPIC big.c
# shellcheck disable=SC2046
gcc -shared $(printf ' big.o%.0s' {1..30}) -o libbig.so
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    (void)count;
    printf("begin\nwithout an end: ");
    fflush(stdout);
    if (!dlopen(arguments[1], RTLD_NOW))
        return 1;
    puts("loaded");
    return 0;
}
END
gcc -g loads.c -o loads -ldl
gcc -g loads.c -o linked -ldl -Wl,--no-as-needed -L. -lbig -Wl,-rpath,"$work"

# Runs a command on a terminal; prints what it was sent, and what its screen shows in the end.
cat >on_terminal.py <<'END'
import fcntl, os, pty, pyte, struct, sys, termios

rows, columns = 12, 60
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execv(sys.argv[3], sys.argv[3:])
sent = b""
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    sent += chunk
screen = pyte.Screen(columns, rows)
pyte.ByteStream(screen).feed(b"\r\n" * int(sys.argv[2]) + sent)
with open(sys.argv[1], "wb") as file:
    file.write(sent)
print("\n".join(line.rstrip() for line in screen.display).strip())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END

# shows LINES OPTION…: of umbra record, from that line of the screen on; $program runs
program=./loads
shows()
{
    local lines=$1
    shift
    rm -rf cache r.data
    /usr/bin/python3 on_terminal.py sent "$lines" "$BUILD/front/umbra" record -o r.data "$@" -- $program ./libbig.so >screen ||
        fail "status $?: $(<screen)"
}

for lines in 0 11; do # from the top of the screen, and at its last line
    shows $lines
    contains sent 'umbra: instrumenting libbig\.so, file [2-9]'
    equal "screen from line $lines" "$(head -n 2 screen)" $'begin\nwithout an end: loaded'
    ! grep -q instrumenting screen || fail "the line stays: $(<screen)"
done
program=./linked
shows 0 --in-place=no
program=./loads
contains sent 'umbra: instrumenting .*, file [1-9]'
contains screen '^without an end: loaded$'
! grep -q instrumenting screen || fail "the line stays: $(<screen)"

shows 0 --quiet
! grep -q instrumenting sent || fail "--quiet: $(<sent)"
TERM=dumb shows 0
! grep -q instrumenting sent || fail "TERM=dumb: $(<sent)"
rm -rf cache r.data
umbra record -o r.data -- ./loads ./libbig.so >out 2>said
! grep -q instrumenting out said || fail "not a terminal: $(cat out said)"
equal "output" "$(<out)" $'begin\nwithout an end: loaded'

# What is there already is not instrumented, and nothing is said of it.
/usr/bin/python3 on_terminal.py sent 0 "$BUILD/front/umbra" record -o r.data -- ./loads ./libbig.so >screen
! grep -q instrumenting sent || fail "from the cache: $(<sent)"
