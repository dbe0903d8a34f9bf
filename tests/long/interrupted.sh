# A signal at each single instruction: tests/interrupted.sh at length.
EVERY=1 exec bash "$(dirname "$0")/../interrupted.sh"
