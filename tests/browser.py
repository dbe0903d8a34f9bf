"""Headless Chromium by chromedriver's own protocol (W3C WebDriver): nothing but the two packages."""

import atexit
import base64
import functools
import json
import re
import subprocess
import sys
import urllib.request


def run_commands(functions, words):
    """NAME ARGUMENT…, and more of them behind `--`: one after the other, in one process and so with one browser."""
    while words:
        end = words.index("--") if "--" in words else len(words)
        print(*words[:end], file=sys.stderr, flush=True)
        functions[words[0]](*words[1:end])
        words = words[end + 1:]


class Browser:
    def __init__(self, profile, width=1440, height=900, dark=False):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            found = re.search(r"on port (\d+)", line)
            if found and int(found[1]):
                self.url = f"http://127.0.0.1:{found[1]}"
                break
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        if dark:
            options.append("--blink-settings=preferredColorScheme=0")
        capabilities = {"browserName": "chrome", "goog:chromeOptions": {"args": options},
                        "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        except Exception:
            self.driver.kill()
            raise
        self.session = "/session/" + session["sessionId"]

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:600]) from error

    def open(self, url):
        self.ask("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width, height=900):
        """The page itself: a window has a least width."""
        self.ask("POST", self.session + "/goog/cdp/execute",
                 {"cmd": "Emulation.setDeviceMetricsOverride",
                  "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def key(self, text):
        actions = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self.ask("POST", self.session + "/actions",
                 {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, selector, begin, end):
        """Across an element, from one share of its width to another."""
        left, top, width, height = self.run(
            """const element = document.querySelector(arguments[0]);
            element.scrollIntoView({block: 'center'});
            const box = element.getBoundingClientRect();
            return [box.left, box.top, box.width, box.height]""", selector)
        move = lambda share: {"type": "pointerMove", "duration": 0, "x": round(left + share * width),
                              "y": round(top + height / 2)}
        actions = [move(begin), {"type": "pointerDown", "button": 0}, move((begin + end) / 2), move(end),
                   {"type": "pointerUp", "button": 0}]
        self.ask("POST", self.session + "/actions",
                 {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                               "actions": actions}]})

    def click(self, selector):
        for attempt in range(20):
            element = self.ask("POST", self.session + "/element",
                               {"using": "css selector", "value": selector})
            (identity,) = element.values()
            try:
                return self.ask("POST", f"{self.session}/element/{identity}/click", {})
            except RuntimeError as error:  # drawn anew, as it was scrolled into sight
                if attempt == 19 or "stale element" not in str(error):
                    raise

    def write(self, selector, text):
        """Into a field; of a field for files, a path."""
        element = self.ask("POST", self.session + "/element", {"using": "css selector", "value": selector})
        (identity,) = element.values()
        self.ask("POST", f"{self.session}/element/{identity}/value", {"text": text})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", self.session + "/screenshot")))

    def log(self):
        """What the console got since the last time: errors, and exceptions nobody caught."""
        entries = self.ask("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def close(self):
        try:
            self.ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()


@functools.cache
def begun(profile):
    browser = Browser(profile)
    atexit.register(browser.close)
    return browser


def browser_of(profile):
    """The process's one browser of that profile, ended with the process: as if it had just begun."""
    browser = begun(profile)
    browser.open("about:blank")  # or the same page at another place would not be loaded anew
    browser.ask("POST", browser.session + "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})
    return browser
