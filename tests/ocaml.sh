#!/bin/bash
# OCaml: its garbage collector looks up the return addresses of frames. OCaml's functions are not
# hooked, also in a stripped program; the C functions that they call are recorded.
# needs: ocaml-nox
. "$(dirname "$0")/lib.sh"

cp "$TESTS"/programs/frame_primitives.c "$TESTS"/programs/frames.ml .
ocamlopt -g frame_primitives.c frames.ml -o native/frames
strip native/frames -o native/stripped
instrumented frames
instrumented stripped

# the runtime and the program's own C
equal "prim_sum" "$(state_of prim_sum frames)" "$(hooked_by plain)"
equal "caml_minor_collection" "$(state_of caml_minor_collection frames | cut -d ' ' -f 1)" hooked
# OCaml, and what looks at OCaml's return addresses
for prefix in camlFrames__build_ camlStdlib__List__iter_ caml_alloc1 caml_start_program; do
    name=$(nm native/frames | awk -v prefix="$prefix" 'index($3, prefix) == 1 && !found++ { print $3 }')
    equal "$name" "$(state_of "$name" frames)" "skipped frame-table"
done

# all of them in the stripped program, too
frame_tables()
{
    instrument --list "instrumented/$1" | awk -F '\t' '$4 == "frame-table" { print $1 }' | sort
}
frame_tables frames >named
frame_tables stripped >found
(($(wc -l <named) > 500)) || fail "$(wc -l <named) functions of OCaml"
comm -23 named found >missing
[[ ! -s missing ]] || fail "not found without names: $(tr '\n' ' ' <missing)"

# its exceptions, a callback's, Stack_overflow, collections at any time
for name in frames stripped; do
    for options in --timing=exact --timing=adaptive --mode=calltrace; do
        same "$name"
        rm -rf traces
        run instrumented "$BUILD/service/call_trace_service" start "$options" \
            --trace-dir="$work/traces" -- "./$name"
        compare_runs "$name, $options"
        balanced
        [[ $name == stripped ]] && continue
        equal "calls of prim_sum, $options" "$(calls_of prim_sum)" 300
        equal "calls of work, $options" "$(calls_of work)" $((300 * 10 + 300 + 300))
    done
done
