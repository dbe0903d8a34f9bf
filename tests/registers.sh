#!/bin/bash
# Registers, flags and errno pass through the hooks at entry and at exit unchanged.
. "$(dirname "$0")/lib.sh"

build registers registers.c registers_amd64.S
instrumented registers
recorded registers
grep -q changed instrumented.stdout && fail "$(head -n 5 instrumented.stdout)"
exchanges=$(awk '{ print $1 }' instrumented.stdout)
equal "calls of registers_callee" "$(calls_of registers_callee)" "$exchanges"
equal "calls of registers_exchange" "$(calls_of registers_exchange)" "$exchanges"
