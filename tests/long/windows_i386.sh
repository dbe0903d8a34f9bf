#!/bin/bash
# Windows programs of 32 bits, by Microsoft's compilers and rustc, under a 32-bit Wine: output, exit status and
# files are as natively, without a service and recorded, and every thread balances. Prints how much of each is hooked.
# WINE32_ROOT: a folder where Debian's packages for that Wine are unpacked, which takes minutes otherwise.
# needs: gcc-mingw-w64-i686 npm
# seconds: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/fetched.sh"
. "$TESTS/wine.sh"

windows32_tools || exit 0
packages=(wine32 libwine libz-mingw-w64 libasound2 libbrotli1 libbsd0 libbz2-1.0 libc6 libcap2 libdbus-1-3 libexpat1 libffi8
    libfontconfig1 libfreetype6 libgcc-s1 libgcrypt20 libgl1 libglvnd0 libglx0 libgmp10 libgnutls30 libgpg-error0 libhogweed6
    libidn2-0 liblz4-1 liblzma5 libmd0 libncurses6 libnettle8 libp11-kit0 libpng16-16 libsystemd0 libtasn1-6 libtinfo6
    libudev1 libunistring2 libunwind8 libvulkan1 libx11-6 libxau6 libxcb1 libxdmcp6 libxext6 libzstd1 zlib1g)
root=$work/root
if [[ ${WINE32_ROOT:-} ]]; then
    root=$WINE32_ROOT
else
    fetched "$root" "${packages[@]}" || exit 0
    # Wine takes a library for one of its own by a mark, which the package's installation would make.
    zlib=$root/usr/lib/i386-linux-gnu/wine/i386-windows/zlib1.dll
    cp "$root/usr/i686-w64-mingw32/lib/zlib1.dll" "$zlib"
    printf 'Wine builtin DLL\0' | dd of="$zlib" bs=1 seek=64 conv=notrunc status=none
fi
cat >wine32.run <<END
#!/bin/sh
export LD_LIBRARY_PATH=$root/usr/lib/i386-linux-gnu:$root/lib/i386-linux-gnu
exec $root/usr/lib/wine/wine "\$@"
END
cat >wineserver.run <<END
#!/bin/sh
export LD_LIBRARY_PATH=$root/usr/lib/i386-linux-gnu:$root/lib/i386-linux-gnu
exec $root/usr/lib/wine/wineserver32 "\$@"
END
chmod 0755 wine32.run wineserver.run
export WINE32=$work/wine32.run WINESERVER=$work/wineserver.run
wine32
if ! wineserver --version >version 2>&1; then
    echo 'skipped: programs of 32 bits, which this kernel does not execute'
    exit 0
fi
wine_begins

# As scripts of their own, each with a Wine of its own. Those of Wine's own dialogues that no screen shows are off.
export WINEDLLOVERRIDES='mscoree,mshtml,winedbg='
for script in windows_i386_images windows32_agent; do
    env -u WINEPREFIX WINEARCH=win32 timeout -k 10 900 bash "$TESTS/$script.sh" >script.log 2>&1 ||
        { tail -n 20 script.log >&2; fail "$script"; }
    ! grep -H '^skipped' script.log || fail "$script ran nothing"
    echo "$script: passed"
done

AGENT=$WINDOWS32/hooks/hooks32.dll
LIMIT=300
differences=()

# has NAME@VERSION: npm's package is in packages/NAME. False, with a line that says so: it cannot be had.
has()
{
    local folder=packages/${1%@*} try
    [[ -e $folder ]] && return
    mkdir -p "$folder"
    for try in 1 2 3; do # registries are out of reach now and then
        (cd "$folder" && timeout 300 npm pack --loglevel=error "$1" >npm.name 2>npm.log &&
            tar -xf "$(<npm.name)" --strip-components=1) && return
    done
    rm -rf "$folder"
    echo "skipped: npm's $1, which cannot be had"
    return 1
}

# listed NAME: what instrument says of its functions: the share of hooked ones, without what is no function of the
# program, and how much of its code (and the tables among it) is of functions that were found
listed()
{
    local code
    code=$(i686-w64-mingw32-objdump -h "native/$1" | awk '$2 == ".text" { print $3 }')
    awk -F '\t' -v name="$1" -v code="$((16#$code))" '
        { found += $2 }
        $3 == "hooked" { hooked++ }
        $3 == "skipped" && $4 != "fragment" && $4 != "plt" { why[$4]++; left++ }
        END {
            printf "%s: %d of %d functions hooked, %.2f%%, but for handlers of exceptions %.2f%%; %.0f%% of the code found; left alone:", name, hooked,
                hooked + left, 100 * hooked / (hooked + left), 100 * hooked / (hooked + left - why["unwinder"]),
                100 * found / code
            for (reason in why)
                if (why[reason])
                    printf " %s %d", reason, why[reason]
            print ""
            exit !(hooked / (hooked + left - why["unwinder"]) >= 0.98)
        }' list || fail "$1: less than 98% of the functions are hooked"
}

