#!/bin/bash
# KCachegrind opens the profile of a program with threads: a picture to look at in $PICTURE, by
# default build/kcachegrind.png.
# needs: kcachegrind xvfb imagemagick dbus-daemon graphviz xdotool
. "$(dirname "$0")/../lib.sh"
picture=${PICTURE:-$TESTS/../build/kcachegrind.png}

build two_threads two_threads.c
instrumented two_threads
recorded two_threads
equal "parts" "$(grep -c '^thread:' callgrind)" 2
equal "calls of read_words" "$(calls_of read_words)" 20000
mv callgrind two_threads.callgrind
mkdir -p home/.config
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_CACHE_HOME=$work/home QT_X11_NO_MITSHM=1
printf '[TipOfDay]\nRunOnStart=false\n' >home/.config/kcachegrindrc

Xvfb -displayfd 3 -screen 0 1280x800x24 3>display 2>xvfb.log &
started+=($!)
for ((i = 0; i < 50; i++)); do
    [[ -s display ]] && break
    sleep 0.1
done
export DISPLAY=:$(<display)
dbus-run-session -- kcachegrind --geometry 1280x800+0+0 two_threads.callgrind >kcachegrind.log 2>&1 &
viewer=$!
started+=("$viewer")
sleep "${PAUSE:-5}"
xdotool mousemove 265 290 click 1 # the first function, (root): all threads hang below it
xdotool mousemove 521 757 click 1 # the tab "Call Graph"
xdotool mousemove 810 427 mousedown 1 mousemove 810 300 mousemove 810 230 mouseup 1 # more room
sleep 2
kill -0 "$viewer" || { cat kcachegrind.log; fail "KCachegrind is gone"; }
import -window root +dither -colors 128 "$picture"
grep -iE 'parse|callgrind' kcachegrind.log && fail "KCachegrind complains"
echo "look at $picture"
