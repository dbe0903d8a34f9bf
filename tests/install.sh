#!/bin/bash
# `meson install` puts the tools where they find each other; --bundle makes a pair of files that can
# be carried elsewhere.
# seconds: 20
. "$(dirname "$0")/lib.sh"

# Where files go is the same without optimising.
meson setup "$work/build" "$TESTS/.." --prefix="$work/prefix" --buildtype=plain -Dwerror=false >setup.log 2>&1 ||
    { tail setup.log; fail "meson setup"; }
targets=({rewriter/instrument,grinder/grinder,service/call_trace_service,front/umbra,hooks/lib{hooks,attach}.so})
narrow=hooks/libhooks32.so # where the compiler makes code of 32 bits
if ninja -C "$work/build" -t query "$narrow" >install.log 2>&1; then targets+=("$narrow"); else narrow=; fi
ninja -C "$work/build" "${targets[@]}" >install.log 2>&1 ||
    { tail -n 20 install.log; fail "ninja"; }
meson install -C "$work/build" --no-rebuild >install.log 2>&1 || { tail -n 20 install.log; fail "meson install"; }
PATH=$work/prefix/bin:$PATH
build forks forks.c
run native ./forks

# Manual pages and completion are where man and shells look for them.
for tool in instrument call_trace_service grinder umbra; do
    [[ -s $work/prefix/share/man/man1/$tool.1 ]] || fail "no manual page of $tool"
    cmp "$work/prefix/share/bash-completion/completions/$tool" "$TESTS/../completions/umbra.bash"
    cmp "$work/prefix/share/fish/vendor_completions.d/$tool.fish" "$TESTS/../completions/umbra.fish"
done
cmp "$work/prefix/share/zsh/site-functions/_umbra" "$TESTS/../completions/_umbra"

# The agent's absolute path is written into the image.
"$work/prefix/bin/instrument" native/forks -o instrumented/forks
readelf -d instrumented/forks | grep NEEDED >needed
contains needed "$work/prefix/.*/libhooks.so"
rm -rf build
run instrumented "$work/prefix/bin/call_trace_service" start --trace-dir="$work/traces" -- ./forks
compare_runs "forks, installed"
"$work/prefix/bin/grinder" --mode=summary traces/*.bin >summary
contains summary 'fib'

# The agent for programs of 32 bits is installed beside it.
if [[ $narrow ]] && gcc -m32 "$TESTS/../samples/fib.c" -o native/fib && native/fib >fib.stdout; then
    "$work/prefix/bin/instrument" native/fib -o fib >line
    readelf -d fib | grep NEEDED >needed
    contains needed "$work/prefix/.*/libhooks32.so"
    mkdir bundle32
    "$work/prefix/bin/instrument" native/fib -o bundle32/fib --bundle
    equal "files of the bundle for 32 bits" "$(ls bundle32 | paste -sd' ')" "fib libhooks32.so"
else
    echo 'skipped: programs of 32 bits, which cannot be built or run here'
    narrow=
fi

# Two files in a folder of their own, moved; the installation is out of sight.
rm instrumented/forks
mkdir bundle
"$work/prefix/bin/instrument" native/forks -o bundle/forks --bundle
equal "files of the bundle" "$(ls bundle | paste -sd' ')" "forks libhooks.so"
build static "$TESTS/../samples/fib.c" -static
"$work/prefix/bin/instrument" native/static -o alone --bundle
[[ -e alone && ! -e libhooks.so ]] || fail "a static program got an agent beside it"
mv bundle/* instrumented/
rm -f "$work"/prefix/lib*/umbra/libhooks*.so "$work"/prefix/lib/*/umbra/libhooks*.so
rm -rf traces
run instrumented "$work/prefix/bin/call_trace_service" start --trace-dir="$work/traces" -- ./forks
compare_runs "forks, bundled and moved"
"$work/prefix/bin/grinder" --mode=summary traces/*.bin >summary
contains summary 'fib'

if [[ $narrow ]]; then
    mv bundle32 moved
    rm -rf traces
    "$work/prefix/bin/call_trace_service" start --trace-dir="$work/traces" -- moved/fib >stdout
    cmp stdout fib.stdout
    "$work/prefix/bin/grinder" --mode=profile --output-file=callgrind traces/*.bin
    equal "calls of fib, bundled for 32 bits and moved" "$(calls_of fib)" 2692537
fi
