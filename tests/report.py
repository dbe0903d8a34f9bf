"""Reads what --mode=report wrote, as a browser would, and drives one through it."""

import base64
import contextlib
import hashlib
import json
import os
import random
import re
import sys
import time

from browser import Browser, browser_of, run_commands

LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def read(path):
    with open(path, encoding="utf-8") as file:  # fails where it is not UTF-8
        return file.read()


def chunks(path):
    """name -> text of its JSON."""
    if os.path.isdir(path):
        found = {}
        for name in os.listdir(path):
            if name.endswith(".js"):
                call = re.fullmatch(r'report_chunk\("(\w+)",(.*)\);\n', read(f"{path}/{name}"), re.S)
                assert call and call[1] + ".js" == name, name
                found[call[1]] = call[2]
        return found
    # As HTML has it: an element ends at the first end tag, whatever it stands in.
    return dict(re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script', read(path),
                           re.S | re.I))


def data_of(path):
    return json.loads(chunks(path)["data"])


def sums(data):
    total = {}
    for part in data["parts"]:
        table = part["functions"]
        assert sum(table["self"]) == part["ns"] and sum(table["calls"]) == part["calls"]
        for i, function in enumerate(table["id"]):
            name = data["functions"]["name"][function]
            row = total.setdefault(name, [0, 0, 0])
            for place, column in enumerate(("calls", "self", "total")):
                row[place] += table[column][i]
    return total


def figures(path, summary):
    """The same calls and the same nanoseconds, in all and of each of the hottest."""
    data, text = data_of(path), read(summary)
    ns, calls = map(int, re.search(r"^totals: (\d+) ns (\d+) calls", text, re.M).groups())
    assert sum(part["ns"] for part in data["parts"]) == ns
    assert sum(part["calls"] for part in data["parts"]) == calls
    by_name, seen = sums(data), 0
    for line in re.findall(r"^ +(\d+) +(\d+) +\d+\.\d+ +(\d+) +\d+\.\d+ +(?:\d+\.\d+|-)? +(\S.*)$", text, re.M):
        assert by_name[line[3]] == [int(figure) for figure in line[:3]], line
        seen += 1
    assert seen > 1, "the summary's table was not understood"
    for part in data["parts"]:
        lengths = {len(column) for column in part["edges"].values()}
        assert len(lengths) == 1, lengths
        assert sum(part["edges"]["calls"]) == part["calls"]  # each entry came by one edge


def hostile(path):
    found = chunks(path)
    (source,) = [json.loads(text) for name, text in found.items() if name[0] == "s"]
    lines = source.split("\n")
    assert '// </script><script>document.title = "taken"</script><!-- <b>&amp;' in lines
    assert [line for line in lines if line.startswith("// not UTF-8: \ufffd\ufffd\ufffd\ufffd, a zero: \ufffd, a tab:\t.")]
    assert [line for line in lines if line.startswith("// 0000") and len(line) == 2002]
    assert "</SCRIPT> */ int after;" in lines
    for text in found.values():
        assert "<" not in text
    data = json.loads(found["data"])
    line = data["functions"]["line"][data["functions"]["name"].index("fib")]
    assert "fib(int n)" in lines[line - 1] + lines[line - 2]


def row(data, name):
    number = data["functions"]["name"].index(name)
    columns = [0.0] * data["slices"]["columns"]
    for part in data["slices"]["parts"]:
        for i, function in enumerate(part["id"]):
            if function == number:
                for at, level in enumerate(part["total"][i]):
                    columns[part["first"][i] + at] += part["peak"][i] * LEVELS.index(level) / 63
    return columns


