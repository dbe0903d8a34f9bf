# 1,000 ends at random moments: tests/kills.sh at length.
ROUNDS=${ROUNDS:-1000} exec bash "$(dirname "$0")/../kills.sh"
