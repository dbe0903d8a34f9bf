#!/bin/bash
# mlockall: a program that locks its memory gets the answer that it would get without the agent, and
# has locked what it would have: under a limit and with privileges, recorded and not, with threads
# and children that begin after it, in dynamic and static programs and in libraries.
# needs: musl-tools binutils
# seconds: 20
. "$(dirname "$0")/lib.sh"

# KiB. What is locked varies by a few pages: how far the stack has grown, the heap. What is resident
# of the agent is its own code and data, and of libraries the tables that it looks up functions in as it begins;
# of what it records, contexts, records, and state of threads.
LOCKED=32
RESIDENT=768
RECORDED=640
WORK=8192
THREAD=1024

# compare_steps WHAT MORE: native.stdout and instrumented.stdout have the same results and errors, and
# as much locked; what is instrumented has at most MORE KiB more in memory.
compare_steps()
{
    paste -d ' ' native.stdout instrumented.stdout | awk -v locked="$LOCKED" -v more="$2" '
        function differ(what) { print "at step " $1 ": " what; failed = 1 }
        $1 != $7 { differ("the other is at " $7) }
        $2 != $8 || $3 != $9 { differ("result " $8 ", errno " $9 ", natively " $2 ", " $3) }
        $10 - $4 > locked || $4 - $10 > locked { differ($10 " KiB locked, natively " $4) }
        $11 - $5 > more { differ($11 " KiB resident, natively " $5) }
        END { exit failed }' >differences || { cat differences >&2; fail "$1"; }
    [[ -s native.stdout ]] || fail "$1: nothing was printed"
    equal "status of $1" "$(<instrumented.status)" "$(<native.status)"
}