def phases(path):
    """first_phase ran before second_phase, each about half, and leaf in both."""
    data = data_of(path)
    one, two, leaf, main = (row(data, name) for name in ("first_phase", "second_phase", "leaf", "main"))
    middle = lambda columns: sum(i * value for i, value in enumerate(columns)) / sum(columns)
    assert middle(one) < middle(two), (middle(one), middle(two))
    assert sum(one[:len(one) // 3]) > sum(two[:len(two) // 3])
    assert sum(two[-len(two) // 3:]) > sum(one[-len(one) // 3:])
    assert sum(leaf) > 0
    for columns, name in ((main, "main"), (one, "first_phase"), (two, "second_phase")):
        whole = sums(data)[name][2]
        assert 0.8 * whole < sum(columns) < 1.2 * whole, (name, sum(columns), whole)
    # An invocation that is under way is seen, not only its end. Others may have the processor meanwhile.
    assert sum(value > 0 for value in main) > 0.6 * len(main), main


def instructions(found, data, name):
    """Of a function: number, and fields of each line."""
    number = data["functions"]["name"].index(name)
    lines = json.loads(found["d%d" % data["functions"]["chunk"][number]])[str(number)].split("\n")
    return number, [line.split("\t") for line in lines]


def offsets(path, name):
    found = chunks(path)
    for field in instructions(found, json.loads(found["data"]), name)[1]:
        print(field[0])


def bare(path):
    found = chunks(path)
    data = json.loads(found["data"])
    assert not [name for name in found if name[0] == "s"]
    number, fields = instructions(found, data, "fib")
    assert fields[0][0] == "0" and int(fields[-1][0]) > 0
    calls = [field for field in fields if field[1].startswith("call")]
    assert calls and any(len(field) > 2 and field[2] == str(number) for field in calls), fields
    # Each recorded call out of it is made by an instruction that is there.
    offsets = [int(field[0]) for field in fields]
    for part in data["parts"]:
        for i, caller in enumerate(part["edges"]["from"]):
            at = part["edges"]["at"][i]
            if caller == number and at >= 0:
                line = max(place for place, offset in enumerate(offsets) if offset <= at)
                assert fields[line][1].startswith("call"), fields[line]


def without_slices(path):
    assert data_of(path)["slices"] is None


def policy(path):
    """Nothing runs that the grinder did not write, and nothing is fetched."""
    page = read(path)
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'", rules
    for element in "script", "style":
        texts = re.findall(f"<{element}>(.*?)</{element}>", page, re.S)
        allowed = {"'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
                   for text in texts}
        named = set(rules[element + "-src"].split())
        if element == "script" and os.path.basename(path) == "index.html":
            named -= {"'self'", "file:"}  # its chunks
        assert named == allowed, (element, named, allowed)
    assert page.index("Content-Security-Policy") < page.index("<style>")


def damage(whole, seed, rounds):
    """Copies WHOLE.ROUND of a file, each with a few bytes that are wrong; some are cut."""
    with open(whole, "rb") as file:
        bytes_of_file = file.read()
    for number in range(int(rounds)):
        random.seed(f"{seed} {number}")
        data = bytearray(bytes_of_file)
        for _ in range(random.randint(1, 8)):
            data[random.randrange(len(data))] = random.choice([0, 1, 0x7f, 0x80, 0xff, random.randrange(256)])
        if random.random() < 0.2:
            del data[random.randrange(len(data)):]
        with open(f"{whole}.{number}", "wb") as file:
            file.write(data)


def sealed(url, profile, embedded):
    """What gets into the page all the same can do nothing; what it holds is listed."""
    browser = Browser(profile)
    try:
        browser.open(url)
        until(browser, "return document.body.dataset.ready")
        assert not browser.log()
        browser.click(".embedded summary")
        until(browser, "return document.querySelector('.embedded ul')")
        (listed,) = browser.run("return [...document.querySelectorAll('.embedded li')].map(item => item.textContent)")
        assert listed.endswith(embedded), listed
        browser.run("""window.refused = [];
            addEventListener('securitypolicyviolation', event => refused.push(event.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.taken = 1';
            document.head.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src="http://127.0.0.1:9/x"><img src="x" onerror="window.taken = 1">');
            document.querySelector('img:last-child').dispatchEvent(new Event('error'));
            fetch('http://127.0.0.1:9/y').catch(() => {});""")
        until(browser, """return ['script-src-elem', 'script-src-attr', 'img-src', 'connect-src']
            .every(directive => refused.includes(directive))""")
        assert browser.run("return window.taken ?? null") is None
    finally:
        browser.close()


def until(browser, script, *arguments):
    for _ in range(100):
        if browser.run(script, *arguments):
            return
        time.sleep(0.1)
    raise AssertionError(f"never true: {script} {arguments}")


HEADING = "return document.querySelector('h1')?.textContent === arguments[0]"
FIND = "const search = document.getElementById('search'); search.value = arguments[0]; search.oninput();"


@contextlib.contextmanager
def page(url, profile):
    """In a browser, once it is ready; in the end it has left nothing in the console."""
    browser = browser_of(profile)
    browser.open(url)
    until(browser, "return document.body.dataset.ready")
    yield browser
    log = browser.log()
    assert not log, log


def browse(url, profile):
    with page(url, profile) as browser:
        walk(browser)


def walk(browser):
    assert browser.run("return document.querySelectorAll('.graph .node').length") > 0
    assert browser.run("return document.querySelectorAll('#list .row').length") > 3

    browser.key("/")
    browser.key("second_ph")
    until(browser, "return document.querySelectorAll('#list .row').length === 1")
    browser.key("\ue007")  # Enter
    until(browser, HEADING, "second_phase")
    until(browser, "return document.querySelector('.code .line.here')")
    until(browser, "return [...document.querySelectorAll('.code .chip')].some(a => a.textContent === '→ leaf')")
    figures = browser.run("""const line = [...document.querySelectorAll('.code .line')].find(line => line.querySelector('.chip')
        && /leaf\\(40000\\)/.test(line.textContent)); return line.querySelector('.calls').textContent""")
    assert int(figures.replace(",", "")) > 0
    assert browser.run("return document.querySelectorAll('.timeline .spark path').length") == 2

    browser.click(".code .chip")
    until(browser, HEADING, "leaf")
    browser.key("[")
    until(browser, HEADING, "second_phase")
    browser.key("]")
    until(browser, HEADING, "leaf")
    browser.key("c")  # to the caller that spends most time
    until(browser, "return /_phase$/.test(document.querySelector('h1').textContent)")
    browser.key("e")
    until(browser, HEADING, "leaf")

    browser.key("[")
    until(browser, "return /_phase$/.test(document.querySelector('h1').textContent)")
    until(browser, "return document.querySelector('.code .line.here')")
    before = browser.run("return document.querySelectorAll('.code .inline').length")
    browser.key("l")  # into the code, to the next line with figures, until it is one that calls
    for _ in range(20):
        browser.key("n")
        if browser.text(".code .line.cursor .toggle") == "▸":
            break
    browser.key("\ue007")
    until(browser, "return document.querySelectorAll('.code .inline').length > arguments[0]", before)

    # The whole source is there as text, to its last line.
    browser.run("const code = document.querySelector('.code'); code.scrollTop = code.scrollHeight")
    until(browser, "return document.querySelector('.code').textContent.includes('</script><script>document.title')")
    assert "taken" not in browser.run("return document.title")

    browser.key("h2")
    until(browser, "return document.querySelector('#tabs [aria-selected=true]').dataset.tab === 'files'")
    browser.run(FIND, "")
    browser.click("#list .row")
    until(browser, HEADING, "report.c")
    browser.key("o")
    until(browser, "return document.querySelector('.graph')")

    # One thread's figures alone: the helper made all of fib's calls, and none of leaf's.
    browser.key("1")
    every = browser.run("return document.getElementById('count').textContent")
    browser.run("""const choice = document.getElementById('thread'); choice.value = 'part:1'; choice.onchange();""")
    one = browser.run("return [...document.querySelectorAll('#list .name')].map(name => name.textContent)")
    assert sorted(one) == ["fib", "helper"] and int(every) > 2, (one, every)

    browser.key("?")
    until(browser, "return document.getElementById('help').open")
    browser.key("\ue00c")
    until(browser, "return !document.getElementById('help').open")
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.key("t")
    assert browser.run(paper) != light
    browser.key("t")
    assert browser.run(paper) == light


def first_picture(url, profile, view, least):
    """The overview begins with this view, of at least so many boxes that lead to what they name."""
    with page(url, profile) as browser:
        pressed = "return document.querySelector('.choice [aria-pressed=true]').dataset.graph"
        found = browser.run(pressed)
        assert found == view, found
        boxes = browser.run("return document.querySelectorAll('.graph .node').length")
        assert boxes >= int(least), boxes
        for other in ("modules", "files", "functions"):
            browser.run("document.querySelector(`.choice [data-graph=${arguments[0]}]`).click()", other)
            assert browser.run(pressed) == other
        assert browser.run("return document.querySelectorAll('.graph .edge').length") >= 3
        name = browser.run("const node = document.querySelector('.graph a'); location.hash = node.getAttribute('href'); return node.querySelector('title').textContent.split('\\n')[0]")
        until(browser, HEADING, name)


def chains(url, profile):
    """What only passes time on has no box, but a name at the line that leads through it."""
    with page(url, profile) as browser:
        browser.run("document.querySelector('[data-graph=functions]').click()")
        titles = browser.run("return [...document.querySelectorAll('.graph .through title')].map(title => title.textContent.split('\\n')[0])")
        boxes = browser.run("return [...document.querySelectorAll('.graph .node title')].map(title => title.textContent.split('\\n')[0])")
        assert sorted(titles) == ["main → left → left_of_it → left_work", "main → right → right_work"], titles
        assert sorted(boxes) == ["deep_work", "left_work", "main", "right_work", "turns", "turns_back"], boxes


def large(page, profile, *picture):
    """What a browser takes for it: printed, not judged."""
    browser = Browser(profile)
    try:
        browser.open(page)
        until(browser, "return document.body.dataset.ready")
        ready = browser.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        count = browser.text("#count")
        rows = browser.run("return document.querySelectorAll('#list .row').length")
        assert int(count.replace(",", "")) >= 50000, count
        assert 10 < rows < 200, rows  # those in sight
        spent = browser.run("const start = performance.now();" + FIND + "return performance.now() - start", "f_49999")
        until(browser, "return document.querySelectorAll('#list .row').length === 1")
        browser.key("h\ue007")
        until(browser, HEADING, "f_49999")
        until(browser, "return document.querySelector('.code .line.here')")
        log = browser.log()
        assert not log, log
        print(f"{count} functions: ready after {ready:.0f} ms, a search takes {spent:.0f} ms")
        for path in picture:
            browser.screenshot(path)
    finally:
        browser.close()


if __name__ == "__main__":
    run_commands(globals(), sys.argv[1:])
