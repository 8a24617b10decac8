"""What both Python drivers share: the stand-in's script of faults and its counts, and the comparison of what a client said
with what it should have said. What is driven lies in `drive_*.py`."""

import difflib
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable
from typing import Any

# How long the stand-in's own pages may take, in seconds.
CONTROL_LIMIT = 10

# Local addresses need no proxy, whatever the machine is set to.
CONTROL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class StandIn:
    """The side of a stand-in that no vendor has: `/_standin/` beside its protocol."""

    def __init__(self, origin: str):
        self.origin = origin

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.origin}/_standin/{path}", data, headers, method=method)
        with CONTROL.open(request, timeout=CONTROL_LIMIT) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def script(self, *faults: dict[str, Any]) -> None:
        """Replaces the faults that it plays; none clears them."""
        self._ask("PUT", "faults", list(faults))

    def executions(self, lease: str) -> int:
        """How often code was started in sandboxes with this tag, gone ones included."""
        return self._ask("GET", "executions")["by_tag"].get(lease, 0)

    def sandboxes(self) -> list[dict[str, Any]]:
        """Those that are there."""
        return self._ask("GET", "sandboxes")

    def clear(self) -> None:
        """Destroys every sandbox and plays no faults."""
        self.script()
        self._ask("DELETE", "sandboxes")


def said(call: Callable[[], Any], fields: Callable[[Exception], dict[str, Any]]) -> Any:
    """What a call gave, or the class of what it raised with the fields that are named."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - whatever a client raises is what is looked at
        return {"raised": type(error).__name__, **fields(error)}


def last_line(text: str) -> str:
    """What a traceback ends with: the lines before it differ between interpreters."""
    return text.rstrip("\n").rsplit("\n", 1)[-1]


def drive(
    client: str,
    stand_in: StandIn,
    scenarios: dict[str, Callable[[], Any]],
    expected: dict[str, Any],
    hidden: dict[str, str],
) -> int:
    """Plays every scenario and prints a line for each, with the difference where there is one. `hidden` maps what differs
    from run to run, such as ids, to what the table calls it. Gives the exit code: 1 if anything differed."""
    differing = set(scenarios) ^ set(expected)
    for name in sorted(differing):
        print(f"DIFFERS  {client}: {name} stands only in the table or only among the scenarios")
    for name, play in scenarios.items():
        stand_in.clear()
        started = time.monotonic()
        try:
            outcome = play()
        except Exception as error:  # noqa: BLE001 - told as a difference like any other
            outcome = {"failed": f"{type(error).__name__}: {error}"}
        seconds = time.monotonic() - started
        is_text, should_text = as_text(outcome, hidden), as_text(expected.get(name), {})
        word = "as expected" if is_text == should_text else "DIFFERS"
        print(f"{word:<11}  {client}: {name} ({seconds:.1f} s)", flush=True)
        if is_text != should_text:
            differing.add(name)
            lines = (should_text.splitlines(), is_text.splitlines())
            for line in difflib.unified_diff(*lines, "expected", "said", lineterm=""):
                print(f"    {line}")
    stand_in.clear()
    print(f"{client}: {len(scenarios)} scenarios, {len(differing)} differ", flush=True)
    return 1 if differing else 0


def as_text(outcome: Any, hidden: dict[str, str]) -> str:
    """An outcome as lines that can be compared."""
    text = json.dumps(outcome, indent=2, sort_keys=True, ensure_ascii=False, default=str)
    for value, name in hidden.items():
        text = text.replace(value, name)
    return text


def setting(name: str) -> str:
    """A variable that says where the stand-in is; without it the program ends."""
    value = os.environ.get(name)
    if not value:
        sys.exit(f"{name} is not set: run this by `cargo xtask test --only sdk`")
    return value
