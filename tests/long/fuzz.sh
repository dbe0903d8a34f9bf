# 100,000 mutations of each seed: tests/fuzz.sh at length.
# needs: gcc binutils
CASES=${CASES:-100000} exec bash "$(dirname "$0")/../fuzz.sh"
