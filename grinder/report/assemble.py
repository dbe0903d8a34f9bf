"""Puts the page together: assemble.py OUTPUT report.html report.css SCRIPT…

Style and scripts are set in, and the page's policy (Content-Security-Policy) allows these, by their
hashes, and nothing else: no script that a name or a source might smuggle in, and no network. Two
marks are left for the grinder: LOCAL, what the policy of a page in a folder allows besides, and
DATA.
"""

import base64
import hashlib
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def hashes(page, element):
    texts = re.findall(f"<{element}>(.*?)</{element}>", page, re.S)
    assert texts, f"the page has no <{element}>"
    return " ".join(
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in texts)


def main(output, frame, style, *scripts):
    page = read(frame)
    for mark, text in (("/*STYLE*/", read(style)), ("/*SCRIPT*/", "".join(map(read, scripts)))):
        assert page.count(mark) == 1, mark
        page = page.replace(mark, text)
    policy = ["default-src 'none'", "base-uri 'none'", "form-action 'none'",
              "img-src data:",  # the icon, of which there is none
              f"style-src {hashes(page, 'style')}",
              "style-src-attr 'unsafe-inline'",  # widths of bars
              f"script-src {hashes(page, 'script')}<!--LOCAL-->"]
    assert page.count("<!--POLICY-->") == 1
    page = page.replace("<!--POLICY-->", "; ".join(policy))
    with open(output, "w", encoding="utf-8") as file:
        file.write(page)


main(*sys.argv[1:])
