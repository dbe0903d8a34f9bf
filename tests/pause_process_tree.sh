#!/bin/bash
# Pauses, to the call: which of a process's calls are recorded, what a pause of one process is to its
# parent and its children, and libraries that are loaded meanwhile.
. "$(dirname "$0")/lib.sh"

export SERVICE=$BUILD/service/call_trace_service
build plugin_one plugin.c -shared -fPIC
build plugin_two plugin.c -shared -fPIC -DPLUGIN_FACTOR=3
build pauses pauses.c
instrumented plugin_one
instrumented plugin_two --exclude='*' --include='function:plugin_*' # its first call is not in dlopen

# under_service ARGUMENT…: runs it, and waits for what it left behind, which holds the lock, too
under_service()
{
    rm -rf traces
    call_trace_service spawn --trace-dir=traces >/dev/null
    { flock 9 && run instrumented ./pauses "$@"; } 9>held
    equal "status of pauses $*: $(<instrumented.stderr)" "$(<instrumented.status)" 0
    flock -w 60 held true || fail "pauses $*: a child does not end"
    call_trace_service stop >/dev/null 2>&1 || true
    balanced
}

# tens NAME…: of these, all ten calls were recorded
tens()
{
    local name
    for name; do
        equal "calls of $name" "$(calls_of "$name")" 10
    done
}

# none NAME…: of these, none was
none()
{
    local name
    for name; do
        equal "calls of $name" "$(calls_of "$name")" 0
    done
}

# Of a program that is static and of one that is not: their hook words are bound in different ways.
forks()
{
    under_service fork
    equal "traces" "$(traces_left)" 2
    tens before behind_pause in_childs_pause child_begins child_in_parents_pause child_behind_pause
    none in_pause child_in_pause

    under_service orphan
    equal "traces" "$(traces_left)" 2
    tens before orphan

    under_service paused-orphan
    equal "traces" "$(traces_left)" 2
    tens before child_behind_pause

    under_service alone
    equal "traces" "$(traces_left)" 1
    tens before parent_alone
    none child_alone
}

instrumented pauses
forks

instrumented pauses --exclude=ten_to_plugin
under_service plugins ./plugin_one ./plugin_two
equal "traces" "$(traces_left)" 3
tens before child_begins to_limited to_limited_child
equal "calls of to_behind_pause" "$(calls_of to_behind_pause)" 30
none to_in_pause
equal "calls of plugin_run" "$(calls_of plugin_run)" 50

instrumented pauses --exclude=main
rm -rf traces
run instrumented "$SERVICE" start --paused --trace-dir="$work/traces" -- ./pauses begin
equal "status of pauses begin" "$(<instrumented.status)" 0
balanced
tens first

build pauses pauses.c -static -DWITHOUT_PLUGINS
instrumented pauses
forks
