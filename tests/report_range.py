"""The report's samples one by one: read by themselves, and as its page shows them."""

import os
import re
import sys

from browser import run_commands
from report import HEADING, LEVELS, damage, data_of, page, until  # damage is a command
from report_widths import narrow, on_page  # narrow is a command here, too


def data_in(path):
    if path.endswith("data.js"):
        path = os.path.dirname(path)
    return data_of(path)


def numbers(text):
    found, number, scale = [], 0, 1
    for character in text:
        digit = LEVELS.index(character)
        number += digit % 32 * scale
        scale *= 32
        if digit < 32:
            found.append(number)
            number, scale = 0, 1
    assert scale == 1, text[-10:]
    return found


def decoded(part):
    """Of each sample: when in µs, ns, stack, spot. Of each stack its functions, of each spot offset, file, line."""
    table = part["hits"]
    times, at = [], 0
    for difference in numbers(table["at"]):
        at += difference
        times.append(at)
    to_and_fro = lambda number: -(number + 1) // 2 if number % 2 else number // 2
    ns = [table["usual"] + 1000 * to_and_fro(number) for number in numbers(table["ns"])] or [table["usual"]] * len(times)
    assert min(ns) >= 0
    stacks, way = [[]], []
    for up, function in zip(numbers(table["up"]), numbers(table["function"]), strict=True):
        assert up <= len(way)
        way = way[:len(way) - up] + [function]
        stacks.append(way)
    places, place = [], 0
    for number in numbers(table["stack"]):
        place += to_and_fro(number)
        places.append(place)
    assert not places or 0 <= min(places) and max(places) < len(stacks)
    within = numbers(table["spot"])
    counts = {}
    for stack, spot in zip(places, within, strict=True):
        function = stacks[stack][-1] if stack else 0
        counts[function] = max(counts.get(function, 0), spot + 1)
    first, begin = {}, 0
    for function in sorted(counts):
        first[function] = begin
        begin += counts[function]
    spots = list(zip(*(numbers(table[name]) for name in ("offset", "file", "line")), strict=True))
    assert len(spots) == begin, (len(spots), begin)
    return [(when, worth, stacks[stack], spots[first[stacks[stack][-1] if stack else 0] + spot])
            for when, worth, stack, spot in zip(times, ns, places, within, strict=True)]


def columns(path, *complete):
    """Whatever was recorded, all that is referred to is there; and of a whole recording nearly all time."""
    data = data_in(path)
    functions, files = len(data["functions"]["name"]), len(data["files"]["path"])
    count = 0
    for part in data["parts"]:
        if not part["hits"]:
            continue
        for _, worth, stack, (_, file, _) in decoded(part):
            assert all(function < functions for function in stack) and file < files
            count += worth > 0
        if complete:
            ns = sum(hit[1] for hit in decoded(part))
            assert 0.95 * part["ns"] <= ns <= 1.05 * part["ns"], (ns, part["ns"])
    assert count or not complete, "there are no samples"


@on_page
def loads(browser):
    """Whatever there is: its overview, and the first function."""
    until(browser, "return document.querySelector('.graph')")
    browser.run("document.querySelector('#list .row')?.click()")
    browser.run("return document.querySelector('#main h1').textContent")


@on_page
def without(browser):
    """No control that does nothing, and no column that stays empty."""
    for place in "", "#f1":
        browser.run("location.hash = arguments[0]", place)
        until(browser, "return document.querySelector(arguments[0])", "#main .code" if place else "#main .graph")
        assert browser.run("return document.querySelectorAll('.choosable, .range-layer, .own, .hint, .others, .inlined').length") == 0
    assert browser.run("return document.querySelectorAll('#help .of-range').length") == 0
    browser.run("location.hash = '#f1@1000-2000'")
    until(browser, "return location.hash === '#f1'")
    assert browser.run("return document.getElementById('range').hidden")


