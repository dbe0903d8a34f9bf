# 200,000 watched calls: tests/front_calls.sh at length.
SEED=${SEED:-1} CALLS=${CALLS:-200000} exec bash "$(dirname "$0")/../front_calls.sh"
