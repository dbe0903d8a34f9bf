"""Counted instructions, as the report has them and as its page shows them."""

import csv
import sys

from browser import run_commands
from report import data_of
from report_widths import on_page

TABLE = """return [...document.querySelectorAll('table.instructions tbody tr')].map(row =>
    [...row.cells].map(cell => cell.textContent))"""


def counted_in(tsv):
    """function -> own instructions, with what it calls"""
    with open(tsv, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t")]
    return {row["function"]: (int(row["self_instructions"]), int(row["total_instructions"]))
            for row in rows if int(row["total_instructions"])}


def counted(path, tsv):
    data = data_of(path)
    (part,) = data["parts"]
    table, names = part["instructions"], data["functions"]["name"]
    found = {names[f]: figures for f, *figures in zip(table["id"], table["self"], table["total"], strict=True)}
    assert {name: tuple(figures) for name, figures in found.items()} == counted_in(tsv)
    assert len(found) > 3


@on_page
def shown(browser, tsv):
    expected = sorted(counted_in(tsv).items(), key=lambda row: -row[1][0])
    rows = browser.run(TABLE)
    number = lambda text: int(text.replace(",", ""))
    assert [number(row[2]) for row in rows] == [own for _, (own, _) in expected if own][:24], rows
    name, (own, total) = expected[0]
    assert rows[0][0] == name and number(rows[0][3]) == total, (rows[0], expected[0])


@on_page
def without(browser):
    assert browser.run(TABLE) == []


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
