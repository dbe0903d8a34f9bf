"""Times of calls, and ranges of times, as a browser shows them."""

import json
import re
import sys

from browser import run_commands
from report import HEADING, page, until

QUANTILES = ("p50_ns", "p90_ns", "p99_ns", "p999_ns")


def functions_of(path, name=""):
    """By name, of the part with that one."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    for part in profile["parts"]:
        found = {profile["functions"][row["function"]]["name"]: row for row in part["functions"]}
        if not name or name in found:
            return found
    raise AssertionError(name)


def near(shown, ns):
    """What is shown is ns, but for the last digit of three."""
    number, unit = shown.split(" ")
    value = float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert abs(value - ns) <= 0.006 * ns + 1, (shown, ns)


TABLE = """return [...document.querySelectorAll('.times-table tbody tr')]
    .map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"""


def table(browser, functions):
    """The longest first, with the same figures."""
    rows = browser.run(TABLE)
    timed = {name: row for name, row in functions.items() if row.get("timed_calls")}
    assert sorted(row[0] for row in rows) == sorted(timed), (rows, sorted(timed))
    longest = [timed[row[0]]["longest_call_ns"] for row in rows]
    assert longest == sorted(longest, reverse=True), rows
    for row in rows:
        name, _, calls, *quantiles, most, ended = row
        figures = timed[name]
        assert int(calls.replace(",", "")) == figures["timed_calls"], row
        for text, key in zip(quantiles, QUANTILES):
            near(text, figures[key])
        near(most, figures["longest_call_ns"])
        assert abs(float(ended.removesuffix(" s")) * 1e9 - figures["longest_call_at_ns"]) < 1e6, (row, figures)
    return timed


def visit(browser, name):
    browser.run("""const search = document.getElementById('search');
        search.value = arguments[0]; search.oninput();
        const row = [...document.querySelectorAll('#list .row')].find(row => row.title === arguments[0]);
        row.click(); search.value = ''; search.oninput();""", name)
    until(browser, HEADING, name)


def function(browser, name, figures):
    visit(browser, name)
    facts = browser.run("return [...document.querySelectorAll('.times .facts b')].map(fact => fact.textContent)")
    for text, key in zip(facts, (*QUANTILES, "longest_call_ns"), strict=True):
        near(text, figures[key])
    titles = browser.run("""return [...document.querySelectorAll('.times-picture rect title')]
        .map(title => title.textContent)""")
    counts = [int(re.fullmatch(r".+ to .+: ([\d,]+) calls?", title)[1].replace(",", "")) for title in titles]
    assert sum(counts) == figures["timed_calls"], titles
    # Further right is longer, higher is more calls, and nothing is outside.
    bars = browser.run("""return [...document.querySelectorAll('.times-picture rect')].map(rect =>
        ['x', 'y', 'width', 'height'].map(side => +rect.getAttribute(side)))""")
    assert [bar[0] for bar in bars] == sorted(bar[0] for bar in bars)
    assert all(bar[0] >= 0 and bar[0] + bar[2] <= 1002 and bar[1] >= 0 for bar in bars), bars
    assert max(zip(counts, bars))[1][3] == max(bar[3] for bar in bars)
    lines = browser.run("return [...document.querySelectorAll('.quantile')].map(line => parseFloat(line.style.left))")
    assert len(lines) == 4 and lines == sorted(lines), lines
    # The mark: from where the time line begins to its end.
    place, end = browser.run("""return [parseFloat(document.querySelector('.timeline .longest').style.left),
        document.querySelector('.timeline p').lastElementChild.textContent]""")
    number, unit = end.split(",")[0].split(" ")
    whole = float(number) * {"ms": 1e6, "s": 1e9}[unit]
    expected = 100 * figures["longest_call_at_ns"] / whole
    assert abs(place - expected) < 0.5 + 0.006 * expected, (place, expected)


def ranges(browser, functions):
    """Self and total at the function, and in the list."""
    name = max(functions, key=lambda name: functions[name]["self_ns"])
    visit(browser, name)
    facts = browser.run("""return [...document.querySelectorAll('.facts div')].slice(0, 2)
        .map(fact => fact.querySelector('b span').title)""")
    for title, key in zip(facts, ("self", "total")):
        low, high, samples = re.fullmatch(r"(.+) to (.+) in 19 of 20 cases: ([\d,]+) samples?", title).groups()
        near(low, functions[name][f"{key}_range_ns"][0])
        near(high, functions[name][f"{key}_range_ns"][1])
        assert int(samples.replace(",", "")) > 10, title

    unmet = [name for name, row in functions.items() if not row["total_ns"] and row["calls"]]
    assert unmet, functions
    visit(browser, unmet[0])
    text = browser.run("return document.querySelector('.facts b').textContent")
    limit = functions[unmet[0]]["self_range_ns"][1]
    number, unit = re.fullmatch(r"< ([\d.]+) (\S+)", text).groups()
    value = float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert limit <= value * 1.000001 and value < limit * 1.11, (text, limit)
    shares = browser.run("""return [...document.querySelectorAll('#list .row')].find(row => row.title === arguments[0])
        .querySelector('.self').textContent""", unmet[0])
    assert re.fullmatch(r"<[\d.]+", shares), shares
    browser.run("location.hash = ''")
    until(browser, "return document.querySelector('.graph')")
    rows = browser.run("""return [...document.querySelector('.graph').parentElement
        .querySelectorAll('.rows tr')].map(row => row.querySelector('.self').textContent)""")
    assert rows and not [row for row in rows if row.startswith("<")], rows  # most time: not what none met


def timed(url, profile, merged, threads):
    with page(url, profile) as browser:
        functions = functions_of(merged)
        for name, figures in table(browser, functions).items():
            function(browser, name, figures)
        visit(browser, "spin")
        assert not browser.run("return document.querySelectorAll('.times, .longest').length")
        ranges(browser, functions)

        # Of the thread that only calls again.
        browser.run("""const select = document.getElementById('thread'); location.hash = '';
            select.value = [...select.options].map(option => option.value).filter(value => /^part/.test(value)).at(-1);
            select.onchange();""")
        (row,) = browser.run(TABLE)
        assert row[0] == "again" and row[2] == "1,010", row
        second = functions_of(threads, "in_thread")
        assert table(browser, second)["again"]["timed_calls"] == 1010


def untimed(url, profile):
    with page(url, profile) as browser:
        assert not browser.run("return document.querySelectorAll('.times-table').length")
        visit(browser, "serves")
        assert not browser.run("return document.querySelectorAll('.times, .longest').length")
        assert not browser.run("return document.querySelectorAll('.facts [title]').length")  # no samples: no range


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
