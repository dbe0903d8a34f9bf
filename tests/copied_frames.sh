#!/bin/bash
# Unwinders pass through copied bodies: exceptions, caught by type and thrown again, in programs and
# libraries of gcc, clang and rustc, and in libstdc++ itself; from every instruction the way out is
# found. What was copied is overwritten in the original, so that it is the copies that run.
# needs: g++ clang rustc gdb
# seconds: 40
. "$(dirname "$0")/lib.sh"

shopt -s extglob
export INSTRUMENT_OPTIONS="--how=copy --poison"
LIMIT=600 # of what steps through every instruction

# The same, with a service and without.
alike()
{
    same "$@"
    record "$@"
}

# Stepped through natively, it would print the same.
stepped()
{
    run native ./copied_frames
    echo walked >>native.stdout
    run instrumented ./copied_frames stepped
    compare_runs "copied_frames stepped"
}

# Dynamic exception specifications are of C++14.
for CXX in "g++ -std=c++14" "clang++ -std=c++14 -Wno-deprecated"; do
    for level in 0 2; do
        build copied_frames copied_frames.cpp "-O$level" -Wno-deprecated
        instrumented copied_frames
        alike copied_frames
        # each instruction, which takes long: of either compiler's
        [[ $CXX$level == g++*2 || $CXX$level == clang*0 ]] && stepped
        alike copied_frames sampled
        build exceptions exceptions.cpp "-O$level"
        instrumented exceptions
        alike exceptions
        alike exceptions terminate
    done
done

# A program that was linked to a fixed address has other pointers in its tables.
for CXX in "g++ -no-pie -fno-pie" "clang++ -no-pie -fno-pie"; do
    build exceptions exceptions.cpp
    instrumented exceptions
    alike exceptions
done

# The agent is within a static program, and so is the unwinder.
CXX="g++ -static"
build exceptions exceptions.cpp
instrumented exceptions
alike exceptions

# In a library; the program is as it was.
cat >throwing.cpp <<'END'
int throwing(int, char **);

int main(int count, char **arguments)
{
    return throwing(count, arguments);
}
END
for CXX in g++ clang++; do
    build libthrowing.so exceptions.cpp -shared -fPIC -Dmain=throwing
    build throwing "$work/throwing.cpp" -Lnative -lthrowing "-Wl,-rpath,\$ORIGIN"
    instrumented libthrowing.so
    cp native/throwing instrumented
    same throwing
    same throwing terminate
done

for optimise in 0 3; do
    build panics panics.rs -C "opt-level=$optimise" -g
    instrumented panics
    alike panics
done

# Threads that end in the middle: the unwinding is forced, its cleanups are in C.
build thread_ends thread_ends.c -fexceptions
instrumented thread_ends
alike thread_ends

# gdb walks through them and has their names; a breakpoint is in the copy, too.
build backtraces backtraces.c
instrumented backtraces
gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break print_callers' -ex run -ex bt \
    instrumented/backtraces >bt 2>gdb.log </dev/null
callers=$(sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([a-z_]+) \(.*/\2/p' bt | paste -sd' ')
[[ $callers == "print_callers innermost"*(" beta alpha")" main" ]] || { cat bt gdb.log; fail "$callers"; }

# What throws is copied, too.
CXX=g++
build copied_frames copied_frames.cpp
cp "$($CXX -print-file-name=libstdc++.so.6)" native
cp native/copied_frames instrumented
instrumented libstdc++.so.6
export LD_LIBRARY_PATH=.
same copied_frames
same copied_frames sampled
