#!/bin/bash
# KCachegrind opens the profile of a program with threads: a picture to look at in $PICTURE, by
# default build/kcachegrind.png.
# needs: kcachegrind xvfb imagemagick x11-utils dbus
. "$(dirname "$0")/../lib.sh"
picture=${PICTURE:-$TESTS/../build/kcachegrind.png}

build threads "$TESTS/../samples/threads.c"
instrumented threads
recorded threads
mkdir home
mv callgrind threads.callgrind
export HOME=$work/home XDG_CONFIG_HOME=$work/home QT_X11_NO_MITSHM=1 LIBGL_ALWAYS_SOFTWARE=1
Xvfb -displayfd 3 -screen 0 1280x800x24 3>display 2>xvfb.log &
started+=($!)
for ((i = 0; i < 50; i++)); do
    [[ -s display ]] && break
    sleep 0.1
done
export DISPLAY=:$(<display)
kcachegrind --geometry 1280x800+0+0 "$work/threads.callgrind" >kcachegrind.log 2>&1 &
viewer=$!
started+=("$viewer")
sleep "${PAUSE:-8}"
kill -0 "$viewer" || { cat kcachegrind.log; fail "KCachegrind is gone"; }
import -window root "$picture"
grep -i 'error' kcachegrind.log && fail "KCachegrind complains"
echo "look at $picture"
