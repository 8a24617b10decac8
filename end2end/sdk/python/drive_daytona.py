"""Drives the stand-in of Daytona with the vendor's own Python client, `daytona`, and compares what it says with the table
below. The table says what it was seen to say about the answers that the vendor documents."""

import json
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from daytona import CreateSandboxFromSnapshotParams, Daytona, DaytonaConfig, ListSandboxesQuery, Sandbox, SessionExecuteRequest
from scenarios import StandIn, drive, last_line, said, setting

CLIENT = "Daytona, Python"
# The label that a sandbox carries, and its value here.
LABEL, LEASE = "thud_lease", "sdk-daytona-python"
WRONG_KEY = "dtn_" + "0" * 64
# A sandbox that never was.
NOBODY = "00000000-0000-4000-8000-000000000000"
# Seconds that a run may take in the scenarios of timeouts and in all others.
SHORT, LONG = 1, 30

CPU_LIMIT = "Total CPU limit exceeded. Maximum allowed: 10."
RATE = "ThrottlerException: Too Many Requests"
UNEXPECTED = "An unexpected error occurred."
MAINTENANCE = "Service is currently under maintenance. Please try again later."
HTML = "<html><head><title>502 Bad Gateway</title></head></html>"
TIMED_OUT = {"raised": "DaytonaTimeoutError", "message": "Failed to run code: Execution timed out: operation exceeded the configured `timeout`. Provide a larger value if needed."}

EXPECTED: dict[str, Any] = {
    "create_without_internet": {
        "created": {"state": "started", "network_block_all": True, "public": False, "lease": LEASE},
        "asked_again": {"state": "started", "network_block_all": True, "public": False, "lease": LEASE},
        "name_kept": True,
    },
    "python_prints": {"exit_code": 0, "result": "hello from sandbox\nwarn\n"},
    "python_raises": {"exit_code": 1, "result_ends": "ZeroDivisionError: division by zero"},
    "python_exits_3": {"exit_code": 3, "result": ""},
    "python_times_out": {
        "raised": "ApiException",
        "status": 408,
        "message": "request timeout: command execution timeout",
        "code": "PROCESS_EXECUTION_TIMEOUT",
    },
    "javascript_prints": {"exit_code": 0, "result": "42\n"},
    "command_prints": {"exit_code": 0, "result": "hello\noops\n"},
    "command_exits_3": {"exit_code": 3, "result": "bad\n"},
    "command_is_killed": {"exit_code": -1, "result": ""},
    "command_times_out": {
        "raised": "DaytonaProcessExecutionTimeoutError",
        "message": "Failed to execute command: request timeout: command execution timeout",
        "status_code": 408,
        "code": "PROCESS_EXECUTION_TIMEOUT",
    },
    "interpreter_prints": {"stdout": "hello from sandbox\n", "stderr": "warn\n", "error": None},
    "interpreter_raises": {"name": "ZeroDivisionError", "value": "division by zero", "ends": "ZeroDivisionError: division by zero"},
    "interpreter_times_out": TIMED_OUT,
    "session_prints": {"exit_code": 0, "stdout": "hello\n", "stderr": "oops\n"},
    "delete_twice": {
        "first": None,
        "second": {
            "raised": "DaytonaNotFoundError",
            "message": "Failed to remove sandbox: Sandbox with ID or name {sandbox} not found",
            "status_code": 404,
        },
        "run": {
            "raised": "NotFoundException",
            "status": 404,
            "message": "not found: sandbox container not found: Error response from daemon: No such container",
            "code": "NOT_FOUND",
        },
        "left": [],
    },
    "get_unknown": {
        "raised": "DaytonaNotFoundError",
        "message": f"Failed to get sandbox: Sandbox with ID or name {NOBODY} not found",
        "status_code": 404,
    },
    "list_by_labels": {"both": ["{other}", "{sandbox}"], "one": ["{other}"]},
    "name_taken": {
        "raised": "DaytonaConflictError",
        "message": "Failed to create sandbox: Sandbox with name {name} already exists",
        "status_code": 409,
    },
    "wrong_key": {"raised": "DaytonaAuthenticationError", "message": "Failed to create sandbox: Invalid credentials", "status_code": 401},
    "unknown_snapshot": {
        "raised": "DaytonaBadRequestError",
        "message": "Failed to create sandbox: Snapshot no-such-snapshot not found. Did you add it through the Daytona Dashboard?",
        "status_code": 400,
    },
    "quota": {"raised": "DaytonaBadRequestError", "message": f"Failed to create sandbox: {CPU_LIMIT}", "status_code": 400},
    "rate_limited": {
        "raised": "DaytonaRateLimitError",
        "message": f"Failed to create sandbox: {RATE}",
        "status_code": 429,
        "retry_after": "7",
    },
    "create_fails_500": {"raised": "DaytonaInternalServerError", "message": f"Failed to create sandbox: {UNEXPECTED}", "status_code": 500},
    "create_fails_502_html": {"raised": "DaytonaBadGatewayError", "message": f"Failed to create sandbox: {HTML}", "status_code": 502},
    "create_fails_503": {
        "raised": "DaytonaServiceUnavailableError",
        "message": f"Failed to create sandbox: {MAINTENANCE}",
        "status_code": 503,
    },
    "create_gets_no_answer": {"raised": "DaytonaConnectionError", "left": [LEASE]},
    "delete_fails_409": {
        "raised": "DaytonaConflictError",
        "message": "Failed to remove sandbox: Sandbox state change in progress",
        "status_code": 409,
    },
    "run_fails_500": {"raised": "ServiceException", "status": 500, "message": "internal server error: boom", "code": "INTERNAL_SERVER_ERROR"},
    "run_fails_502_empty": {"raised": "ServiceException", "status": 502},
    # This client sends a run again, up to three times, when the connection closes without an answer.
    "run_loses_its_answer": {"run": "MaxRetryError", "executions": 4},
    "run_loses_its_end": {"run": "ProtocolError", "executions": 1},
    "unknown_fields": {"exit_code": 0, "result": "hello\n"},
    "event_socket_refused": {"created": "started", "run": {"exit_code": 0, "result": "1\n"}},
}

