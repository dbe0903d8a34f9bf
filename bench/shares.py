"""Compares what bench/shares has measured: shares.py [--functions] PROGRAM FOLDER; or --head."""

import bisect
import collections
import csv
import glob
import math
import re
import statistics
import sys

LINE = "{:<10} {:>8} {:>8} {:>6} {:>6} {:>6}  {:>5} {:>5} {:>5}  {:>5} {:>5} {:>5}  {:>7} {:>5}"


def cpu(path):
    with open(path, encoding="ascii") as file:
        return sum(map(float, file.read().split()))


def read_all(path):
    """Seconds in functions and in hooks, of all processes."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return sum(float(s) for s in re.findall(r"^  samples .*% of ([0-9.]+) s", file.read(), re.M))


def read_functions(path):
    """Self times by (module, offset, size, name)."""
    times = collections.Counter()
    csv.field_size_limit(1 << 30)
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            place = (int(row["offset"], 16), int(row["size"] or 1)) if row["offset"] else (0, 0)
            times[row["module"], *place, row["function"]] += int(row["self_ns"])
    return times


class Known:
    """Which of the recorded functions is at an offset of a file."""

    def __init__(self, functions):
        self.by_module = collections.defaultdict(list)
        for module, offset, size, name in functions:
            self.by_module[module].append((offset, size, name))
        for in_one in self.by_module.values():
            in_one.sort()

    def find(self, module, at):
        functions = self.by_module.get(module, ())
        place = bisect.bisect(functions, (at, math.inf)) - 1
        if place < 0 or at >= functions[place][0] + functions[place][1]:
            return None
        return (module, *functions[place])


def read_samples(path, known):
    """Samples by function: of the innermost frame that is of a recorded one. None: no such frame."""
    counts, found, inside = collections.Counter(), None, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in [*file, "\n"]:
            frame = re.match(r"\s+([0-9a-f]+) \((.*)\)$", line)
            if frame:
                inside = True
                found = found or known.find(frame[2], int(frame[1], 16))
            elif inside:
                counts[found] += 1
                found, inside = None, False
    return counts


def total(counters):
    return sum(counters, collections.Counter())


def shares(counts, of=lambda function: function):
    result, all_known = collections.Counter(), sum(n for f, n in counts.items() if f)
    for function, count in counts.items():
        if function:
            result[of(function)] += count / all_known
    return result


def distance(a, b):
    return sum(abs(a[key] - b[key]) for key in {*a, *b}) / 2


def halves_apart(counts, of):
    return distance(shares(total(counts[::2]), of), shares(total(counts[1::2]), of))


def first_five(counts):
    return {function for function, _ in shares(counts).most_common(5)}


def main():
    *options, program, folder = sys.argv[1:]
    rounds = range(len(glob.glob(f"{folder}/functions.*")))
    recorded = [read_functions(f"{folder}/functions.{i}") for i in rounds]
    known = Known({function for times in recorded for function in times if function[2]})
    perf = [read_samples(f"{folder}/perf.{i}", known) for i in rounds]
    native = statistics.median(cpu(f"{folder}/native.{i}") for i in rounds)
    slow = statistics.median(cpu(f"{folder}/recorded.{i}") for i in rounds)
    ratio = statistics.median(sum(times.values()) / 1e9 / cpu(f"{folder}/recorded.{i}")
                              for i, times in enumerate(recorded))
    with_hooks = statistics.median(
        read_all(f"{folder}/summary.{i}") / cpu(f"{folder}/recorded.{i}") for i in rounds)
    figures = []
    for of in (lambda function: function), (lambda function: function[0]):
        figures += [distance(shares(total(recorded), of), shares(total(perf), of)),
                    halves_apart(perf, of), halves_apart(recorded, of)]
    agreed = first_five(total(perf[::2])) & first_five(total(perf[1::2]))
    same = agreed & first_five(total(recorded))
    none = sum(counts[None] for counts in perf) / sum(sum(counts.values()) for counts in perf)
    print(LINE.format(program, f"{native:.3f}", f"{slow:.3f}", f"{slow / native:.2f}", f"{ratio:.3f}",
                      f"{with_hooks:.3f}",
                      *(f"{figure:.3f}" for figure in figures), f"{len(same)}/{len(agreed)}",
                      f"{none:.3f}"), flush=True)
    if "--functions" in options:
        ours, theirs = shares(total(recorded)), shares(total(perf))
        for function in sorted({*ours, *theirs}, key=lambda f: -abs(ours[f] - theirs[f]))[:16]:
            print(f"    ours {ours[function]:7.2%}  perf {theirs[function]:7.2%}  "
                  f"{function[0].rsplit('/', 1)[-1]} {function[3]} {function[1]:#x}")


if sys.argv[1:] == ["--head"]:
    print(LINE.format("", "native", "recorded", "slower", "sum", "hooks", "funct", "perf", "ours", "modul", "perf",
                      "ours", "top 5", "none"))
else:
    main()
