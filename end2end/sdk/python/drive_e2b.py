"""Drives the stand-in of E2B with the vendor's own Python clients, `e2b` and `e2b-code-interpreter`, and compares what they
say with the table below. The table says what they were seen to say about the answers that the vendor documents."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from e2b_code_interpreter import Sandbox, SandboxQuery
from scenarios import StandIn, drive, last_line, said, setting

CLIENT = "E2B, Python"
# The tag that a sandbox carries, and its value here.
TAG, LEASE = "thud_lease", "sdk-e2b-python"
# A key of the right form that the stand-in was not given.
WRONG_KEY = "e2b_" + "0" * 40
# A sandbox that never was.
NOBODY = "i0000000000000000000"
# Seconds that a sandbox lives, and that a run may take in the scenarios of timeouts and in all others.
LIFETIME, SHORT, LONG = 90, 1, 30

GONE = "The sandbox was not found"
ASK_SOONER = "You can modify the sandbox timeout by passing 'timeout' when starting the sandbox or calling '.set_timeout' on the sandbox with the desired timeout"
TOO_MANY = "you have reached the maximum number of concurrent E2B sandboxes (20)"
NOT_PLACED = "Failed to place sandbox: sandbox creation failed on 3 node(s), please retry; if the problem persists, contact us"
NO_ROOM = "Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly"
HTML = "<html><head><title>502 Server Error</title></head></html>"

EXPECTED: dict[str, Any] = {
    "create_without_internet": {
        "state": "running",
        "allow_internet_access": False,
        "metadata": {TAG: LEASE},
        "lives_90_s": True,
        "is_running": True,
    },
    "create_with_some_internet": {"allow_out": ["1.1.1.1/32", "api.example.com"], "deny_out": ["0.0.0.0/0"]},
    "python_prints": {"stdout": "hello from sandbox\n", "stderr": "warn\n", "text": "42", "execution_count": 1, "error": None},
    "python_raises": {
        "stdout": "before\n",
        "error": {"name": "ZeroDivisionError", "value": "division by zero"},
        "traceback_ends": "ZeroDivisionError: division by zero",
    },
    "python_exits_3": {"stdout": "", "error": {"name": "SystemExit", "value": "3"}},
    "python_dies": {"stdout": "", "error": {"name": "ContextRestarting", "value": "Context was restarted"}},
    "python_times_out": {
        "run": {
            "raised": "TimeoutException",
            "message": "Execution timed out — the 'timeout' option can be used to increase this timeout",
        },
        "kill": True,
    },
    "python_in_a_context": {"language": "python", "cwd": "/home/user", "stdout": "hello\n"},
    "javascript_prints": {"stdout": "42\n", "error": None},
    "command_prints": {"stdout": "hello\n", "stderr": "oops\n", "exit_code": 0, "error": None},
    "command_exits_3": {
        "raised": "CommandExitException",
        "message": "Command exited with code 3 and error:\nbad\n",
        "exit_code": 3,
        "stdout": "",
        "stderr": "bad\n",
        "error": "exit status 3",
    },
    "command_is_killed": {
        "raised": "CommandExitException",
        "message": "Command exited with code -1 and error:\n",
        "exit_code": -1,
        "stdout": "",
        "stderr": "",
        "error": "signal: killed",
    },
    "command_in_no_folder": {"raised": "InvalidArgumentException", "message": "cwd '/nope' does not exist"},
    "command_in_the_background": {"killed": True, "killed_again": False},
    "command_times_out": {
        "raised": "TimeoutException",
        "message": "Request timed out: This error is likely due to exceeding 'timeout' — the total time a long running request (like process or directory watch) can be active — or 'request_timeout'. You can modify these by passing 'timeout' or 'request_timeout' when making the request. Use '0' to disable the timeout.",
    },
    "base_template": {
        "command": {"stdout": "hello\n", "stderr": "", "exit_code": 0, "error": None},
        "run": {
            "raised": "TimeoutException",
            "message": f'{{"sandboxId":"{{sandbox}}","message":"The sandbox is running but port is not open","port":49999,"code":502}}: This error is likely due to sandbox timeout. {ASK_SOONER}.',
        },
    },
    "kill_twice": {
        "first": True,
        "second": False,
        "is_running": False,
        "info": {"raised": "SandboxNotFoundException", "message": "Sandbox {sandbox} not found"},
        "run": {
            "raised": "TimeoutException",
            "message": f'{{"sandboxId":"{{sandbox}}","message":"{GONE}","code":502}}: This error is likely due to sandbox timeout. {ASK_SOONER}.',
        },
        "command": {
            "raised": "SandboxNotRunningException",
            "message": f"{GONE}: The sandbox was killed or reached its timeout. {ASK_SOONER}.",
        },
    },
    "kill_unknown": False,
    "set_timeout": {"lives_45_s": True},
    "list_by_metadata": {"both": ["{other}", "{sandbox}"], "one": ["{other}"], "pages": 2},
    "wrong_key": {
        "raised": "AuthenticationException",
        "message": "401: Unauthorized, please check your credentials. - Invalid API key, please visit https://e2b.dev/docs/api-key for more information.\nCannot get the team for the given API key",
    },
    "unknown_template": {"raised": "SandboxException", "message": "404: template 'no-such-template' not found", "status_code": 404},
    "too_long_a_lifetime": {"raised": "SandboxException", "message": "400: Timeout cannot be greater than 1 hours", "status_code": 400},
    "rate_limited_once": {"created": True, "waited": True},
    "too_many_sandboxes": {
        "raised": "RateLimitException",
        "message": f"429: Rate limit exceeded, please try again later. - {TOO_MANY}",
        "status_code": 429,
    },
    "create_fails_500": {"raised": "SandboxException", "message": f"500: {NOT_PLACED}", "status_code": 500},
    "create_fails_502_html": {"raised": "SandboxException", "message": f"502: b'{HTML}'", "status_code": 502},
    "create_fails_503": {
        "raised": "ServiceBusyException",
        "message": f"503: Service temporarily unavailable, please retry. - {NO_ROOM}",
        "status_code": 503,
    },
    "run_fails_500": {"raised": "SandboxException", "message": "500 Internal Server Error: Internal Server Error"},
    "run_fails_429": {"raised": "SandboxException", "message": "429 Too Many Requests: busy"},
    "kill_fails_500": {
        "raised": "SandboxException",
        "message": "500: Error killing sandbox: failed to remove sandbox",
        "status_code": 500,
    },
    "run_loses_its_end": {"run": "RemoteProtocolError", "executions": 1},
    "command_loses_its_end": {"command": "SandboxUnreachableException", "executions": 1},
    # This client does not notice that the last event is missing.
    "run_without_its_end": {"stdout": "partial\n", "error": None},
    "unknown_events": {"run": "hello\n", "command": "hello\n"},
}

STAND_IN = StandIn(setting("E2B_API_URL"))
# What the table calls the ids of this run.
HIDDEN: dict[str, str] = {}


def fields(error: Exception) -> dict[str, Any]:
    """What is looked at of an exception: its words and, where it has them, status and what a command left."""
    named = {name: getattr(error, name, None) for name in ("status_code", "exit_code", "stdout", "stderr", "error")}
    return {"message": str(error), **{name: value for name, value in named.items() if value is not None}}


def attempt(call: Callable[[], Any]) -> Any:
    return said(call, fields)


def create(name: str = "{sandbox}", **more: Any) -> Sandbox:
    """A sandbox without internet, which the table calls `name`."""
    closed = {"allow_internet_access": False, "network": {"allow_public_traffic": False}}
    sandbox = Sandbox.create(**{"timeout": LIFETIME, "metadata": {TAG: LEASE}, **closed, **more})
    HIDDEN[sandbox.sandbox_id] = name
    return sandbox


@contextmanager
def created(name: str = "{sandbox}", **more: Any) -> Iterator[Sandbox]:
    """The same, killed afterwards."""
    sandbox = create(name, **more)
    try:
        yield sandbox
    finally:
        STAND_IN.script()
        sandbox.kill()


def refused(**more: Any) -> Any:
    """What is said of a sandbox that should not come to be; its id if it does."""
    return attempt(lambda: create(**more).sandbox_id)


def lives(sandbox: Sandbox, seconds: int) -> bool:
    """Whether the sandbox ends in so many seconds, give or take what a slow machine needs."""
    left = sandbox.get_info().end_at.timestamp() - time.time()
    return seconds - 10 < left <= seconds + 1


def run(sandbox: Sandbox, code: str, **more: Any) -> dict[str, Any]:
    execution = sandbox.run_code(code, **{"timeout": LONG, **more})
    error = execution.error
    return {
        "stdout": "".join(execution.logs.stdout),
        "stderr": "".join(execution.logs.stderr),
        "text": execution.text,
        "execution_count": execution.execution_count,
        "error": error and {"name": error.name, "value": error.value, "traceback": error.traceback},
    }


def command(sandbox: Sandbox, line: str, **more: Any) -> dict[str, Any]:
    result = sandbox.commands.run(line, **{"timeout": LONG, **more})
    return {"stdout": result.stdout, "stderr": result.stderr, "exit_code": result.exit_code, "error": result.error}


def answers(at: str, status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """The fault of an answer in the vendor's form of errors."""
    body = json.dumps({"code": status, "message": message})
    answer = {"status": status, "body": body, "content_type": "application/json", "headers": headers or {}}
    return {"at": at, "do": {"answer": answer}, **more}


