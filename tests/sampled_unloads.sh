#!/bin/bash
# Samples are taken while the stack has return addresses of a library that is gone: nobody reads its code.
. "$(dirname "$0")/lib.sh"

build unloaded.so unloads.c -shared -fPIC -DLIBRARY
build unloads unloads.c
run native ./unloads ./unloaded.so
for how in prologue copy; do
    instrumented unloaded.so --overwrite --how=$how
    instrumented unloads --overwrite --how=$how
    for source in timer 10000; do
        rm -rf traces
        run instrumented "$BUILD/service/call_trace_service" start --timing=samples --samples=$source \
            --trace-dir="$work/traces" -- ./unloads ./unloaded.so
        compare_runs "$how, $source"
        balanced
        contains summary '^  samples   [1-9]'
    done
done
