# Gives each sample of perf, of a run without Umbra, its function in a recording of Umbra, by build-id and offset in
# the file (docs/formats.md):
#
#     perf record --buildid-mmap -o samples -- ./program
#     umbra record --output=recording -- ./program
#     umbra report recording --output-format=json -o profile.json
#     perf script -i samples -F ip --show-mmap-events | python3 perf_join.py profile.json | sort | uniq -c
#
#          25 program!0x40115d
#          44 program!0x401136
#
# `(not recorded)` is the kernel, files that were not instrumented, and functions that nobody called or that are not
# hooked. The newest mapping of an address counts. For several programs at a time, keep a list of mappings for each
# process (-F pid,ip).
import bisect, json, math, re, sys
maps, functions = [], sorted((f["build_id"] or "", int(f["offset"], 16), f["size"] or 1, f["name"])
                             for f in json.load(open(sys.argv[1]))["functions"] if f["offset"])
for line in sys.stdin:
    if m := re.search(r"MMAP2 .*\[0x(\w+)\(0x(\w+)\) @ (\w+) <(\w+)>", line):
        maps.insert(0, (int(m[1], 16), int(m[2], 16), int(m[3], 0), m[4]))
    elif m := re.match(r" *([0-9a-f]+)$", line):
        at = next(((i, int(m[1], 16) - a + o) for a, n, o, i in maps if 0 <= int(m[1], 16) - a < n), ("", 0))
        f = functions[bisect.bisect(functions, (*at, math.inf)) - 1]
        print(f[3] if f[0] == at[0] and f[1] <= at[1] < f[1] + f[2] else "(not recorded)")
