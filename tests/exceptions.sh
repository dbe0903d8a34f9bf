#!/bin/bash
# C++ exceptions pass through ten instrumented frames: thrown again, nested, in destructors, on four
# threads at once, and to nobody at all. Built by gcc and by clang.
# needs: g++ clang
. "$(dirname "$0")/lib.sh"

for CXX in g++ clang++; do
    build exceptions exceptions.cpp
    instrumented exceptions
    recorded exceptions
    # 9,000 rounds of eleven frames and of three, and the one that is carried
    equal "calls of descend" "$(calls_of descend)" $((9000 * 14 + 11))
    equal "threads that threw" "$(calls_by_part descend | wc -l)" 5
    recorded exceptions terminate
    contains instrumented.stdout '^terminate: round 2$'
    equal "calls of descend" "$(calls_of descend)" 11
done
