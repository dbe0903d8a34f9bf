"""What of the code ran, as the report has it and as its page shows it."""

import csv
import re
import sys

from browser import run_commands
from report import HEADING, data_of, read, until
from report_widths import narrow, on_page  # narrow is a command here, too


def figures(path, blocks, lines):
    """Of each function, module and file the same figures as --mode=coverage, and the same lines."""
    data = data_of(path)
    cover, names = data["cover"], data["functions"]["name"]
    with open(blocks, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    expected = {row["function"]: (int(row["blocks"]), int(row["blocks_ran"])) for row in rows}
    shares = lambda kind: dict(zip(cover[kind]["id"], zip(cover[kind]["all"], cover[kind]["ran"], strict=True), strict=True))
    assert {names[f]: share for f, share in shares("functions").items()} == {
        name: share for name, share in expected.items() if name in names}
    assert len(shares("functions")) > 1
    (module,) = shares("modules").values()
    assert module == tuple(map(sum, zip(*expected.values()))), (module, expected)
    (section,) = re.findall(r"^SF:.*/covered\.c\n((?:.*\n)*?)end_of_record", read(lines), re.M)
    ran = dict(re.findall(r"^DA:(\d+),(\d)$", section, re.M))
    ((file, share),) = shares("files").items()
    assert data["files"]["path"][file].endswith("/covered.c")
    assert share == (len(ran), list(ran.values()).count("1")), (share, ran)
    assert cover["missed"] == [sorted(int(line) for line, did in ran.items() if did == "0")]


# Of each line in sight: its text, whether it is dimmed, and what is said of it.
LINES = """return [...document.querySelectorAll('.code .line .text')].map(text =>
    [text.textContent, getComputedStyle(text).opacity < 1, text.title])"""


def lines_of_file(browser):
    browser.run("document.querySelector('[data-tab=files]').click(); document.querySelector('#list .row').click()")
    until(browser, HEADING, "covered.c")
    until(browser, "return document.querySelector('.code .line')")
    shown, count = {}, browser.run("return document.querySelector('.code .virtual').offsetHeight / 20")
    for line in range(0, int(count), 10):
        browser.run("const code = document.querySelector('.code'); code.scrollTop = 20 * arguments[0]; code.onscroll()", line)
        for number, (text, dimmed, title) in zip(browser.run(
                "return [...document.querySelectorAll('.code .line .number')].map(number => +number.textContent)"),
                browser.run(LINES), strict=True):
            shown[number] = text, dimmed, title
    assert len(shown) == count, (len(shown), count)
    return shown


@on_page
def lines(browser, not_run):
    shown = lines_of_file(browser)
    function, dimmed = None, 0
    for _, (text, is_dimmed, title) in sorted(shown.items()):
        assert title == ("Never ran" if is_dimmed else ""), (text, title)
        dimmed += is_dimmed
        function = (re.findall(r"^COUNTED void (\w+)", text) or [function])[0]
        if "done = " in text:
            assert is_dimmed == ("/* never */" in text or function in not_run.split(",")), (function, text, is_dimmed)
        if not text.strip() or "#include" in text or "case" in text:
            assert not is_dimmed, text
    legend = browser.text(".legend")
    assert re.fullmatch(rf"Dimmed: {dimmed} of \d+ lines never ran", legend), (legend, dimmed)
    fact = browser.run("return [...document.querySelectorAll('.facts div')].map(fact => fact.textContent)")
    assert [text for text in fact if re.fullmatch(r"\d+% of \d+lines ran", text)], fact

    # Where functions and files are listed, and sorted by it.
    share = browser.run("const ran = document.querySelector('.walk td:last-child'); return [ran.textContent, ran.title]")
    assert re.fullmatch(r"\d+%", share[0]) and re.fullmatch(r"\d+ of \d+ blocks ran", share[1]), share
    for tab, of in ("files", "lines"), ("modules", "blocks"), ("functions", "blocks"):
        browser.run("document.querySelector(`[data-tab=${arguments[0]}]`).click()", tab)
        browser.run("document.querySelector('[data-sort=ran]').click()")
        cells = browser.run("return [...document.querySelectorAll('#list .ran')].map(cell => [cell.offsetWidth > 0, cell.textContent, cell.title])")
        assert cells and all(cell[0] for cell in cells), cells
        shares = [int(text[:-1]) for _, text, title in cells if title]
        assert shares and re.fullmatch(rf"\d+ of \d+ {of} ran", cells[0][2] or cells[-1][2]), cells
        assert shares in (sorted(shares), sorted(shares, reverse=True)), shares
    browser.run("location.hash = ''")
    until(browser, "return document.querySelector('.graph')")
    fact = browser.run("return [...document.querySelectorAll('.facts div')].map(fact => fact.textContent)")
    assert [text for text in fact if re.fullmatch(r"\d+% of \d+blocks ran", text)], fact


@on_page
def instructions(browser):
    browser.run("[...document.querySelectorAll('#list .row')].find(row => row.title === 'in_main').click()")
    until(browser, HEADING, "in_main")
    until(browser, "return document.querySelector('.code .line')")
    assert browser.run("return document.querySelectorAll('.missed, .legend').length") == 0
    fact = browser.run("return [...document.querySelectorAll('.facts div')].map(fact => fact.textContent)")
    assert [text for text in fact if re.fullmatch(r"\d+% of \d+blocks ran", text)], fact


# Of each row in sight: what stands in front of it, how often it ran, and whether it is dimmed.
RUNS = """return [...document.querySelectorAll('.code .line')].map(line => [line.querySelector('.number').textContent,
    line.querySelector('.runs').textContent.replaceAll(/\\D/g, ''), getComputedStyle(line.querySelector('.text')).opacity < 1])"""


def rows_of_code(browser):
    rows, count = {}, browser.run("return document.querySelector('.code .virtual').offsetHeight / 20")
    for line in range(0, int(count), 10):
        browser.run("const code = document.querySelector('.code'); code.scrollTop = 20 * arguments[0]; code.onscroll()", line)
        rows.update((number, (runs, dimmed)) for number, runs, dimmed in browser.run(RUNS))
    return rows


@on_page
def runs(browser, lines_path):
    """Beside each line of the file how often it ran."""
    browser.run("document.querySelector('[data-tab=files]').click(); document.querySelector('#list .row').click()")
    until(browser, HEADING, "covered.c")
    until(browser, "return document.querySelector('.code .line')")
    (section,) = re.findall(r"^SF:.*/covered\.c\n((?:.*\n)*?)end_of_record", read(lines_path), re.M)
    expected = dict(re.findall(r"^DA:(\d+),(\d+)$", section, re.M))
    assert max(map(int, expected.values())) > 1 and "0" in expected.values(), expected
    for number, (runs, dimmed) in rows_of_code(browser).items():
        assert runs == expected.get(number, ""), (number, runs, expected.get(number))
        assert dimmed == (runs == "0"), (number, runs, dimmed)


@on_page
def instruction_runs(browser, instructions, listing):
    """The same of a function's instructions, whose source is not there."""
    browser.run("[...document.querySelectorAll('#list .row')].find(row => row.title === 'in_main').click()")
    until(browser, HEADING, "in_main")
    until(browser, "return document.querySelector('.code .line')")
    with open(listing, encoding="utf-8") as file:
        (begin,) = [int(row["address"], 16) for row in csv.DictReader(file, delimiter="\t") if row["name"] == "in_main"]
    expected = {int(address, 16) - begin: runs for address, runs in
                re.findall(r"^0x([0-9a-f]+) \d+ (\d+)$", read(instructions), re.M)}
    rows = rows_of_code(browser)
    assert len(rows) > 5 and any(dimmed for _, dimmed in rows.values()), rows
    for number, (runs, dimmed) in rows.items():
        assert runs == expected.get(int(number, 16), "0"), (number, runs, expected.get(int(number, 16)))
        assert dimmed == (runs == "0"), (number, runs, dimmed)


@on_page
def without(browser, path):
    assert "cover" not in data_of(path)
    shown = lines_of_file(browser)
    assert not [text for text, dimmed, title in shown.values() if dimmed or title]
    assert browser.run("return document.querySelectorAll('.covered, .missed, .legend, .ran, [data-sort=ran], th.r').length") == 0


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
