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
