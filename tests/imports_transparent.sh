#!/bin/bash
# With their imports hooked, too, programs throw, jump, fork, switch stacks and end their threads as
# before: the scripts about that hold for them.
# needs: g++ clang
tests=$(dirname "$0")
export INSTRUMENT_OPTIONS=--instrument-imports

for name in backtrace coroutines dlopen exceptions exec fork longjmp tail_calls thread_ends; do
    bash "$tests/$name.sh" || { echo "imports_transparent.sh: $name fails" >&2; exit 1; }
done
