#!/bin/bash
# What other scripts ask of x86-64 holds for i386: each is run with compilers that make programs of 32 bits
# (tests/run --how=i386).
# needs: gcc-multilib g++-multilib gdb clang python3
# seconds: 60
. "$(dirname "$0")/lib.sh"

if ! echo 'int main(void) { return 0; }' | gcc -m32 -x c - -o narrow || ! ./narrow; then
    echo 'skipped: programs of 32 bits, which cannot be built or run here'
    exit 0
fi

for script in calling_conventions longjmp exceptions fork exec thread_ends backtrace before_main tail_calls coroutines \
    stack exit_race endings many_threads pause confined_programs stack_overflow snapshot signal_shy signal_sight gdb; do
    echo "-- $script"
    UMBRA_TEST_HOW=i386 bash "$TESTS/$script.sh" >said 2>&1 || { cat said >&2; fail "$script"; }
done

echo '-- a program that has taken all addresses: what is new is dropped, and later threads are recorded'
build no_addresses no_addresses.c -m32 -O1 -fno-optimize-sibling-calls
instrumented no_addresses
SERVICE_OPTIONS=--timing=none recorded no_addresses
(($(summed dropped) > 100000)) || fail "there were addresses left: $(summed dropped) calls were dropped"
equal 'threads that balance' "$(grep -c ' holds ' summary)" 5

echo '-- a program as it is, by umbra record, with the libraries that it loads'
gcc -m32 "${TESTS}/programs/phases.c" -I"$TESTS/.." -O2 -o phases
XDG_CACHE_HOME=$work/cache umbra record --quiet -- ./phases >recorded.out
./phases >native.out
cmp native.out recorded.out
umbra report --mode=summary >summary
contains summary '^ +timing +samples'
contains summary ' holds +phases$'
contains summary '^ +[0-9]+ +[0-9]+ +[0-9]+  .*/libc\.so\.6$'

echo '-- what is not there for i386 is refused'
refused()
{
    local status=0
    instrument narrow -o out "${@:2}" 2>error || status=$?
    equal "status of ${*:2}" "$status" 1
    contains error "$1"
}
refused 'bodies are copied in ELF files for x86-64 only' --how=copy
refused '--instrument-imports: calls of imports are found in files for x86-64 only' --instrument-imports
refused 'for x86-64' --count=blocks
