#!/bin/bash
# Instrumented libraries are loaded and unloaded again and again, one in the other's place, by an
# instrumented program and by one that is not.
. "$(dirname "$0")/lib.sh"

build plugin_one plugin.c -shared -fPIC
build plugin_three plugin.c -shared -fPIC -DPLUGIN_FACTOR=3
build plugins plugins.c
for name in plugin_one plugin_three plugins; do
    instrumented $name
done
recorded plugins ./plugin_one ./plugin_three
equal "calls of plugin_run" "$(calls_of plugin_run)" $((2 * (100 + 100 + 40)))
equal "calls of plugin_step" "$(calls_of plugin_step)" $((2 * (100 + 100 + 40)))
equal "calls of back" "$(calls_of back)" $((2 * (100 + 100 + 40)))
equal "calls of run_once" "$(calls_of run_once)" $((100 + 100 + 40))

cp native/plugins instrumented/plugins
recorded plugins ./plugin_one ./plugin_three
equal "calls of plugin_run" "$(calls_of plugin_run)" $((2 * (100 + 100 + 40)))
equal "calls of back" "$(calls_of back)" 0

# What is known of calls of one library is not taken for calls of the other, which has its addresses.
how=${UMBRA_TEST_HOW:-auto}
[[ $how == prologue ]] && exit
build reloaded reloaded.c
for name in plugin_one plugin_three reloaded; do
    instrumented $name --how=copy
done
call_trace_service spawn --trace-dir=traces
instrumented/reloaded instrumented/plugin_one instrumented/plugin_three >places 2>said
call_trace_service stop
equal "places of plugin_run" "$(sort -u places | wc -l)" 1
grinder --mode=profile --output-format=tsv --output-file=- traces/reloaded-*.bin >functions
for name in plugin_one plugin_three; do
    equal "calls of plugin_run in $name" \
        "$(awk -F '\t' -v name="/$name\$" '$4 == "plugin_run" && $5 ~ name { print $8 }' functions)" 1000
done
