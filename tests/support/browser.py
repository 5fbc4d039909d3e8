"""A real browser: Chromium without a window, spoken to by its DevTools protocol over two pipes.

It needs no driver and no package. https://chromedevtools.github.io/devtools-protocol
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

# Set by .ci/run where the programs are installed: then nothing may be skipped for want of them.
REQUIRED, AXE_REQUIRED = "HALFNOISE_CHROMIUM", "HALFNOISE_AXE"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 40.0
CACHE = Path(__file__).parents[2] / ".cache"  # which git ignores
AXE = "axe-core-4.10.3"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def program() -> str | None:
    """Return where Chromium is, if it is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """A page in the browser, with what it fetched and complained of."""

    def __init__(self, browser: "Browser", session: str) -> None:
        """Take the session that speaks to it, and listen."""
        self.browser, self.session = browser, session
        self.requests, self.complaints = list[str](), list[str]()
        browser.tabs[session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Say something to the page."""
        return self.browser.call(method, session=self.session, **parameters)

    def heard(self, event: dict[str, Any]) -> None:
        """Note what the page does."""
        method, told = event["method"], event["params"]
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.complaints.append(str(told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(told["entry"]))

    def look(self, *, width: int, dark: bool = False, media: str = "") -> None:
        """See it in a window of some width, light or dark, on a screen or on paper."""
        shape = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **shape)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def go(self, path: Path) -> None:
        """Open a file, and wait until all of it is there."""
        self.requests.clear()
        self.complaints.clear()
        self.call("Page.navigate", url=path.as_uri())
        began = time.monotonic()
        while self.evaluate("document.readyState + location.href") != f"complete{path.as_uri()}":
            assert time.monotonic() - began < PATIENCE, f"{path} does not load"

    def evaluate(self, code: str) -> Any:
        """Return what a piece of JavaScript gives, which may be promised."""
        wanted = {"returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", expression=code, **wanted)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def screenshot(self, width: int, height: int) -> bytes:
        """Return the upper left of the page as PNG."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self.call("Page.captureScreenshot", clip=clip)
        return base64.b64decode(found["data"])

    def pdf(self) -> bytes:
        """Return the page as it is printed, on the paper that it names."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True)
        return base64.b64decode(found["data"])


class Browser:
    """Chromium, which ends with the block that started it."""

    def __init__(self, path: str) -> None:
        """Start it with a folder of its own."""
        self.folder = tempfile.mkdtemp(prefix="halfnoise-browser-")
        hears, self.writes = os.pipe()
        self.reads, says = os.pipe()
        words = [path, *FLAGS, f"--user-data-dir={self.folder}"]
        shell = ["bash", "-c", f'exec "$@" 3<&{hears} 4>&{says}', "bash", *words]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            shell, pass_fds=(hears, says), stdout=quiet, stderr=quiet, start_new_session=True
        )
        os.close(hears)
        os.close(says)
        self.number, self.rest, self.tabs = 0, b"", dict[str, Tab]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tab(self) -> Tab:
        """Open an empty page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, session)

    def call(self, method: str, *, session: str = "", **parameters: Any) -> Any:
        """Say something, and return what is answered; what is told meanwhile is noted."""
        self.number += 1
        said: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        said |= {"sessionId": session} if session else {}
        os.write(self.writes, json.dumps(said).encode() + b"\0")
        for heard in self._messages():
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                return heard["result"]
            if "method" in heard and heard.get("sessionId") in self.tabs:
                self.tabs[heard["sessionId"]].heard(heard)
        raise AssertionError(f"{method} was not answered")

    def _messages(self) -> Iterator[dict[str, Any]]:
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            head, zero, rest = self.rest.partition(b"\0")
            if zero:
                self.rest = rest
                yield json.loads(head)
            elif select.select([self.reads], [], [], 1)[0]:
                read = os.read(self.reads, 2**20)
                assert read, "the browser is gone"
                self.rest += read


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start Chromium; skip where there is none."""
    path = program()
    if path is None:
        assert not os.environ.get(REQUIRED), "Chromium is required, and was not found"
        pytest.skip("Chromium is not installed")
    with Browser(path) as browser:
        yield browser


def axe() -> str:
    """Return the code of axe-core, an accessibility checker, fetched from npm once."""
    packed = CACHE / f"{AXE}.tgz"
    if not packed.exists():
        npm = shutil.which("npm")
        CACHE.mkdir(exist_ok=True)
        words = [npm or "npm", "pack", "@".join(AXE.rsplit("-", 1)), "--silent"]
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            if npm is not None:
                subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=120)
            fetched = Path(folder) / packed.name
            if not fetched.exists():
                assert not os.environ.get(AXE_REQUIRED), "npm could not fetch axe-core"
                pytest.skip("axe-core is not here, and npm cannot fetch it")
            fetched.replace(packed)
    with tarfile.open(packed) as tar:
        code = tar.extractfile("package/axe.min.js")
        assert code is not None
        return code.read().decode()
