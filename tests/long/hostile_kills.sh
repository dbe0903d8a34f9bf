# 200 recordings with a process killed at a random moment: tests/front_kills.sh at length.
ROUNDS=${ROUNDS:-200} exec bash "$(dirname "$0")/../front_kills.sh"
