#!/bin/bash
# A static program is recorded: the agent within it gets the instrumented file, out of which it maps its
# thunks, and the program itself reads the original.
# needs: gcc busybox-static
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
cat >reads.c <<'END_OF_SOURCE'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int called(int n) { return n + 1; }
int main(int count, char **arguments)
{
    char bytes[4096];
    ssize_t length;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    while ((length = read(file, bytes, sizeof(bytes))) > 0)
        if (write(1, bytes, (size_t)length) != length)
            return 1;
    (void)arguments;
    return called(count) == 2 ? 7 : 1;
}
END_OF_SOURCE
for how in '' --how=copy; do
    for kind in '-static' '-static-pie'; do
        # shellcheck disable=SC2086
        gcc -O1 $kind reads.c -o reads
        umbra record $how -o reads.data -- ./reads >out 2>said && status=0 || status=$?
        equal "$kind $how: its status: $(<said)" "$status" 7
        cmp out reads || fail "$kind $how: it does not read the original"
        umbra report reads.data --output-format=tsv --output-file=- >tsv
        contains tsv '	called	'
    done
done
echo hello >file
umbra record -o busybox.data -- busybox cat file >out 2>said || fail "busybox: $(<said)"
equal 'busybox' "$(<out)" hello
