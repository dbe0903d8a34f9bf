#!/bin/bash
# At least 99.5% of true function entries are hooked, and nothing that is none: tests/coverage,
# without its largest file.
# needs: lua5.4 git python3.11 python3.11-dbg libsqlite3-0 libstdc++6-12-dbg g++ clang rustc
. "$(dirname "$0")/lib.sh"

BUILD=$BUILD "$TESTS/coverage" --short
