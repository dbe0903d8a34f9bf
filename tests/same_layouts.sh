#!/bin/bash
# What the agent and the other tools share lies at the same places in an agent of 32 bits. There, 64 bits are
# aligned to 4 bytes within a structure, and pointers are shorter.
# needs: gcc gcc-multilib gdb
. "$(dirname "$0")/lib.sh"

top=$(dirname "$TESTS")

# structures HEADER: those that it defines
structures()
{
    sed -n 's/^struct \([a-z_]*\) {.*/\1/p' "$1"
}

# layouts BITS HEADER: offset, size and name of each field; sizes of pointers are left out
layouts()
{
    local name
    { printf '#include "%s"\n' "$2"; structures "$2" | sed 's/.*/struct & the_&;/'; } >layout.c
    gcc "-m$1" -g -D_GNU_SOURCE "-I$top" -c layout.c -o layout.o
    for name in $(structures "$2"); do
        gdb -nx -batch -ex "ptype /o struct $name" layout.o
    done | sed -E '/ XXX /d; s,\| +[0-9]+ \*/( .*\*),*/\1,'
}

# compare HEADER
compare()
{
    layouts 64 "$1" >layout64
    layouts 32 "$1" >layout32
    diff layout64 layout32
}

echo '-- a difference is seen'
printf '#include <stdint.h>\nstruct differs {\n    uint32_t a;\n    uint64_t b;\n};\n' >differs.h
! compare "$work/differs.h" >said || fail 'a field that moved was not seen'
contains said '> /\* +4 +\| +8 \*/ +uint64_t b;'

echo '-- numbers of system calls'
cat >numbers.c <<'END'
#include <sys/syscall.h>
#include "trace/call_numbers.h"
#define SYS_newfstatat CALL_HAS_NONE
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#define CHECK(name, x86_64, i386) _Static_assert(i386 == CALL_HAS_NONE || i386 == SYS_##name, #name);
CALL_NUMBERS(CHECK)
END
gcc -m32 "-I$top" -c numbers.c -o numbers.o
! gcc -m64 "-I$top" -c numbers.c -o numbers.o 2>said || fail 'numbers of another world were not seen'

echo '-- formats, protocol, manifest'
seen=0
for header in "$top"/trace/{*_format,protocol,image_manifest,attached_agent}.h; do
    [[ $(structures "$header") ]] || continue
    compare "$header" || fail "$header: -m64 and -m32 differ"
    seen=$((seen + $(structures "$header" | wc -l)))
done
((seen > 40)) || fail "only $seen structures were looked at"