def says(at: str, status: int, body: str, content_type: str) -> dict[str, Any]:
    """The fault of an answer that is not JSON."""
    return {"at": at, "do": {"answer": {"status": status, "body": body, "content_type": content_type}}}


def create_without_internet() -> Any:
    with created() as sandbox:
        info = sandbox.get_info()
        return {
            "state": info.state.value,
            "allow_internet_access": info.allow_internet_access,
            "metadata": info.metadata,
            "lives_90_s": lives(sandbox, LIFETIME),
            "is_running": sandbox.is_running(),
        }


def create_with_some_internet() -> Any:
    rules = {"deny_out": ["0.0.0.0/0"], "allow_out": ["1.1.1.1/32", "api.example.com"], "allow_public_traffic": False}
    with created(allow_internet_access=None, network=rules) as sandbox:
        network = sandbox.get_info().network or {}
        return {name: network.get(name) for name in ("allow_out", "deny_out")}


def python_prints() -> Any:
    with created() as sandbox:
        return run(sandbox, "import sys; print('hello from sandbox'); print('warn', file=sys.stderr); 42")


def python_raises() -> Any:
    with created() as sandbox:
        outcome = run(sandbox, "print('before')\n1/0")
        error = outcome["error"]
        ends = last_line(error.pop("traceback"))
        return {"stdout": outcome["stdout"], "error": error, "traceback_ends": ends}