# program NAME PATH: native/NAME and instrumented/NAME, and nothing else there
program()
{
    rm -rf native instrumented undone
    mkdir native instrumented
    cp "packages/$2" "native/$1"
    chmod 0755 "native/$1"
    instrument "native/$1" -o "instrumented/$1" >line 2>notes
    instrument --verify "instrumented/$1" >said
    instrument --undo "instrumented/$1" -o undone
    cmp undone "native/$1"
    instrument --list "native/$1" >list
    listed "$1"
}

# input COMMAND…: made in both folders
input()
{
    (cd native && "$@")
    (cd instrumented && "$@")
}

# same_files WHAT NAME
same_files()
{
    diff -r --exclude="$2" --exclude='hooks*.dll' native instrumented >files.diff ||
        { cat files.diff >&2; fail "$1: other files"; }
}

# recorded_as WHAT NAME ARGUMENT…: by the service, with $SERVICE_OPTIONS
recorded_as()
{
    local what=$1
    shift
    rm -rf traces instrumented
    cp -rp before instrumented
    # shellcheck disable=SC2086
    run instrumented "$BUILD/service/call_trace_service" start $SERVICE_OPTIONS --trace-dir="$work/traces" -- "./$1" "${@:2}"
    compare_runs "$what"
    same_files "$what" "$1"
    balanced
}

# both NAME ARGUMENT…: natively, instrumented, and recorded with either timing from the same files on. One that differs
# is named, and the others go on.
both()
{
    local status=0
    both_runs "$@" &
    wait $! || status=$? # and not `if ( … )`, where nothing that fails would end it
    rm -rf instrumented
    cp -rp native instrumented
    cp -p before/{"$1",hooks32.dll} instrumented
    ((status == 0)) || differences+=("$*")
}

both_runs()
{
    local begin=$SECONDS
    rm -rf before
    cp -rp instrumented before
    run native "$@"
    run instrumented "$@"
    compare_runs "$*"
    same_files "$*" "$1"
    SERVICE_OPTIONS=--timing=exact recorded_as "$* timed exactly" "$@"
    SERVICE_OPTIONS=--timing=adaptive recorded_as "$* timed adaptively" "$@"
    echo "$*: status $(<native.status), $(grep -c . native.stdout) lines, $(summed entries) calls" \
        "($(summed unwound) unwound, $(summed live) live, $(summed skipped) skipped) on $(grep -c ' holds' summary) threads," \
        "$((SECONDS - begin)) s"
}

# Lines end as they do here; process ids are others each time.
normalise()
{
    [[ $1 == *.status ]] || sed -i -E 's/\r+$//; s/^[0-9]+(\t[0-9]+\tfastlist)/N\1/' "$1"
}

