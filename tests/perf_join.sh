#!/bin/bash
# samples/perf_join.py gives each sample of a stripped program its function: those that perf took,
# and a list that is made up of every instruction of the program.
# needs: gcc binutils gawk linux-perf
. "$(dirname "$0")/lib.sh"

cp "$TESTS/../samples/perf_join.py" join.py

cat >sum.c <<'END'
#include <stdlib.h>
static __attribute__((noinline)) int spin(int n)
{
    volatile int x = 0;
    for (int i = 0; i < n; i++)
        x += i;
    return x;
}
static __attribute__((noinline)) int twirl(int n)
{
    volatile int x = 0;
    for (int i = 0; i < n; i++)
        x ^= i;
    return x;
}
int main(int count, char **arguments)
{
    int n = atoi(arguments[count - 1]), sum = 0;
    for (int i = 0; i < 20; i++)
        sum += spin(n) + twirl(n / 2);
    return sum == 1;
}
END

# wanted NAME: which function, by its address, each instruction of spin, twirl and main belongs to
wanted()
{
    objdump -d --no-show-raw-insn "named/$1" | gawk -v name="$1" '
        /^[0-9a-f]+ <.*>:$/ { entry = $1; sub(/^0+/, "", entry); inside = /<(spin|twirl|main)>/ }
        inside && /^ +[0-9a-f]+:/ { sub(":", "", $1); print $1, name "!0x" entry }'
}

# A mapping and samples, as perf script prints them: each instruction, loaded at $3.
made_up()
{
    local base=$((16#$2)) offset address size
    read -r offset address size < <(readelf -lW "native/$1" |
        gawk '$1 == "LOAD" && /R E/ { print strtonum($2), strtonum($3), strtonum($5) }')
    printf 'PERF_RECORD_MMAP2 7/7: [0x%x(0x%x) @ 0x%x <%s>]: r-xp /somewhere/%s\n' \
        $((base + address - offset % 4096)) $((size + offset % 4096)) $((offset - offset % 4096)) \
        "$(readelf -n "native/$1" | sed -n 's/.*Build ID: //p')" "$1"
    wanted "$1" | while read -r address _; do
        printf '     %x\n' $((base + 16#$address))
    done
    echo ' ffffffff821ef666'
}

# joined NAME BASE OPTION…: BASE is where a position-independent one is loaded, in hexadecimal
joined()
{
    local name=$1 base=$2
    shift 2
    build "$name" "$work/sum.c" -O1 -g0 -Wl,--build-id -Wl,-z,separate-code "$@"
    cp "native/$name" "named/$name"
    strip "native/$name"
    umbra record --output="$name.data" -- "native/$name" 100 >said 2>&1 || fail "$(<said)"
    umbra report "$name.data" --output-format=json -o profile.json >said
    made_up "$name" "$base" >samples
    /usr/bin/python3 join.py profile.json <samples >is
    { wanted "$name" | cut -d' ' -f2; echo '(not recorded)'; } >should_be
    (($(wc -l <is) > 20)) || fail "$name: there are few samples"
    cmp is should_be || { diff is should_be | head -n 5 >&2; fail "$name: not the same functions"; }

    if ! perf record -e cpu-clock --buildid-mmap -o perf.data -- "native/$name" 2000000 >perf.said 2>&1; then
        echo "skipped: perf cannot record here: $(tail -n 1 perf.said)"
        return
    fi
    perf script -i perf.data -F ip --show-mmap-events 2>/dev/null |
        /usr/bin/python3 join.py profile.json | sort | uniq -c >counted
    for function in $(wanted "$name" | awk 'seen[$2]++ == 0 { print $2 }' | head -n 2); do
        contains counted "^ *[0-9]+ $function\$"
    done
    # not in the program: the kernel, the dynamic linker
    awk '/not recorded/ { other = $1 } { all += $1 } END { exit !(other * 2 < all) }' counted ||
        { cat counted >&2; fail "$name: most samples have no function"; }
}

mkdir named
joined fixed 0 -no-pie
joined moving 55b5ad549000 -pie -fPIE
