#!/bin/bash
# What is handed on: the archive of the sources builds Debian's package, which has all that is installed and
# works from where it lies; and a zip for Windows.
# needs: build-essential debhelper dpkg-dev fakeroot git gcc-mingw-w64-x86-64 lintian unzip wine wine64
# seconds: 80
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

# The sources as they are, in a repository of their own: meson dist takes what is committed.
top=$(cd "$TESTS/.." && pwd)
mkdir sources
if git -C "$top" rev-parse 2>/dev/null; then
    (cd "$top" && git ls-files -z --cached --others --exclude-standard) |
        (cd "$top" && xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
            tar -c --null -T -) | tar -x -C sources
else
    (cd "$top" && tar -c --exclude='./build*' .) | tar -x -C sources
fi
(cd sources && git init -q && git add -A &&
    git -c user.name=test -c user.email=test@localhost commit -q -m sources)
meson setup work sources >meson.log 2>&1 || { tail meson.log; fail "meson setup"; }
meson dist -C work --no-tests --formats gztar >meson.log 2>&1 || { tail meson.log; fail "meson dist"; }
mkdir packages
tar -xf work/meson-dist/umbra-*.tar.gz -C packages

# Without the debug information that would be stripped. What is in the package, and that it works from there, is the
# same without optimising; agents always are optimised.
(cd packages/umbra-* && DEB_CFLAGS_APPEND=-g0 \
    DEB_BUILD_OPTIONS="nocheck noautodbgsym noopt parallel=2" dpkg-buildpackage -b -us -uc) >debian.log 2>&1 ||
    { tail -n 30 debian.log; fail "dpkg-buildpackage"; }
lintian --fail-on error --allow-root packages/umbra_*.deb >lintian.log 2>&1 || { cat lintian.log; fail "lintian"; }

dpkg -x packages/umbra_*.deb root
files=$(cd root && find . -type f -o -type l | sort)
for wanted in bin/{call_trace_service,grinder,instrument,umbra} \
    lib/x86_64-linux-gnu/umbra/{libhooks.so,libhooks32.so,libattach.so,hooks.dll,call_trace_service.exe} \
    lib/systemd/user/call_trace_service.{service,socket} \
    share/man/man1/{call_trace_service,grinder,instrument,umbra}.1.gz \
    share/bash-completion/completions/{call_trace_service,grinder,instrument,umbra} \
    share/fish/vendor_completions.d/{call_trace_service,grinder,instrument,umbra}.fish \
    share/zsh/vendor-completions/_umbra; do
    grep -qx "./usr/$wanted" <<<"$files" || fail "not in the package: $wanted"
done
# Addresses of functions are looked up at the start, and cannot be overwritten later.
for tool in call_trace_service grinder instrument umbra; do
    readelf -d "root/usr/bin/$tool" >dynamic
    contains dynamic 'BIND_NOW|FLAGS.* NOW'
    equal "version of $tool" "$("root/usr/bin/$tool" --version | sed 's/.* //')" 0.1.0
done
# The pages, whose links lead somewhere.
doc=root/usr/share/doc/umbra
for page in README.md docs/{architecture,front,report}.md docs/kcachegrind.png docs/profile.schema.json; do
    [[ -s $doc/$page ]] || fail "not in the package: $page"
done
for link in $(grep -oE '\]\(docs/[a-z-]+\.(md|png)' "$doc/README.md" | sed 's/^](//'); do
    [[ -e $doc/$link ]] || fail "README.md: no $link in the package"
done
cmp root/usr/lib/systemd/user/call_trace_service.service "$top/samples/systemd/call_trace_service.service"

# Each recorded by what was unpacked.
bin=$work/root/usr/bin
build fib "$top/samples/fib.c"
"$bin/instrument" native/fib -o instrumented/fib >line
run native ./fib
run instrumented "$bin/call_trace_service" start --trace-dir="$work/traces" -- ./fib
compare_runs "fib, by the package"
"$bin/grinder" --mode=profile --output-file=callgrind traces/*.bin
equal "calls of fib" "$(calls_of fib)" 2692537
"$bin/instrument" --agent="$work/root/usr/lib/x86_64-linux-gnu/umbra/libhooks.so" --bundle \
    native/fib -o bundled >line
if gcc -m32 -g "$top/samples/fib.c" -o native/fib32 && native/fib32 >stdout; then
    "$bin/instrument" native/fib32 -o instrumented/fib32 >line
    rm -r traces
    "$bin/call_trace_service" start --trace-dir="$work/traces" -- instrumented/fib32 >stdout
    "$bin/grinder" --mode=profile --output-file=callgrind traces/*.bin
    equal "calls of fib, of 32 bits" "$(calls_of fib)" 2692537
else
    echo 'skipped: a program of 32 bits, which this kernel does not execute'
fi

windows_tools
(
    flock 9
    meson compile -C "$WINDOWS" windows_zip
) 9>"$BUILD/windows.lock" >meson.log 2>&1 || { tail meson.log; fail "windows_zip"; }
unzip -q -d there "$WINDOWS"/umbra-*-windows-x86_64.zip
equal "zip" "$(cd there && echo *)" "README.txt call_trace_service.exe hooks.dll"
equal "lines to read" "$(wc -l <there/README.txt)" 5
wine_begins
x86_64-w64-mingw32-gcc -O2 -g "$top/samples/fib.c" -o native/fib.exe
"$bin/instrument" native/fib.exe -o app.instr.exe >line 2>notes
cmp hooks.dll root/usr/lib/x86_64-linux-gnu/umbra/hooks.dll
cp app.instr.exe there
(cd there && timeout 120 wine call_trace_service.exe start -- app.instr.exe) >there.stdout
rm -r traces
mv there/traces .
"$bin/grinder" --mode=profile --output-file=callgrind --path-map="Z:$work/there=$work" traces/*.bin
equal "calls of fib.exe" "$(calls_of fib)" 2692537
