#!/bin/bash
# However an image is instrumented, the same calls are recorded in the same contexts: programs that
# do what is hard on their stacks, recorded with copied bodies and without, and compared context by
# context (tests/campaigns/tree_compare.c).
# needs: g++ clang jq
# seconds: 40
. "$(dirname "$0")/lib.sh"

rm -r instrumented # a link to one of these, and traces to one recording
mkdir prologue copy
service_options=

# instrumented_both NAME…: prologue/NAME and copy/NAME from native/NAME.
instrumented_both()
{
    local name how
    for name; do
        for how in prologue copy; do
            instrument "native/$name" -o "$how/$name" --overwrite --how=$how >/dev/null
        done
    done
}

# trees TRACES HOW TIMING COMMAND…: records the command, which does what it does natively.
trees()
{
    local traces=$1 how=$2 timing=$3
    shift 3
    rm -rf "$traces"
    ln -sfn "$how" instrumented
    # shellcheck disable=SC2086
    run instrumented "$BUILD/service/call_trace_service" start --timing=$timing --samples=0 \
        --slices=0 $service_options --trace-dir="$work/$traces" -- "$@"
    compare_runs "$*, $how, $timing"
    rm -rf traces
    ln -sfn "$traces" traces
    traces_are_whole
}

# Where the caller is not known for sure (docs/copies.md): only ends and balances are looked at, and the
# contexts with exact timing.
may_differ()
{
    program=("$@")
    run native "$@"
    trees expected prologue exact "$@"
    trees exact copy exact "$@"
    compare_trees "$*, exact" expected exact
    trees adaptive copy adaptive "$@"
    trees none copy none "$@"
}

# same_tree COMMAND…: four recordings, with $service_options. With exact timing each call between
# copies has a thunk, with adaptive timing most have none, without timing hardly any: their ends are not seen.
same_tree()
{
    program=("$@")
    run native "$@"
    [[ $(<native.status) != 99 ]] || { cat native.stderr >&2; fail "$1 itself is broken"; }
    trees expected prologue exact "$@"
    trees exact copy exact "$@"
    compare_trees "$*, exact" expected exact
    trees adaptive copy adaptive "$@"
    compare_trees "$*, adaptive" expected adaptive --ignore-ends
    trees none copy none "$@"
    if [[ $folds ]]; then
        same_functions "$*, none" expected none
    else
        compare_trees "$*, none" expected none --ignore-ends --by-callee$sites
    fi
}

# Where a library comes and goes, calls that a site counts of what was there before are taken back without the site.
sites=
# At the limit of contexts others are folded, since there are fewer: functions have as many calls.
folds=

# same_functions WHAT EXPECTED FOUND
same_functions()
{
    local folder
    for folder in "$2" "$3"; do
        grinder --mode=profile --merge --output-format=json --output-file=- "$folder"/*.bin |
            jq -r '. as $all | .parts[0].functions[] | "\($all.functions[.function].name) \(.calls)"' |
            grep -v ' 0$' | sort >"$folder.functions"
    done
    cmp "$2.functions" "$3.functions" || fail "$1: functions have other numbers of calls"
    echo "$1: $(wc -l <"$2.functions") functions"
}

# compare_trees WHAT EXPECTED FOUND [OPTION]…; where they differ, whether the program does so by itself
compare_trees()
{
    local compare=$BUILD/tests/campaigns/tree_compare
    if "$compare" "${@:4}" "$2" "$3" >differences; then
        echo "$1: $(tail -n 1 differences)"
        return
    fi
    cat differences >&2
    trees again prologue exact "${program[@]}"
    "$compare" expected again >differences ||
        fail "$1: contexts differ, and so they do between two recordings with prologues"
    fail "$1: contexts differ"
}

for options in "gcc -O0" "gcc -O2" "gcc -O2 -fno-omit-frame-pointer" \
    "gcc -O3 -fcf-protection" "clang -O2"; do
    read -r CC flags <<<"$options"
    CXX=${CC/gcc/g++}
    CXX=${CXX/clang/clang++}
    for name in callbacks leaving pushed chains; do
        build $name $name.c $flags -w
        instrumented_both $name
        same_tree ./$name
    done
    build thrown thrown.cpp $flags -w
    instrumented_both thrown
    same_tree ./thrown
    same_tree ./thrown uncaught
done
CC=gcc CXX=g++

# Calls that have no context of their own any more.
service_options=--node-limit=20 folds=yes
same_tree ./callbacks
folds=
may_differ ./chains
service_options=

# Stacks: of coroutines, which change threads, within the thread's own, of handlers.
for name in carried nested_stacks forks edges tail_calls conventions; do
    build $name $name.c -w
    instrumented_both $name
done
# deep_recursion.sh has the million.
build deep deep.c -DFRAMES=100000
instrumented_both deep
same_tree ./carried
# Six targets of a pointer, in 10,000 contexts.
gcc -O2 -o native/formulas "$TESTS/../bench/workloads/formulas.c"
instrumented_both formulas
same_tree ./formulas 100
# Stacks within the thread's own are found out late, with copied bodies somewhat later: the trees
# differ there (docs/copies.md).
for what in turns deeper inner left abandoned handler handler_left disarmed thread; do
    run native ./nested_stacks $what
    trees exact copy exact ./nested_stacks $what
    trees adaptive copy adaptive ./nested_stacks $what
    trees none copy none ./nested_stacks $what
done
same_tree ./forks
same_tree ./edges
same_tree ./tail_calls
folds=yes
same_tree ./deep
folds=
same_tree ./conventions

# Libraries that come and go, in each other's place.
build plugin_one plugin.c -shared -fPIC
build plugin_three plugin.c -shared -fPIC -DPLUGIN_FACTOR=3
build plugins plugins.c
instrumented_both plugin_one plugin_three plugins
sites='=alone'
same_tree ./plugins ./plugin_one ./plugin_three
sites=

# Pauses, with frames that go on behind them.
build amid_pauses amid_pauses.c
instrumented_both amid_pauses
SERVICE=$BUILD/service/call_trace_service may_differ ./amid_pauses
contains summary '^  paused +11 times'
