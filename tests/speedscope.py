"""speedscope in a browser: opens a profile as its own command line does, and prints the table of
functions of the first thread, self<TAB>name.

    speedscope.py FOLDER PROFILE
"""

import base64
import json
import os
import re
import sys
import time

from browser import Browser

folder, profile = map(os.path.abspath, sys.argv[1:])
with open(profile, "rb") as file:
    content = base64.b64encode(file.read()).decode()
with open("speedscope.load.js", "w") as file:
    file.write(f"speedscope.loadFileFromBase64({json.dumps('profile')}, {json.dumps(content)})")

browser = Browser(os.path.abspath("speedscope.browser"))
try:
    browser.open(f"file://{folder}/index.html#localProfilePath={os.path.abspath('speedscope.load.js')}&view=sandwich")
    for attempt in range(600):
        text = browser.run("return document.body.innerText")
        if "Symbol Name" in text:
            break
        time.sleep(0.1)
    else:
        sys.exit(f"speedscope shows no table: {text}")
finally:
    browser.close()

fields = [field for line in text.split("Symbol Name", 1)[1].split("\n") for field in line.split("\t") if field]
for total, own, name in zip(*[iter(fields)] * 3, strict=True):
    assert re.fullmatch(r"[\d,.]+ \(.*%\)", own), own
    print(name, own.split(" ")[0].replace(",", ""), sep="\t")
