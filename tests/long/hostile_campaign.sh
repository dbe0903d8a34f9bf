# Watched calls with hostile arguments under `umbra record`: each returns what it returns natively.
# CALLS (200000) in runs of 20000, SEED (1) chooses them.
# needs: gcc
. "$(dirname "$0")/../lib.sh"

seed=${SEED:-1}
export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
gcc -O1 -g -o hostile_calls "$TESTS/programs/hostile_calls.c"
echo 'int main(void) { return 7; }' >program.c
gcc program.c -o program
for ((run = 0; run < ${CALLS:-200000} / 20000; run++, seed++)); do
    echo "seed $seed"
    rm -rf scene # its attributes would stay
    mkdir scene
    timeout 60 ./hostile_calls "$seed" 20000 ./program scene >native.calls
    rm -rf scene
    mkdir scene
    timeout -k 5 120 "$BUILD/front/umbra" record --quiet -- ./hostile_calls "$seed" 20000 ./program scene \
        >recorded.calls 2>said || fail "seed $seed: status $?: $(<said)"
    cmp -s native.calls recorded.calls || {
        diff native.calls recorded.calls | head -n 10 >&2 || true
        fail "seed $seed: a call returned something else"
    }
done