# most_recorded STEP…: KiB that recording them may take
most_recorded()
{
    local step most=$RECORDED
    for step; do
        case $step in
            work) most=$((most + WORK)) ;;
            threads=*) most=$((most + ${step#*=} * THREAD)) ;;
        esac
    done
    echo "$most"
}

# KiB of copied bodies in what is instrumented, and of their unwind information and sites. The system maps
# all of them as soon as one is run, as it does with the originals.
copied()
{
    local size sum=0
    if [[ ${UMBRA_TEST_HOW:-auto} != prologue ]]; then
        for size in $(readelf --wide --sections instrumented/* |
            sed -nE 's/.* \.umbra\.(stubs|frames|manifest) +PROGBITS +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) .*/\2/p'); do
            sum=$((sum + 16#$size))
        done
    fi
    echo $((sum / 1024))
}

# alike PROGRAM STEP…: without a service, and recorded in each mode
alike()
{
    local program=$1 mode RESIDENT=$((RESIDENT + $(copied)))
    shift
    run native "./$program" "$@"
    equal "status of $program $*" "$(<native.status)" 0
    run instrumented "./$program" "$@"
    compare_steps "$program $* without a service" "$RESIDENT"
    for mode in --timing=exact --timing=adaptive --mode=calltrace; do
        rm -rf traces
        run instrumented "$BUILD/service/call_trace_service" start --quiet $mode \
            --trace-dir="$work/traces" -- "./$program" "$@"
        compare_steps "$program $* under a service, $mode" \
            $((RESIDENT + $(most_recorded "$@")))
        grinder --mode=summary traces/*.bin >summary 2>problems ||
            { cat problems >&2; fail "$program $*, $mode: the traces are not whole"; }
    done
}

# Under the usual limit, and under none that leaves room for it. EAGAIN is for memory that is mapped
# when what it allows is locked.
unprivileged()
{
    local program=$1
    alike "$program" unprivileged limit=8192 lock=1 work unlock work
    alike "$program" unprivileged limit=8192 lock=3 work threads=20 map=500 map=8192
    alike "$program" unprivileged limit=8192 lock=7 work unlock lock=5
    alike "$program" unprivileged limit=8192 lock=2 work lock=1 map=500 lock=3 map=500
    alike "$program" unprivileged limit=8192 lock=3 fork work lock=3 work map=500
    alike "$program" unprivileged limit=100 lock=1 lock=2 map=200 lock=3 work
    alike "$program" unprivileged limit=0 lock=1 lock=2
    alike "$program" lock=0 lock=4 lock=8 lock=9
}

privileged()
{
    local program=$1
    alike "$program" lock=1 work unlock
    alike "$program" work threads=20 lock=3 map=500 unlock
    alike "$program" lock=3 work threads=20 lock=1 map=500 lock=5
    alike "$program" lock=3 threads=10 fork lock=7 work threads=10 lock=3
    LOCKED=2048 RECORDED=262144 alike "$program" race=100 work
}

# The same in short
some()
{
    local program=$1
    instrumented "$program"
    alike "$program" unprivileged limit=8192 lock=3 work threads=20 map=500 map=8192 unlock
    alike "$program" unprivileged limit=100 lock=1 lock=2 lock=8
    [[ $is_privileged == no ]] || alike "$program" lock=3 work fork lock=1
}

build locked locked.c -ldl
run native ./locked limit=64 lock=1
is_privileged=yes
if grep -q '^lock=1 -1 ' native.stdout; then
    is_privileged=no
    echo "skipped: what needs CAP_IPC_LOCK"
fi
instrumented locked
unprivileged locked
[[ $is_privileged == no ]] || privileged locked

# The limit is kept to the page: what the native program just can, and just cannot.
run native ./locked unprivileged
size=$(awk '{ print $6 }' native.stdout)
alike locked unprivileged limit=$((size + 4 * LOCKED)) lock=1
equal "mlockall with a limit of its size" "$(awk '/^lock/ { print $2 }' instrumented.stdout)" 0
alike locked unprivileged limit=$((size - 4 * LOCKED)) lock=1
equal "mlockall with a lower one" "$(awk '/^lock/ { print $2, $3 }' instrumented.stdout)" "-1 12"

# What makes the system call itself is not seen. At least nothing comes to be resident.
if [[ $is_privileged == yes ]]; then
    run native ./locked direct=3 work threads=20
    for how in "" "$BUILD/service/call_trace_service start --quiet --trace-dir=$work/traces --"; do
        # shellcheck disable=SC2086
        run instrumented $how ./locked direct=3 work threads=20
        LOCKED=$((1 << 30)) compare_steps "${how:+recorded, }direct=3 work threads=20" \
            $((RESIDENT + $(most_recorded work threads=20)))
    done
fi

# Nobody binds names there, and some have none.
for how in -static "-static -s" -static-pie; do
    build locked locked.c -DWITHOUT_LIBRARIES $how
    some locked
    instrument --verify instrumented/locked >/dev/null
    instrument --undo instrumented/locked -o undone --overwrite
    cmp undone native/locked
done
CC=musl-gcc build locked locked.c -DWITHOUT_LIBRARIES -static
some locked
equal "how mlockall is treated" "$(state_of mlockall locked)" "skipped memory-lock"

# Only a library is instrumented that the program needs: who calls mlockall, it or the program, is
# the same. Of one that is loaded later, the program finds the C library's, by which 256 MiB more are
# locked; they do not come to be resident. What the agent maps when it is loaded is not locked.
build liblocking.so locking.c -shared -fPIC
instrumented liblocking.so
build locked locked.c -Wl,--no-as-needed -Lnative -llocking -Wl,-rpath,\$ORIGIN
cp native/locked instrumented/locked
alike locked unprivileged limit=8192 lock=1 map=500 library=3 map=500 map=8192 unlock
[[ $is_privileged == no ]] || alike locked library=3 map=500 lock=1 unlock
instrument --verify instrumented/liblocking.so >/dev/null
instrument --undo instrumented/liblocking.so -o undone --overwrite
cmp undone native/liblocking.so
build locked locked.c
cp native/locked instrumented/locked
if [[ $is_privileged == yes ]]; then
    alike locked lock=2 load map=500
    LOCKED=$((1 << 30)) alike locked load library=3 map=500
fi

# So does the C library itself.
libc=$(ldd native/locked | awk '$1 == "libc.so.6" { print $3 }')
cp "$libc" native/libc.so.6
instrumented libc.so.6
LD_LIBRARY_PATH=. alike locked unprivileged limit=8192 lock=3 map=500 map=8192 unlock

# Who has a mlockall that is not the C library's keeps it, whether it comes before the agent or after.
build libother.so other_mlockall.c -shared -fPIC
build locked locked.c -Wl,--no-as-needed -Lnative -lother -Wl,-rpath,\$ORIGIN
cp native/libother.so instrumented
instrumented locked
alike locked lock=1 lock=3
equal "what the program's own mlockall answers" \
    "$(awk '{ print $2, $3 }' instrumented.stdout | sort -u)" "-1 95"
build locked locked.c
instrumented locked
run instrumented env LD_PRELOAD=./libother.so ./locked lock=1
equal "what a preloaded one answers" "$(awk '{ print $2, $3 }' instrumented.stdout)" "-1 95"
