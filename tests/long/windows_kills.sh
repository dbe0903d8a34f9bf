# needs: wine wine64 gcc-mingw-w64-x86-64
# 400 ends of Windows programs at random moments: tests/windows_kills.sh at length.
ROUNDS=${ROUNDS:-400} exec bash "$(dirname "$0")/../windows_kills.sh"
