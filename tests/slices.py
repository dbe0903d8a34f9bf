"""What tests/slices.sh looks at.

    sums TRACE NS             each function's own time, and calls, in the slices beside TRACE and in it; NS: the
                              processor time of its first thread, which is not less than the slices'
    page PAGE FUNCTION…       the page's bars add up to its figures, and the functions ran in that order
"""

import json
import re
import struct
import sys

LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


class Numbers:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        coded = self.number()
        return coded >> 1 ^ -(coded & 1)


def slices_of(path):
    """(thread, function): own ticks of all slices. Each slice's are not less than 0."""
    data = open(path, "rb").read()
    sums, at = {}, 64
    for _ in range(struct.unpack_from("<I", data, 12)[0]):
        _, count, size = struct.unpack_from("<QII", data, at)
        entries, thread, function = Numbers(data, at + 16), 0, 0
        for _ in range(count):
            thread += entries.number()
            function += entries.signed()
            own, total = entries.signed(), entries.signed()
            entries.number()
            assert 0 <= own and 0 <= total, (thread, function, own, total)
            sums[thread, function] = sums.get((thread, function), 0) + own
        at += 16 + size
        assert at == entries.at
    assert at == len(data)
    return sums


def trace_of(path):
    """The same of the trace's nodes, and ticks a second."""
    data = open(path, "rb").read()
    sums = {}
    for block in range(4096, len(data), 4096):
        kind, thread, used = struct.unpack_from("<III", data, block)
        for unit in range({1: 3, 2: 1}.get(kind, used), used):
            function, ticks = struct.unpack_from("<12xI16xQ", data, block + 64 * unit)
            key = thread, function & 0x7FFFFFFF
            if key[1] and ticks:
                sums[key] = sums.get(key, 0) + ticks
    return sums, struct.unpack_from("<Q", data, 32)[0]


def sums(trace, ns):
    found = {key: ticks for key, ticks in slices_of(trace[:-4] + ".slices").items() if ticks}
    expected, rate = trace_of(trace)
    assert found == expected, (found, expected)
    first = sum(ticks for key, ticks in found.items() if key[0] == 1) * 1e9 / rate
    # it says its time before its end, and a sample stands for 4 ms where the clock is looked at so rarely
    assert int(ns) / 2 < first < int(ns) + 20e6, (first, ns)


def data_of(path):
    text = open(path, encoding="utf-8").read()
    for found in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S):
        data = json.loads(found)
        if isinstance(data, dict) and "slices" in data:
            return data
    raise SystemExit("no data in " + path)


def row(data, part, number, which):
    columns = [0.0] * data["slices"]["columns"]
    part = data["slices"]["parts"][part]
    for i, function in enumerate(part["id"]):
        if function == number:
            for at, level in enumerate(part[which][i]):
                columns[part["first"][i] + at] += part["peak"][i] * LEVELS.index(level) / 63
    return columns


def page(path, *order):
    data = data_of(path)
    assert data["sampled"] is True
    middles = {}
    for place, part in enumerate(data["parts"]):
        figures = part["functions"]
        for i, number in enumerate(figures["id"]):
            for which in ("self", "total"):
                bars = row(data, place, number, which)
                peak = max(row(data, place, number, "total"))
                # a level is off by half of one, or one where it is almost nothing
                error = peak / 63 * sum(bar > 0 for bar in bars) + 1
                assert abs(sum(bars) - figures[which][i]) <= error, (
                    data["functions"]["name"][number], which, sum(bars), figures[which][i])
            if place == 0 and sum(bars):
                middles[data["functions"]["name"][number]] = sum(
                    at * bar for at, bar in enumerate(bars)) / sum(bars)
    places = [middles[name] for name in order]
    assert places == sorted(places), places


{"sums": sums, "page": page}[sys.argv[1]](*sys.argv[2:])
