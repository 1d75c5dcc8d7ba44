"""Headless Chromium over its debugging pipe: real mouse and keys, every request and every word of the console."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from select import select
from typing import Any, Self

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--no-default-browser-check", "--remote-debugging-pipe", "--hide-scrollbars",
)  # fmt: skip
KEYS = {"Enter": ("\r", 13), "Tab": ("", 9), "Escape": ("", 27), "ArrowRight": ("", 39), "ArrowLeft": ("", 37),
        "ArrowUp": ("", 38), "ArrowDown": ("", 40), " ": (" ", 32), "Home": ("", 36), "End": ("", 35)}  # fmt: skip


class Chromium:
    """One page of a browser of its own, closed with the ``with`` block.

    Parameters
    ----------
    width, height : int
    dark : bool
        What the page is told that the user prefers.
    """

    def __init__(self, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        self.requests: list[str] = []
        self.words: list[str] = []
        self._buffer, self._last = b"", 0
        self._profile = tempfile.mkdtemp(prefix="precede-chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self._process = self._start(to_browser, from_browser, width, height)
        os.close(to_browser)
        os.close(from_browser)
        target = self._call("Target.createTarget", {"url": "about:blank"}, None)
        attached = self._call("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True}, None)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def _start(self, to_browser: int, from_browser: int, width: int, height: int) -> subprocess.Popen[bytes]:
        def as_three_and_four() -> None:
            # high numbers first: one of the two may be 3 or 4 itself
            high = os.dup2(to_browser, 63), os.dup2(from_browser, 64)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        assert CHROMIUM is not None
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={self._profile}", f"--window-size={width},{height}"]
        return subprocess.Popen(
            command, preexec_fn=as_three_and_four, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    # -- the protocol ----------------------------------------------------------------------------------------------

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the page for something; its answer."""
        return self._call(method, parameters, self._session)

    def _call(self, method: str, parameters: dict[str, Any], session: str | None) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        wanted = self._last
        while True:
            answer = self._receive(60.0)
            if answer is None:
                raise TimeoutError(f"the browser did not answer {method}")
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        while b"\0" not in self._buffer:
            if not select([self._read], [], [], seconds)[0]:
                return None
            part = os.read(self._read, 1 << 16)
            if not part:
                raise ConnectionError("the browser has gone")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        found = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(found["request"]["url"])
            case "Runtime.consoleAPICalled" if found["type"] in ("error", "warning", "assert"):
                self.words.append(" ".join(str(part.get("value", part.get("description"))) for part in found["args"]))
            case "Runtime.exceptionThrown":
                details = found["exceptionDetails"]
                self.words.append(details.get("exception", {}).get("description", details["text"]))
            case "Log.entryAdded" if found["entry"]["level"] in ("error", "warning"):
                self.words.append(f"{found['entry']['text']} {found['entry'].get('url', '')}")

    # -- what a user does ------------------------------------------------------------------------------------------

    def open(self, address: str) -> None:
        """Go to a page."""
        self.call("Page.navigate", url=address)

    def value(self, expression: str) -> Any:
        """What a piece of JavaScript gives; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = 60.0) -> Any:
        """Wait until a piece of JavaScript gives something true; what it gives."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                found = self.value(expression)
            except RuntimeError:  # while a page is being loaded
                found = None
            if found or found == {}:  # an element comes back as an object without anything
                return found
            time.sleep(0.02)
        raise TimeoutError(f"never true: {expression}; console: {self.words}")

    def click(self, selector: str) -> None:
        """Press the middle of an element, as a mouse does."""
        find = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{find} && !{find}.disabled && {find}.getClientRects().length")
        self.value(f"{find}.scrollIntoView({{block: 'nearest', inline: 'nearest'}})")
        box = self.value(f"{find}.getBoundingClientRect().toJSON()")
        self.click_at(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def click_at(self, x: float, y: float) -> None:
        """Press a point of the page."""
        for kind, pressed in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
            button = "none" if kind == "mouseMoved" else "left"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=pressed, clickCount=1)

    def press(self, key: str, modifiers: int = 0) -> None:
        """A key that has a name, or a letter."""
        text, code = KEYS.get(key, (key, ord(key.upper()[0])))
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, words: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=words)

    def picture(self, path: Path) -> None:
        """What the page looks like, as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