sources()
{
    mkdir files
    cp "$TESTS"/programs/*.c files
    find files -exec touch -d '2024-01-02 03:04:05' {} +
}

if has 7zip-bin@5.2.0; then
    program 7za.exe 7zip-bin/win/ia32/7za.exe
    input sources
    both 7za.exe a -mmt1 archive.7z files
    both 7za.exe a -mmt1 -mtc- archive.zip files
    both 7za.exe a -mmt2 -m0=bzip2 threads.7z files
    both 7za.exe t archive.7z
    both 7za.exe t threads.7z
    both 7za.exe x -oout archive.7z
    [[ ! -e native/out ]] || diff -r native/out/files native/files
    damage()
    {
        head -c 3000 archive.7z >short.7z
        cp archive.7z broken.7z
        printf xxxx | dd of=broken.7z bs=1 seek=4000 conv=notrunc status=none
    }
    input damage
    both 7za.exe t short.7z
    both 7za.exe t broken.7z
    both 7za.exe t none.7z
    both 7za.exe zzz # throws, as do wrong parameters
    both 7za.exe a -mx=99x other.7z files
    both 7za.exe h -scrcSHA256 files
fi

# edits NAME FILE: version strings and numbers of a program are written, and read
edits()
{
    both "$1" copy.exe --set-version-string FileDescription Umbra --set-file-version 1.2.3.4 --set-product-version 5.6
    both "$1" none.exe --set-file-version 1.2.3.4
}

if has rcedit@4.0.1 && has windows-shortcuts@0.1.6; then
    program rcedit.exe rcedit/bin/rcedit.exe
    input cp "$work/packages/windows-shortcuts/lib/shortcut/Shortcut.exe" copy.exe
    edits rcedit.exe
    both rcedit.exe copy.exe --get-version-string FileDescription
fi

squirrel=electron-winstaller@5.4.4
if has $squirrel && has windows-shortcuts@0.1.6; then
    program rcedit_2014.exe electron-winstaller/vendor/rcedit.exe
    input cp "$work/packages/windows-shortcuts/lib/shortcut/Shortcut.exe" copy.exe
    edits rcedit_2014.exe
fi

if has $squirrel; then
    program WriteZipToSetup.exe electron-winstaller/vendor/WriteZipToSetup.exe
    input cp "$work/packages/electron-winstaller/vendor/Setup.exe" setup.exe
    input cp "$TESTS/lib.sh" files.zip
    both WriteZipToSetup.exe setup.exe files.zip
    both WriteZipToSetup.exe setup.exe none.zip
    both WriteZipToSetup.exe --copy-stub-resources setup.exe setup.exe
fi

if has $squirrel && has windows-shortcuts@0.1.6; then
    program StubExecutable.exe electron-winstaller/vendor/StubExecutable.exe
    input mkdir app-1.0.0
    input cp "$work/packages/windows-shortcuts/lib/shortcut/Shortcut.exe" app-1.0.0/StubExecutable.exe
    both StubExecutable.exe '/?'
fi

if has $squirrel; then
    program Setup.exe electron-winstaller/vendor/Setup.exe
    both Setup.exe --checkInstall
fi

if has node-notifier@10.0.1; then
    program snoretoast.exe node-notifier/vendor/snoreToast/snoretoast-x86.exe
    both snoretoast.exe -v
    both snoretoast.exe -h
    both snoretoast.exe -no -such -option
fi

if has node-notifier@10.0.1; then
    program notifu.exe node-notifier/vendor/notifu/notifu.exe
    both notifu.exe /p title /m message /d 1000
fi

if has windows-shortcuts@0.1.6; then
    program Shortcut.exe windows-shortcuts/lib/shortcut/Shortcut.exe
    both Shortcut.exe /F:a.lnk /A:C '/T:C:\windows\notepad.exe' /P:words /R:7 /D:words
    both Shortcut.exe /F:a.lnk /A:E /P:others
    both Shortcut.exe /F:a.lnk /A:Q
    both Shortcut.exe /F:none.lnk /A:Q
fi

if has win-ca@3.5.1; then
    program roots.exe win-ca/lib/roots.exe
    both roots.exe
fi

if has ps-list@9.0.0; then
    program fastlist.exe ps-list/vendor/fastlist-0.3.0-x86.exe
    both fastlist.exe
fi

# Its imports cannot be met here.
if has $squirrel; then
    program signtool.exe electron-winstaller/vendor/signtool.exe
fi

# By rustc for Microsoft's linker. This Wine has no bcryptprimitives.dll.
cat >random.c <<'END'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(void *bytes, ULONG size);
__declspec(dllexport) BOOL WINAPI ProcessPrng(void *bytes, SIZE_T size)
{
    return SystemFunction036(bytes, size);
}
END
i686-w64-mingw32-gcc -shared -O2 -Wl,--kill-at random.c -o bcryptprimitives.dll -ladvapi32
script()
{
    cp "$work/bcryptprimitives.dll" .
    mkdir scripts
    printf 'function f(a) {\n    return g(a) + g(1);\n}\n//# sourceMappingURL=x.js.map\n' >scripts/x.js
    echo '{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA"}' >scripts/x.js.map
}

if has @sentry/cli-win32-i686@3.8.0 && has $squirrel; then
    program sentry-cli.exe @sentry/cli-win32-i686/bin/sentry-cli.exe
    input script
    both sentry-cli.exe --help
    both sentry-cli.exe sourcemaps inject scripts
    input cp "$work/packages/electron-winstaller/vendor/signtool.exe" checked.exe
    both sentry-cli.exe debug-files check checked.exe
    both sentry-cli.exe debug-files check scripts/x.js
fi

if has @ast-grep/cli-win32-ia32-msvc@0.51.1; then
    program ast-grep.exe @ast-grep/cli-win32-ia32-msvc/ast-grep.exe
    input script
    input sources
    both ast-grep.exe run -p 'g($A)' -l js scripts --json
    both ast-grep.exe run -p 'return $A;' -l c -j 2 --json files/chains.c
    both ast-grep.exe run -p 'g($A)' -r 'h($A)' -l js -U scripts
    both ast-grep.exe run -p '(((' -l none scripts
fi

# By rustc and mingw, with a libgcc of its own.
if has clipboardy@2.3.0; then
    status=0
    instrument packages/clipboardy/fallbacks/windows/clipboard_i686.exe -o clipboard.exe >line 2>notes || status=$?
    equal "status for clipboard_i686.exe" "$status" 1
    contains notes 'with a libgcc of the image'
    echo 'clipboard_i686.exe: refused, as it should be'
fi

((${#differences[@]} == 0)) || fail "differ: $(printf '%s; ' "${differences[@]}")"
