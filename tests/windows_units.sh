#!/bin/bash
# Unit tests of what calls Windows, X_test.c beside its X.c as elsewhere: of the agent and of the service.
# needs: wine wine64 gcc-mingw-w64-x86-64 gcc-mingw-w64-i686
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

# units FOLDER
units()
{
    local program name count=0
    for program in "$1"/*/*_test.exe; do
        name=$(basename "$program" .exe)
        LIMIT=60 plain_lines wine "$program" >"$name.said" 2>"$name.errors" || { cat "$name".* >&2; fail "$name"; }
        equal "$name" "$(tail -n 1 "$name.said")" passed
        count=$((count + 1))
    done
    ((count >= 5)) || fail "$count programs of unit tests"
}

windows_tools
wine_begins
units "$WINDOWS"

# The same of 32 bits.
windows32_tools || exit 0
wineserver -k || true # of this Wine; the next one has a folder of its own
wine32 || exit 0
wine_begins
units "$WINDOWS32"