def python_exits_3() -> Any:
    with created() as sandbox:
        outcome = run(sandbox, "import sys; sys.exit(3)")
        outcome["error"].pop("traceback")
        return {"stdout": outcome["stdout"], "error": outcome["error"]}


def python_dies() -> Any:
    with created() as sandbox:
        outcome = run(sandbox, "import os; os._exit(1)")
        outcome["error"].pop("traceback")
        return {"stdout": outcome["stdout"], "error": outcome["error"]}


def python_in_a_context() -> Any:
    with created() as sandbox:
        context = sandbox.create_code_context(language="python", cwd="/home/user")
        outcome = run(sandbox, "print('hello')", context=context)
        return {"language": context.language, "cwd": context.cwd, "stdout": outcome["stdout"]}


def python_times_out() -> Any:
    sandbox = create()
    outcome = attempt(lambda: run(sandbox, "print('started')\nwhile True: pass", timeout=SHORT))
    return {"run": outcome, "kill": sandbox.kill()}


def javascript_prints() -> Any:
    with created() as sandbox:
        outcome = run(sandbox, "console.log(6 * 7)", language="javascript")
        return {"stdout": outcome["stdout"], "error": outcome["error"]}


def command_prints() -> Any:
    with created() as sandbox:
        return command(sandbox, "echo hello; echo oops >&2")


def command_exits_3() -> Any:
    with created() as sandbox:
        return attempt(lambda: command(sandbox, "echo bad >&2; exit 3"))


def command_is_killed() -> Any:
    with created() as sandbox:
        return attempt(lambda: command(sandbox, "kill -9 $$"))


def command_in_no_folder() -> Any:
    with created() as sandbox:
        return attempt(lambda: command(sandbox, "true", cwd="/nope"))


def command_in_the_background() -> Any:
    with created() as sandbox:
        process = sandbox.commands.run("sleep 600", background=True, timeout=LONG)
        return {"killed": process.kill(), "killed_again": sandbox.commands.kill(process.pid)}


def command_times_out() -> Any:
    with created() as sandbox:
        return attempt(lambda: command(sandbox, "sleep 600", timeout=SHORT))


def base_template() -> Any:
    with created(template="base") as sandbox:
        return {"command": command(sandbox, "echo hello"), "run": attempt(lambda: run(sandbox, "print(1)"))}


def kill_twice() -> Any:
    sandbox = create()
    return {
        "first": sandbox.kill(),
        "second": sandbox.kill(),
        "is_running": sandbox.is_running(),
        "info": attempt(sandbox.get_info),
        "run": attempt(lambda: run(sandbox, "print(1)")),
        "command": attempt(lambda: command(sandbox, "echo 1")),
    }


def kill_unknown() -> Any:
    return Sandbox.kill(NOBODY)


def set_timeout() -> Any:
    with created() as sandbox:
        sandbox.set_timeout(45)
        return {"lives_45_s": lives(sandbox, 45)}


