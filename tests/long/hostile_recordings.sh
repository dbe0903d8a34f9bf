# Mutated traces given to the grinder, in each mode and format in turn: it shows them or refuses them with
# a line, with the build at hand and with the one for sanitizers, if there is one. CASES (600) mutations
# that SEED (1) chooses; what fails is kept in FAILED.
. "$(dirname "$0")/../lib.sh"

cases=${CASES:-600}
seed=${SEED:-1}
failed=${FAILED:-${TMPDIR:-/tmp}/umbra-hostile-failed}
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
echo "seed $seed"

ways=("--mode=summary" "--mode=report" "--mode=stack --output-format=table" "--mode=stack --output-format=tsv"
    "--mode=stack --output-format=json" "--mode=top --once")
for format in callgrind folded flamegraph pprof speedscope tsv tsv-edges json firefox; do
    ways+=("--mode=profile --output-format=$format" "--mode=profile --merge --output-format=$format")
done
for format in chrome perfetto firefox; do
    ways+=("--mode=profile --output-format=$format")
done
for format in table tsv folded flamegraph; do
    ways+=("--mode=diff --output-format=$format whole.trace")
done

# Recordings of real programs, with what lies beside them, and small ones.
mkdir seeds
"$BUILD/tests/fuzz/trace_seeds" seeds
build forks forks.c
instrumented forks
for mode in profile calltrace; do
    (cd instrumented && call_trace_service start --quiet --mode=$mode --trace-dir="$work/$mode" -- ./forks) \
        >printed 2>&1 || true
    largest=$(ls -S $mode/*.bin | head -n 1)
    cp "$largest" "seeds/$mode.trace"
    for beside in "${largest%.bin}".*; do
        [[ $beside == *.bin ]] || cp "$beside" "seeds/${beside##*.}.beside"
    done
done
cp seeds/profile.trace whole.trace

# ground TRACE WAY
ground()
{
    local status=0 build
    for build in "$BUILD" "$TESTS/../build/sanitized"; do
        [[ -x $build/grinder/grinder ]] || continue
        status=0
        # shellcheck disable=SC2086
        timeout 60 "$build/grinder/grinder" $2 --output-file=made "$1" >shown 2>said </dev/null || status=$?
        ((tried++)) || true
        # 2: of a diff, or a time line of a profile; a wrong way to ask says so.
        ((status < 3)) && { ((status == 0)) || [[ -s said ]]; } &&
            ! grep -Eq 'runtime error|Sanitizer|does not have|has no --' said && continue
        mkdir -p "$failed"
        cp "$1" "$failed/"
        fail "$build: $2: status $status: $(head -c 2000 said); see $failed"
    done
    refused+=$((status > 0))
}

mutations=0 tried=0 refused=
seeds=(seeds/*)
share=$(((cases + ${#seeds[@]} - 1) / ${#seeds[@]}))
for file in "${seeds[@]}"; do
    mkdir mutated
    (cd mutated && "$BUILD/tests/fuzz/write_mutations" -n "$share" -s "$seed" "../$file") >written
    for ((number = 0; number < share; number++)); do
        trace=mutated/$number.bin
        if [[ $file == *.beside ]]; then
            kind=${file##*/}
            cp "seeds/$([[ $kind == @(ring|events*) ]] && echo calltrace || echo profile).trace" "$trace"
            mv "mutated/$number" "mutated/$number.${kind%.beside}"
        else
            mv "mutated/$number" "$trace"
        fi
        ground "$trace" "${ways[mutations++ % ${#ways[@]}]}"
    done
    rm -rf mutated
done
ones=${refused//0/}
echo "$mutations mutations of ${#seeds[@]} files, the grinder ran $tried times, ${#ones} were refused"
((${#ones} > 0 && ${#ones} < mutations)) || fail "nothing was refused, or everything"