def open_function(browser, name):
    browser.run("""document.getElementById('search').value = ''; document.getElementById('search').oninput();
        document.querySelector('[data-tab=functions]').click();
        [...document.querySelectorAll('#list .row')].find(row => row.title === arguments[0]).click()""", name)
    until(browser, HEADING, name)
    until(browser, "return document.querySelector('.code .line')")


# Lines in sight that have a time of their own: [time, text], the widest bar first.
HOTTEST = """return [...document.querySelectorAll('.code .line')].filter(line => line.querySelector('.own.heat'))
    .map(line => [parseFloat(line.querySelector('.own').style.getPropertyValue('--w')), line.querySelector('.text').textContent,
        line.querySelector('.own').textContent, line.querySelector('.own [title]').title])
    .sort((a, b) => b[0] - a[0])"""


@on_page
def lines(browser):
    open_function(browser, "hot")
    until(browser, "return document.querySelector('.code .own.heat')")
    found = browser.run(HOTTEST)
    assert found[0][0] == 100 and "the hot line" in found[0][1], found
    assert re.fullmatch(r"[\d.]+ m?s", found[0][2]) and "in 19 of 20 cases" in found[0][3], found
    assert browser.run("return document.querySelector('.others, .inlined')") is None

    # What was inlined from a header is named, and leads to its text.
    open_function(browser, "inlining")
    inlined = browser.run("return [...document.querySelectorAll('.inlined li')].map(item => item.textContent)")
    assert re.fullmatch(r"remainder_of [\d.]+ m?s", inlined[0]), inlined
    assert re.fullmatch(r"mixed_in_header (< )?[\d.]+ m?s total [\d.]+ m?s", inlined[1]), inlined
    shown = browser.run("return [...document.querySelectorAll('.from-files a')].map(link => link.textContent)")
    assert shown and all(re.fullmatch(r"two_phases\.h:\d", text) for text in shown), shown
    browser.click(".from-files a")
    until(browser, HEADING, "two_phases.h")
    until(browser, "return document.querySelector('.code .own.heat')")
    found = browser.run(HOTTEST)
    assert found[0][0] == 100 and "the header's line" in found[0][1], found


@on_page
def instructions(browser):
    """Where no source is shown."""
    open_function(browser, "hot")
    until(browser, "return document.querySelector('.code .own.heat')")
    found = browser.run(HOTTEST)
    assert found[0][0] == 100 and len(found) > 2, found
    assert any(re.match(r"div\b", line[1]) or line[0] > 20 for line in found), found


def expected(data, parts, begin, end):
    """Of samples in a range of time: ns, and by name self and total."""
    all_ns, own, total = 0, {}, {}
    for number in parts:
        if not data["parts"][number]["hits"]:
            continue
        for at, worth, stack, _ in decoded(data["parts"][number]):
            if not begin <= at < end:
                continue
            all_ns += worth
            names = [data["functions"]["name"][function] for function in stack]
            if names:  # else it is the thread's root's: it was in none of the functions
                own[names[-1]] = own.get(names[-1], 0) + worth
            for name in set(names):
                total[name] = total.get(name, 0) + worth
    return all_ns, own, total


ROWS = """return [...document.querySelectorAll('#list .row')].map(row =>
    [row.title, ...[...row.querySelectorAll('.figure')].map(figure => figure.textContent)])"""


def compare(browser, data, parts, begin, end):
    all_ns, own, total = expected(data, parts, begin, end)
    rows = browser.run(ROWS)
    assert {row[0] for row in rows} == set(total), (rows, total)
    for name, _, shown_self, shown_total in rows:
        assert abs(float(shown_total) - 100 * total[name] / all_ns) < 0.06, (name, shown_total, total[name], all_ns)
        if name in own:
            assert abs(float(shown_self) - 100 * own[name] / all_ns) < 0.06, (name, shown_self, own[name], all_ns)
        else:
            assert shown_self.startswith("<"), (name, shown_self)
    return rows


def chosen(browser):
    return tuple(map(int, re.search(r"@(\d+)-(\d+)$", browser.run("return location.hash")).groups()))