def list_by_metadata() -> Any:
    odd = {"router task": "a&b=c"}
    with created(metadata={TAG: LEASE}), created("{other}", metadata={TAG: LEASE, **odd}):

        def found(metadata: dict[str, str], limit: int) -> tuple[list[str], int]:
            pages, ids = Sandbox.list(query=SandboxQuery(metadata=metadata), limit=limit), []
            count = 0
            while pages.has_next:
                ids += [HIDDEN[one.sandbox_id] for one in pages.next_items()]
                count += 1
            return sorted(ids), count

        both, pages = found({TAG: LEASE}, 1)
        return {"both": both, "one": found(odd, 100)[0], "pages": pages}


def wrong_key() -> Any:
    return refused(api_key=WRONG_KEY)


def unknown_template() -> Any:
    return refused(template="no-such-template")


def too_long_a_lifetime() -> Any:
    return refused(timeout=2 * 60 * 60)


def rate_limited_once() -> Any:
    limits = {"RateLimit-Limit": "1", "RateLimit-Remaining": "0", "RateLimit-Reset": "1", "Retry-After": "1"}
    STAND_IN.script(answers("create", 429, "Rate limit exceeded", limits, times=1))
    started = time.monotonic()
    with created():
        return {"created": True, "waited": time.monotonic() - started > 0.9}


def too_many_sandboxes() -> Any:
    STAND_IN.script(answers("create", 429, TOO_MANY))
    return refused()


def create_fails_500() -> Any:
    STAND_IN.script(answers("create", 500, NOT_PLACED))
    return refused()


def create_fails_502_html() -> Any:
    STAND_IN.script(says("create", 502, HTML, "text/html"))
    return refused()


def create_fails_503() -> Any:
    STAND_IN.script(answers("create", 503, NO_ROOM))
    return refused()


def run_fails_500() -> Any:
    with created() as sandbox:
        STAND_IN.script(says("run", 500, "Internal Server Error", "text/plain"))
        return attempt(lambda: run(sandbox, "print(1)"))


def run_fails_429() -> Any:
    with created() as sandbox:
        STAND_IN.script(says("run", 429, "busy", "text/plain"))
        return attempt(lambda: run(sandbox, "print(1)"))


def kill_fails_500() -> Any:
    with created() as sandbox:
        STAND_IN.script(answers("delete", 500, "Error killing sandbox: failed to remove sandbox"))
        return attempt(sandbox.kill)


def run_loses_its_end() -> Any:
    with created() as sandbox:
        before = STAND_IN.executions(LEASE)
        STAND_IN.script({"at": "run", "do": {"cut_within": {"bytes": 60}}})
        outcome = attempt(lambda: run(sandbox, "print('partial')"))
        return {"run": outcome.get("raised"), "executions": STAND_IN.executions(LEASE) - before}


def command_loses_its_end() -> Any:
    with created() as sandbox:
        before = STAND_IN.executions(LEASE)
        STAND_IN.script({"at": "run", "do": {"cut_within": {"bytes": 60}}})
        outcome = attempt(lambda: command(sandbox, "echo partial"))
        return {"command": outcome.get("raised"), "executions": STAND_IN.executions(LEASE) - before}


def run_without_its_end() -> Any:
    with created() as sandbox:
        STAND_IN.script({"at": "run", "do": {"garble": {"kind": "no_end"}}})
        outcome = run(sandbox, "print('partial')")
        return {"stdout": outcome["stdout"], "error": outcome["error"]}


def unknown_events() -> Any:
    with created() as sandbox:
        STAND_IN.script({"at": "run", "do": {"garble": {"kind": "unknown_events"}}})
        return {"run": run(sandbox, "print('hello')")["stdout"], "command": command(sandbox, "echo hello")["stdout"]}


SCENARIOS = [
    create_without_internet, create_with_some_internet, python_prints, python_raises, python_exits_3, python_dies,
    python_in_a_context, python_times_out, javascript_prints, command_prints, command_exits_3, command_is_killed,
    command_in_no_folder, command_in_the_background, command_times_out, base_template, kill_twice, kill_unknown,
    set_timeout, list_by_metadata, wrong_key, unknown_template, too_long_a_lifetime, rate_limited_once, too_many_sandboxes,
    create_fails_500, create_fails_502_html, create_fails_503, run_fails_500, run_fails_429, kill_fails_500,
    run_loses_its_end, command_loses_its_end, run_without_its_end, unknown_events,
]  # fmt: skip

if __name__ == "__main__":
    scenarios = {scenario.__name__: scenario for scenario in SCENARIOS}
    sys.exit(drive(CLIENT, STAND_IN, scenarios, EXPECTED, HIDDEN))
