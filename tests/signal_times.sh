#!/bin/bash
# What is sampled of programs that look at their signals closely (signal_sight.sh): as long as they compute.
# alone: what it times would wait for the others
CASES_OF_SIGHT="stacks times full_masks"
. "$(dirname "$0")/signal_sight.sh"