STAND_IN = StandIn(setting("DAYTONA_API_URL").removesuffix("/api"))
# What the table calls the ids and names of this run.
HIDDEN: dict[str, str] = {}


def fields(error: Exception) -> dict[str, Any]:
    """What is looked at of an exception: its words, status and code. Those of the generated client have them in the body."""
    body = getattr(error, "body", None)
    if body is None and not hasattr(error, "status_code"):
        return {"status": error.status} if hasattr(error, "status") else {"message": str(error)}
    if body is None:
        named = {name: getattr(error, name) for name in ("message", "status_code", "code")}
    else:
        told = json.loads(body) if body else {}
        named = {"status": error.status, "message": told.get("message"), "code": told.get("code")}
    return {name: value for name, value in named.items() if value is not None}


def attempt(call: Callable[[], Any]) -> Any:
    return said(call, fields)


def client(**more: Any) -> Daytona:
    """The client, set by the environment but for what is said here."""
    return Daytona(DaytonaConfig(**more)) if more else Daytona()


def create(at: Daytona | None = None, called: str = "{sandbox}", labels: dict[str, str] | None = None, **more: Any) -> Sandbox:
    """A sandbox without internet that is deleted when it stops; the table calls it `called`."""
    asked = {
        "language": "python",
        "name": f"thud-{uuid.uuid4()}",
        "labels": {LABEL: LEASE, **(labels or {})},
        "network_block_all": True,
        "auto_stop_interval": 1,
        "auto_delete_interval": 0,
        "ttl_minutes": 5,
        **more,
    }
    HIDDEN[asked["name"]] = "{name}"
    sandbox = (at or client()).create(CreateSandboxFromSnapshotParams(**asked))
    HIDDEN[sandbox.id] = called
    return sandbox


@contextmanager
def created(**more: Any) -> Iterator[Sandbox]:
    """The same, deleted afterwards."""
    sandbox = create(**more)
    try:
        yield sandbox
    finally:
        STAND_IN.script()
        sandbox.delete()


def refused(**more: Any) -> Any:
    """What is said of a sandbox that should not come to be; its id if it does."""
    return attempt(lambda: create(**more).id)


def look(sandbox: Sandbox) -> dict[str, Any]:
    return {
        "state": sandbox.state.value,
        "network_block_all": sandbox.network_block_all,
        "public": sandbox.public,
        "lease": sandbox.labels.get(LABEL),
    }


def run(sandbox: Sandbox, code: str, timeout: int = LONG) -> dict[str, Any]:
    answer = sandbox.process.code_run(code, timeout=timeout)
    return {"exit_code": answer.exit_code, "result": answer.result}


