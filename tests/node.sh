#!/bin/bash
# Node, with its libnode.so if it has one, runs a script with exceptions, promises, a worker thread
# and code that is optimised and given up again: identical output, without a service and recorded,
# nothing passed unrecorded. JavaScript functions are callers by name, and totals stay.
# needs: nodejs
# seconds: 15
. "$(dirname "$0")/lib.sh"
SERVICE_OPTIONS=--timing=adaptive # a time for each function that is called

NODE=$(readlink -f "${NODE:-$(command -v node)}")
cp "$NODE" native/node
cp "$TESTS/programs/script.js" native/
cp "$TESTS/programs/script.js" instrumented/
instrumented node
cat instrumented.line
image=node
library=$(ldd "$NODE" | awk '/libnode/ { print $3 }')
if [[ $library ]]; then
    image=$(basename "$library")
    cp "$library" native/
    instrumented "$image"
    cat instrumented.line
    export LD_LIBRARY_PATH=.${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
if instrument --list "instrumented/$image" | grep -P '\thooked\t.*\tBuiltins_'; then
    fail "builtins are hooked"
fi
instrument --verify "instrumented/$image" >verified

recorded node --stack-size=500 script.js
equal "calls that passed" "$(summed skipped)" 0
(($(summed entries) > 5000000)) || fail "only $(summed entries) calls were recorded"

options=(--perf-basic-prof --interpreted-frames-native-stack)
record node --stack-size=500 "${options[@]}" script.js
map=/tmp/perf-$(sed -n 's/^process \([0-9]*\) .*/\1/p' summary).map
trap 'status=$?; rm -f "$map"; set +e; (exit $status); end_of_script' EXIT
equal "calls that passed" "$(summed skipped)" 0
grinder --mode=profile --merge --output-format=tsv-edges --output-file=edges traces/*.bin

# called NAME CALLEE: calls of C++ that JavaScript's function made, in whatever state of compilation.
called()
{
    awk -F '\t' -v caller="^[A-Za-z]+:[~^*+]*$1 .*script.js:" -v callee="$2" \
        '$4 ~ caller && $6 ~ callee { sum += $10 } END { print sum + 0 }' edges
}

# Once rounds is optimised, fails is a part of it. Before V8 11 a worker's map overwrites the main
# thread's.
thrown=$(((3000 + 2) / 3))
major=$("$NODE" -p 'process.versions.node.split(".")[0]')
if ((major >= 20)); then
    thrown=$((thrown + (8000 + 2) / 3))
    for caller in digest promised changing; do
        (($(called "$caller" .) > 0)) || fail "$caller is no caller"
    done
fi
equal "throws" "$(called '(fails|rounds)' '^v8::internal::Runtime_Throw[(]')" "$thrown"
(($(called fails '^v8::internal::Runtime_Throw[(]') > 10)) || fail "fails is no caller"
named=$(awk -F '\t' '$5 ~ "/perf-[0-9]*.map$" && $4 ~ /script.js:/ { n++ } END { print n }' edges)
grinder --mode=profile --merge --output-file=callgrind traces/*.bin
grinder --mode=summary traces/*.bin >summary
equal "totals" "$(sed -n 's/^totals: //p' callgrind)" "$(awk '/^totals:/ { print $2, $4 }' summary)"
echo "$(summed entries) calls recorded, $named edges from the script's functions"
