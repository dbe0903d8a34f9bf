#!/bin/bash
# Threads that return, or are in the middle of a hook, while another one calls exit(): what is live
# is what neither returned nor was unwound.
. "$(dirname "$0")/lib.sh"

build exit_race exit_race.c
instrumented exit_race
same exit_race
for ((i = 0; i < 25; i++)); do
    record exit_race
done