def command(sandbox: Sandbox, line: str, timeout: int = LONG) -> dict[str, Any]:
    answer = sandbox.process.exec(line, timeout=timeout)
    return {"exit_code": answer.exit_code, "result": answer.result}


def interpret(sandbox: Sandbox, code: str, timeout: int = LONG) -> Any:
    return sandbox.code_interpreter.run_code(code, timeout=timeout)


def answers(at: str, status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """The fault of an answer in the vendor's form of errors."""
    body = json.dumps({"statusCode": status, "message": message, "timestamp": "2026-11-30T00:00:00.000Z", "path": "/", **more})
    answer = {"status": status, "body": body, "content_type": "application/json", "headers": headers or {}}
    return {"at": at, "do": {"answer": answer}}


def create_without_internet() -> Any:
    with created() as sandbox:
        again = client().get(sandbox.id)
        return {"created": look(sandbox), "asked_again": look(again), "name_kept": HIDDEN.get(again.name) == "{name}"}


def python_prints() -> Any:
    with created() as sandbox:
        return run(sandbox, "import sys; print('hello from sandbox', flush=True); print('warn', file=sys.stderr)")


def python_raises() -> Any:
    with created() as sandbox:
        outcome = run(sandbox, "1/0")
        return {"exit_code": outcome["exit_code"], "result_ends": last_line(outcome["result"])}


def python_exits_3() -> Any:
    with created() as sandbox:
        return run(sandbox, "import sys; sys.exit(3)")


def python_times_out() -> Any:
    with created() as sandbox:
        return attempt(lambda: run(sandbox, "while True: pass", timeout=SHORT))


def javascript_prints() -> Any:
    with created(language="javascript") as sandbox:
        return run(sandbox, "console.log(6 * 7)")


def command_prints() -> Any:
    with created() as sandbox:
        return command(sandbox, "echo hello; echo oops >&2")


def command_exits_3() -> Any:
    with created() as sandbox:
        return command(sandbox, "echo bad >&2; exit 3")


def command_is_killed() -> Any:
    with created() as sandbox:
        return command(sandbox, "kill -9 $$")


def command_times_out() -> Any:
    with created() as sandbox:
        return attempt(lambda: command(sandbox, "sleep 600", timeout=SHORT))


def interpreter_prints() -> Any:
    with created() as sandbox:
        answer = interpret(sandbox, "import sys; print('hello from sandbox'); print('warn', file=sys.stderr)")
        return {"stdout": answer.stdout, "stderr": answer.stderr, "error": answer.error}


def interpreter_raises() -> Any:
    with created() as sandbox:
        error = interpret(sandbox, "1/0").error
        return {"name": error.name, "value": error.value, "ends": last_line(error.traceback)}


def interpreter_times_out() -> Any:
    with created() as sandbox:
        return attempt(lambda: interpret(sandbox, "while True: pass", timeout=SHORT))


def session_prints() -> Any:
    with created() as sandbox:
        sandbox.process.create_session("s1")
        request = SessionExecuteRequest(command="echo hello; echo oops >&2")
        answer = sandbox.process.execute_session_command("s1", request)
        sandbox.process.delete_session("s1")
        return {"exit_code": answer.exit_code, "stdout": answer.stdout, "stderr": answer.stderr}


def delete_twice() -> Any:
    sandbox = create()
    first = sandbox.delete(wait=True)
    return {
        "first": first,
        "second": attempt(sandbox.delete),
        "run": attempt(lambda: run(sandbox, "print(1)")),
        "left": STAND_IN.sandboxes(),
    }


def get_unknown() -> Any:
    return attempt(lambda: client().get(NOBODY))


def list_by_labels() -> Any:
    odd = {"router task": "a&b"}
    with created(), created(called="{other}", labels=odd):

        def found(labels: dict[str, str]) -> list[str]:
            # One a page: the client follows the pages itself.
            return sorted(HIDDEN[one.id] for one in client().list(ListSandboxesQuery(labels=labels, limit=1)))

        return {"both": found({LABEL: LEASE}), "one": found(odd)}


def name_taken() -> Any:
    with created() as sandbox:
        return refused(name=sandbox.name)


def wrong_key() -> Any:
    return refused(at=client(api_key=WRONG_KEY))


def unknown_snapshot() -> Any:
    return refused(snapshot="no-such-snapshot")


def quota() -> Any:
    STAND_IN.script(answers("create", 400, CPU_LIMIT, error="Bad Request"))
    return refused()


def rate_limited() -> Any:
    limits = {"X-RateLimit-Limit-sandbox-create": "300", "X-RateLimit-Remaining-sandbox-create": "0"}
    limits |= {"X-RateLimit-Reset-sandbox-create": "7", "Retry-After-sandbox-create": "7"}
    STAND_IN.script(answers("create", 429, RATE, limits, error="Too Many Requests"))

    def fields_and_wait(error: Exception) -> dict[str, Any]:
        headers = {name.lower(): value for name, value in getattr(error, "headers", {}).items()}
        return {**fields(error), "retry_after": headers.get("retry-after-sandbox-create")}

    return said(lambda: create().id, fields_and_wait)


def create_fails_500() -> Any:
    STAND_IN.script(answers("create", 500, UNEXPECTED, error="Internal Server Error"))
    return refused()


def create_fails_502_html() -> Any:
    STAND_IN.script({"at": "create", "do": {"answer": {"status": 502, "body": HTML, "content_type": "text/html"}}})
    return refused()


def create_fails_503() -> Any:
    STAND_IN.script(answers("create", 503, MAINTENANCE, error="Service Unavailable"))
    return refused()


def create_gets_no_answer() -> Any:
    STAND_IN.script({"at": "create", "do": {"cut_after": {}}, "times": 1})
    outcome = refused()
    return {"raised": outcome.get("raised"), "left": [one["labels"].get(LABEL) for one in STAND_IN.sandboxes()]}


def delete_fails_409() -> Any:
    with created() as sandbox:
        STAND_IN.script(answers("delete", 409, "Sandbox state change in progress", error="Conflict"))
        return attempt(sandbox.delete)


def run_fails_500() -> Any:
    with created() as sandbox:
        told = {"code": "INTERNAL_SERVER_ERROR", "source": "DAYTONA_DAEMON", "method": "POST"}
        STAND_IN.script(answers("run", 500, "internal server error: boom", **told))
        return attempt(lambda: run(sandbox, "print(1)"))


def run_fails_502_empty() -> Any:
    with created() as sandbox:
        STAND_IN.script({"at": "run", "do": {"answer": {"status": 502, "body": ""}}})
        return attempt(lambda: run(sandbox, "print(1)"))


def run_loses_its_answer() -> Any:
    with created() as sandbox:
        before = STAND_IN.executions(LEASE)
        STAND_IN.script({"at": "run", "do": {"cut_after": {}}})
        outcome = attempt(lambda: run(sandbox, "print(1)"))
        return {"run": outcome.get("raised"), "executions": STAND_IN.executions(LEASE) - before}


def run_loses_its_end() -> Any:
    with created() as sandbox:
        before = STAND_IN.executions(LEASE)
        STAND_IN.script({"at": "run", "do": {"cut_within": {"bytes": 18}}})
        outcome = attempt(lambda: run(sandbox, "print(1)"))
        return {"run": outcome.get("raised"), "executions": STAND_IN.executions(LEASE) - before}


def unknown_fields() -> Any:
    with created() as sandbox:
        STAND_IN.script({"at": "any", "do": {"garble": {"kind": "unknown_events"}}})
        client().get(sandbox.id)
        return run(sandbox, "print('hello')")


def event_socket_refused() -> Any:
    with created(at=client(use_deprecated_polling=False)) as sandbox:
        return {"created": sandbox.state.value, "run": run(sandbox, "print(1)")}


SCENARIOS = [
    create_without_internet, python_prints, python_raises, python_exits_3, python_times_out, javascript_prints,
    command_prints, command_exits_3, command_is_killed, command_times_out, interpreter_prints, interpreter_raises,
    interpreter_times_out, session_prints, delete_twice, get_unknown, list_by_labels, name_taken, wrong_key,
    unknown_snapshot, quota, rate_limited, create_fails_500, create_fails_502_html, create_fails_503, create_gets_no_answer,
    delete_fails_409, run_fails_500, run_fails_502_empty, run_loses_its_answer, run_loses_its_end, unknown_fields,
    event_socket_refused,
]  # fmt: skip

if __name__ == "__main__":
    scenarios = {scenario.__name__: scenario for scenario in SCENARIOS}
    sys.exit(drive(CLIENT, STAND_IN, scenarios, EXPECTED, HIDDEN))