def chosen_range(url, profile, path):
    data = data_in(path)
    parts = [*range(len(data["parts"]))]
    hits = [hit for part in data["parts"] for hit in decoded(part)]
    number = data["functions"]["name"].index
    last_early = max(at for at, _, stack, _ in hits if number("early") in stack)
    first_late = min(at for at, _, stack, _ in hits if number("late") in stack)
    end = max(at for at, _, _, _ in hits)
    assert last_early < first_late < end
    with page(url, profile) as browser:
        walk_ranges(browser, data, parts, last_early, end)


def walk_ranges(browser, data, parts, last_early, end):
    names = [row[0] for row in browser.run(ROWS)]
    assert "early" in names and "late" in names
    assert browser.run("return document.getElementById('range').hidden")

    # A click is no range; dragging is, in either direction.
    browser.drag(".choosable", 0.5, 0.5)
    assert browser.run("return document.getElementById('range').hidden")
    last_share = (last_early + 10000) / browser.run("""const [value, unit] = document.querySelector('.timeline p > span:last-child').textContent.split(' ');
        return value * (unit === 's' ? 1e6 : 1e3)""")
    browser.drag(".choosable", last_share + 0.02, 1.02)
    until(browser, "return !document.getElementById('range').hidden")
    begin, over = chosen(browser)
    assert begin > last_early and over >= end
    rows = compare(browser, data, parts, begin, over)
    assert "late" in {row[0] for row in rows} and "early" not in {row[0] for row in rows}
    assert re.match(r"\d+\.\d{3} m?s to \d+\.\d{3} m?s of [\d.]+ m?s", browser.text("#range-text").replace(",", "")), browser.text("#range-text")
    graph = browser.run("return [...document.querySelectorAll('[data-graph=functions]')].map(button => button.click()) && [...document.querySelectorAll('.graph .node title')].map(title => title.textContent.split('\\n')[0])")
    assert "hot" in graph and "early" not in graph, graph

    # It is kept from view to view.
    open_function(browser, "hot")
    assert chosen(browser) == (begin, over)
    callers = browser.run("return [...document.querySelectorAll('.walk section:first-child td:first-child')].map(cell => cell.textContent)")
    assert callers == ["late"], callers
    found = browser.run(HOTTEST)
    assert "the hot line" in found[0][1], found
    whole_time = browser.run("return document.querySelector('.facts .self b').textContent")
    browser.click(".walk section:first-child td:first-child a")
    until(browser, HEADING, "late")
    assert chosen(browser) == (begin, over)
    for tab, least in ("files", 1), ("modules", 1):
        browser.run("document.querySelector(`[data-tab=${arguments[0]}]`).click(); document.querySelector('#list .row').click()", tab)
        until(browser, "return location.hash[1] === arguments[0]", {"files": "s", "modules": "m"}[tab])
        assert chosen(browser) == (begin, over)
        names = browser.run("return [...document.querySelectorAll('.walk td:first-child, .page td:first-child')].map(cell => cell.textContent)")
        assert len(names) >= least and "early" not in names, names
    browser.run("document.querySelector('[data-tab=functions]').click()")

    # Escape takes it away, here and for what comes; back, it is there again.
    open_function(browser, "hot")
    browser.key("\ue00c")
    until(browser, "return document.getElementById('range').hidden && !location.hash.includes('@')")
    until(browser, "return document.querySelector('.facts .self b').textContent !== arguments[0]", whole_time)
    callers = browser.run("return [...document.querySelectorAll('.walk section:first-child td:first-child')].map(cell => cell.textContent)")
    assert sorted(callers) == ["deep", "early", "late"], callers
    browser.key("[")
    until(browser, "return !document.getElementById('range').hidden")
    assert chosen(browser) == (begin, over)
    browser.click("#range-all")
    until(browser, "return document.getElementById('range').hidden")
    browser.key("o")
    until(browser, "return document.querySelector('.graph')")
    assert "@" not in browser.run("return location.hash")

    # A function's bars choose, too; < goes to what was before.
    open_function(browser, "early")
    browser.drag(".choosable", 0.3, 0.1)
    until(browser, "return location.hash.includes('@')")
    begin, over = chosen(browser)
    rows = compare(browser, data, parts, begin, over)
    assert "early" in {row[0] for row in rows} and "late" not in {row[0] for row in rows}
    # deep is recursive: its total counts each sample once.
    (deep,) = [row for row in rows if row[0] == "deep"]
    assert float(deep[3]) < 70, deep
    browser.key("<")
    until(browser, "return !location.hash.endsWith(arguments[0])", f"@{begin}-{over}")
    before = chosen(browser)
    assert before == (max(0, begin - (over - begin)), max(0, begin - (over - begin)) + over - begin), before

    # An address that names a range; one that makes no sense names none.
    for wrong in "@5-5", "@9-2", "@x", "@-5":
        browser.run("location.hash = ''")
        browser.key("\ue00c")
        browser.run("location.hash = arguments[0]", "#f1" + wrong)
        until(browser, "return location.hash === '#f1' && document.getElementById('range').hidden")
    browser.run("location.hash = arguments[0]", f"#@{last_early + 1}-{end + 1}")
    until(browser, "return !document.getElementById('range').hidden")
    compare(browser, data, parts, last_early + 1, end + 1)
    # Without a sample in it.
    browser.run("location.hash = arguments[0]", f"#@{end + 100}-{end + 200}")
    until(browser, "return document.getElementById('count').textContent === '0'")
    assert browser.text("#range-note") == "No sample was taken in it."


