#!/bin/bash
# Coroutines stand in the middle of a recursion while others run, are resumed on other threads, and
# are given up with frames on them.
. "$(dirname "$0")/lib.sh"

for CC in gcc clang; do
    build coroutines coroutines.c
    instrumented coroutines
    recorded coroutines
done
# a tree of depth d takes 2^(d+1) - 1 calls: twelve and one of depth 10, four of depth 12; the
# abandoned ones 2500 whole trees of depth 3 and 2500 times the calls up to the third node
equal "calls of tree_walk" "$(calls_of tree_walk)" \
    $((13 * 2047 + 4 * 8191 + 2500 * 15 + 2500 * 7))
