# 100,000 threads that begin and end, and 500 processes at once: tests/crowd.sh at length.
ENDING=${ENDING:-100000} AT_ONCE=${AT_ONCE:-500} exec bash "$(dirname "$0")/../crowd.sh"
