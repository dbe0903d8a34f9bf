#!/bin/bash
# Debian's chromium, instrumented: renders a page full of script to the same picture, byte for byte,
# without a service and recorded. Every process is recorded, and all threads balance.
# needs: chromium
. "$(dirname "$0")/../lib.sh"

original=/usr/lib/chromium

# picture FOLDER FILE COMMAND…: FOLDER's chromium, below COMMAND, draws the page
picture()
{
    local folder=$1 file=$2
    shift 2
    rm -rf home
    mkdir home
    HOME=$work/home DBUS_SESSION_BUS_ADDRESS=disabled: timeout -k 5 120 "$@" "$folder/chromium" \
        --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-quic --hide-scrollbars \
        --user-data-dir="$work/home" --screenshot="$work/$file" "file://$TESTS/programs/page.html" \
        >log 2>&1 || { tail -n 20 log >&2; fail "$file: chromium failed"; }
    [[ -s $file ]] || { tail -n 20 log >&2; fail "$file was not drawn"; }
    if grep -i 'abnormal renderer' log; then
        fail "$file: a renderer died"
    fi
}

same_picture()
{
    cmp "$1" native.png || fail "$1 is another picture than native.png"
}

# A tree whose resources are the original's.
rmdir instrumented
cp -as "$original" instrumented
rm instrumented/chromium
instrument "$original/chromium" -o instrumented/chromium
instrument --list instrumented/chromium >list
hooked=$(awk -F '\t' '$3 == "hooked"' list | wc -l)
((hooked * 1000 > 990 * $(wc -l <list))) || fail "no more than $hooked functions are hooked"

picture "$original" native.png
picture "$original" again.png
same_picture again.png

picture ./instrumented without.png
same_picture without.png

picture ./instrumented recorded.png "$BUILD/service/call_trace_service" start \
    --trace-dir="$work/traces" --
same_picture recorded.png
balanced

# Main threads of the browser, of renderers (made by fork) and of utilities that did some work.
processes=$(awk '/ (holds|derived) / && $1 == 1 && $2 > 10000' summary | wc -l)
((processes >= 4)) || fail "only $processes processes were recorded"
echo "$hooked functions hooked, $(summed entries) calls recorded, $(summed skipped) passed," \
    "$processes processes with more than 10,000 calls in their main threads"
