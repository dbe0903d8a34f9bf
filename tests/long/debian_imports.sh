#!/bin/bash
# Debian's programs do the same work with their imports hooked as well.
# needs: lua5.4 sqlite3 xz-utils git python3.11 libpython3.11-testsuite valgrind
INSTRUMENT_OPTIONS=--instrument-imports exec bash "$(dirname "$0")/../debian_programs.sh"
