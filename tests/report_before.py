"""A report's changes since another one, as a browser shows them."""

import csv
import sys

from browser import run_commands
from report import page, until
from report_times import near, visit

ROWS = """return [...document.querySelectorAll('.changes tbody tr')]
    .map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"""


def shown_count(text):
    return int(text.replace(",", ""))


def same_time(text, ns):
    """A time, or what no sample met."""
    if text in ("", "0") or text.startswith("<"):
        assert ns == 0, (text, ns)
    else:
        near(text, ns)


def changes(url, profile, before, diff):
    with open(diff, encoding="utf-8") as file:
        expected = {row["function"]: {key: int(value) for key, value in row.items() if key.endswith(("before", "after", "change"))}
                    for row in csv.DictReader(file, delimiter="\t")}
    with page(url, profile) as browser:
        browser.write("#before", before)
        until(browser, "return document.querySelector('.changes table')")
        *rows, every = browser.run(ROWS)
        assert {"same", "slower", "only_in_1", "only_in_2"} <= {row[0] for row in rows}, rows
        order = [abs(expected[row[0]]["self_ns_change"]) for row in rows]
        assert order == sorted(order, reverse=True) and rows[0][0] == "slower", rows
        for name, calls_before, calls, self_before, self_now, change in rows:
            figures = expected[name]
            assert shown_count(calls_before) == figures["calls_before"], name
            assert shown_count(calls) == figures["calls_after"], name
            same_time(self_before, figures["self_ns_before"])
            same_time(self_now, figures["self_ns_after"])
            if figures["self_ns_change"]:
                assert change[0] == ("+" if figures["self_ns_change"] > 0 else "−"), (name, change)
                near(change[1:], abs(figures["self_ns_change"]))
        assert every[0] == "All" and shown_count(every[1]) == sum(row["calls_before"] for row in expected.values())
        near(every[3], sum(row["self_ns_before"] for row in expected.values()))
        # What four times the work is more than samples leave open; what no sample met is not.
        quiet = dict(browser.run("""return [...document.querySelectorAll('.changes tbody tr:not(.all)')]
            .map(row => [row.querySelector('td').textContent, !!row.querySelector('td:last-child').title])"""))
        assert not quiet["slower"], quiet
        assert not [name for name in quiet if quiet[name] and not expected[name]["self_ns_change"]], quiet

        visit(browser, "slower")
        facts = browser.run("""return Object.fromEntries([...document.querySelectorAll('.facts div')]
            .map(fact => [fact.lastElementChild.textContent, fact.querySelector('b').textContent]))""")
        near(facts["self before"], expected["slower"]["self_ns_before"])
        near(facts["total before"], expected["slower"]["total_ns_before"])
        assert shown_count(facts["calls before"]) == expected["slower"]["calls_before"], facts
        visit(browser, "only_in_2")
        assert browser.run("return document.querySelector('.facts').textContent").endswith("nonebefore")


def refused(url, profile, before, why):
    with page(url, profile) as browser:
        browser.write("#before", before)
        until(browser, "return document.querySelector('.changes .note')?.textContent.includes(arguments[0])", why)
        assert not browser.run("return document.querySelectorAll('.changes table').length")


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