def hooked_range(url, profile, path):
    """Calls are known for the whole run, and for no range, which the page says once; bars are those of slices."""
    data = data_in(path)
    number = data["functions"]["name"].index
    hits = [hit for part in data["parts"] for hit in decoded(part)]
    begin = max(at for at, _, stack, _ in hits if number("early") in stack) + 1
    end = max(hit[0] for hit in hits) + 1
    assert data["slices"] and begin < max(at for at, _, stack, _ in hits if number("inlining") in stack)
    with page(url, profile) as browser:
        assert all(re.fullmatch(r"[\d,.]+( [GM])?", row[1]) for row in browser.run(ROWS))
        browser.run("location.hash = arguments[0]", f"#@{begin}-{end}")
        until(browser, "return !document.getElementById('range').hidden")
        rows = compare(browser, data, [*range(len(data["parts"]))], begin, end)
        assert {row[1] for row in rows} == {"–"}, rows
        assert "early" not in {row[0] for row in rows} and "inlining" in {row[0] for row in rows}
        assert browser.run("return document.body.innerText.split('calls are not known for a range').length") == 2
        open_function(browser, "late")
        cells = browser.run("return [...document.querySelectorAll('.walk td')].map(cell => cell.textContent)")
        assert "–" in cells and "hot" in cells and "inlining" in cells and not set(cells) & {"deep", "early"}, cells
        # Where a function calls another from one place only, the line has its figures.
        until(browser, "return document.querySelector('.code .chip')")
        chips = browser.run("return [...document.querySelectorAll('.code .line')].filter(line => line.querySelector('.chip')).map(line => line.querySelector('.text').textContent + line.querySelector('.chip').textContent)")
        assert any("inlining(" in chip and "→ inlining" in chip for chip in chips), chips


def threads(url, profile, path):
    """A range and a thread: both."""
    data = data_in(path)
    busiest = sorted(range(len(data["parts"])), key=lambda number: -data["parts"][number]["ns"])[:2]
    with page(url, profile) as browser:
        times = [hit[0] for hit in decoded(data["parts"][busiest[0]])]
        begin, end = times[len(times) // 4], times[len(times) // 2]
        browser.run("location.hash = arguments[0]", f"#@{begin}-{end}")
        until(browser, "return !document.getElementById('range').hidden")
        compare(browser, data, [*range(len(data["parts"]))], begin, end)
        for number in busiest:
            browser.run("const choice = document.getElementById('thread'); choice.value = 'part:' + arguments[0]; choice.onchange()", number)
            compare(browser, data, [number], begin, end)
        assert chosen(browser) == (begin, end)


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
