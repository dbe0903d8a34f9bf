"""The report's page in windows of several widths."""

import sys

from browser import run_commands
from report import chains, first_picture, page, until  # the first two are commands

NARROW = (360, 480, 600, 699)

# What scrolls sideways, code apart, whose lines are as long as they are; what reaches past the window and is
# not cut by an element around it.
WIDE = """const wide = [];
    const clips = element => element && (getComputedStyle(element).overflowX !== 'visible' || clips(element.parentElement));
    for (const element of document.body.querySelectorAll('*')) {
        const style = getComputedStyle(element), name = element.tagName + '.' + element.getAttribute('class') + '#' + element.id;
        if (/auto|scroll/.test(style.overflowX) && !element.matches('.code') && element.scrollWidth > element.clientWidth)
            wide.push(name + ' scrolls ' + element.scrollWidth + ' in ' + element.clientWidth);
        const box = element.getBoundingClientRect();
        if (box.right > innerWidth + 0.5 && !element.closest('.code, .graph, dialog') && !clips(element.parentElement))
            wide.push(name + ' reaches to ' + box.right);
    }
    for (const element of [document.documentElement, document.body, document.getElementById('bar'), document.getElementById('panes')])
        if (element.scrollWidth > innerWidth) wide.push(element.tagName + '#' + element.id + ' has ' + element.scrollWidth);
    return wide"""

# Text that is cut, and neither the element, nor one around or within it, has a title with all of it.
UNNAMED = """const cut = [];
    for (const element of document.body.querySelectorAll('*')) {
        if (getComputedStyle(element).textOverflow !== 'ellipsis' || element.scrollWidth <= element.clientWidth) continue;
        const titles = [element.closest('[title]'), ...element.querySelectorAll('[title]')].filter(Boolean).map(other => other.title);
        if (!titles.some(title => title.includes(element.textContent.trim())))
            cut.push(element.className + ': ' + element.textContent);
    }
    for (const node of document.querySelectorAll('.graph .node'))
        if (!node.querySelector('title').textContent.split('\\n')[0]) cut.push('a box without a name');
    return cut"""

# Figures that are cut, which no title makes up for, and what of the bar lies upon its neighbour.
CUT_FIGURES = """const wrong = [];
    for (const cell of document.querySelectorAll('td:not(:first-child), .row .figure, .facts b'))
        if (cell.clientWidth && cell.scrollWidth > cell.clientWidth && !cell.querySelector('svg, .meter')) wrong.push(cell.textContent);
    const boxes = [...document.querySelectorAll('#bar select, #bar button')].filter(element => element.offsetParent)
        .map(element => element.getBoundingClientRect());
    boxes.forEach((box, i) => { if (i && box.left < boxes[i - 1].right) wrong.push('the bar overlaps'); });
    return wrong"""

VIEWS = """const hrefs = [''];
    for (const tab of ['functions', 'files', 'modules']) {
        document.querySelector(`[data-tab=${tab}]`).click();
        const rows = [...document.querySelectorAll('#list .row')];
        const row = rows.find(row => row.title === arguments[0]) || rows[0];
        row.click();
        hrefs.push(location.hash);
    }
    document.querySelector('[data-tab=functions]').click();
    return hrefs"""


def visit(browser, href):
    browser.run("location.hash = arguments[0]", href)
    until(browser, "return document.querySelector(arguments[0])", "#main .graph" if not href else "#main h1")
    until(browser, "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")


def on_page(function):
    def run(url, profile, *arguments):
        with page(url, profile) as browser:
            function(browser, *arguments)
    return run


@on_page
def narrow(browser, name):
    views = browser.run(VIEWS, name)
    assert len({view[:2] for view in views}) == 4, views
    for width in (*NARROW, 1000, 1600):
        browser.resize(width)
        for view in views:
            visit(browser, view)
            if width < 700:
                wide = browser.run(WIDE)
                assert not wide, (width, view, wide)
            unnamed = browser.run(UNNAMED)
            assert not unnamed, (width, view, unnamed)
            cut = browser.run(CUT_FIGURES)
            assert not cut, (width, view, cut)
    # Both parts of the window are there, and to be used.
    browser.resize(NARROW[0])
    for part in "#list", "#main":
        width, height = browser.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
            return [box.width, box.height]""", part)
        assert width == NARROW[0] and height > 150, (part, width, height)


ROOM = """const row = [...document.querySelectorAll('#list .row')].find(row => row.title === arguments[0]);
    const box = [...document.querySelectorAll('.graph .node')].find(node => node.querySelector('title').textContent.startsWith(arguments[0]));
    return [row.querySelector('.name').clientWidth, box.querySelector('text').textContent.length]"""


@on_page
def names(browser, name):
    """In the list, in boxes and in tables."""
    rooms = []
    for width in (1000, 1600, 2600):
        browser.resize(width)
        visit(browser, "")
        browser.run("document.querySelector('[data-graph=functions]').click()")
        until(browser, "return document.querySelectorAll('.graph .node').length > 2")
        rooms.append(browser.run(ROOM, name))
        shown = browser.run("""return [...document.querySelectorAll('.rows a')].find(link => link.title === arguments[0])
            ?.textContent""", name)
        assert shown == name, shown
        # No box is narrower than its text.
        narrow = browser.run("""return [...document.querySelectorAll('.graph .node')].filter(node =>
            node.querySelector('text').getBBox().width > node.querySelector('rect').getBBox().width - 10)
            .map(node => node.textContent)""")
        assert not narrow, (width, narrow)
    for before, after in zip(rooms, rooms[1:]):
        assert before[0] < after[0] and before[1] < after[1], rooms

    # The picture follows a window that changes.
    browser.resize(1000)
    until(browser, "return [...document.querySelectorAll('.graph .node text')].some(text => text.textContent.includes('…'))")


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
