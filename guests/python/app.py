"""Runs one snippet as `python -c` would. The module is imported once, while the snapshot is made."""

import asyncio
import asyncio.base_events
import asyncio.events
import atexit
import gc
import io
import linecache
import os
import sys
import time
import traceback
import types

import preload
import wit_world
from wit_world.imports import host

preload.preload()

FILE_NAME = "<snippet>"
# The host pays for every byte of one call: larger writes go in pieces.
PIECE_BYTES = 16 * 1024


class _HostStream(io.RawIOBase):
    """One of the two outputs. The runtime's own standard output loses bytes of large writes."""

    def __init__(self, number):
        self._number = number

    def writable(self):
        return True

    def fileno(self):
        return self._number

    def write(self, data):
        piece = bytes(memoryview(data)[:PIECE_BYTES])
        host.emit(self._number, piece)
        return len(piece)


def _open_streams():
    # Line by line: what was printed before the deadline is not lost with the instance.
    def text(number, errors):
        buffer = io.BufferedWriter(_HostStream(number))
        return io.TextIOWrapper(buffer, "utf-8", errors, newline="\n", line_buffering=True)

    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.stdout = sys.__stdout__ = text(1, "surrogateescape")
    sys.stderr = sys.__stderr__ = text(2, "backslashreplace")


def _flush_streams():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            # The snippet may have closed or replaced it.
            pass


class _Sleeper:
    """Stands in for a selector: without sockets there is only time to wait for."""

    def select(self, timeout=None):
        if timeout:
            time.sleep(timeout)
        return []

    def close(self):
        pass


class _EventLoop(asyncio.base_events.BaseEventLoop):
    """Runs coroutines and timers. The usual loops want a socket pair, which WASI does not have."""

    def __init__(self):
        super().__init__()
        self._selector = _Sleeper()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass


asyncio.new_event_loop = asyncio.events.new_event_loop = _EventLoop


def _exit(code=0):
    _flush_streams()
    host.exit(code if isinstance(code, int) and -(2**31) <= code < 2**31 else 1)


# WASI's own would end the instance without telling the code apart from a crash.
os._exit = _exit


def _exit_code(wanted):
    """What `sys.exit(wanted)` ends a process with."""
    if wanted is None:
        return 0
    if isinstance(wanted, int):
        return wanted & 0xFF
    print(wanted, file=sys.stderr)
    return 1


def _execute(code):
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    # So that tracebacks can show the lines.
    linecache.cache[FILE_NAME] = (len(code), None, code.splitlines(True), FILE_NAME)
    try:
        exec(compile(code, FILE_NAME, "exec"), main.__dict__)
    except SystemExit as wanted:
        return _exit_code(wanted.code)
    except BaseException as error:
        # The first entry is this function's own.
        error.__traceback__ = error.__traceback__.tb_next
        traceback.print_exception(error)
        return 1
    return 0


class WitWorld(wit_world.WitWorld):
    def run(self, code: str) -> int:
        _open_streams()
        sys.argv = [FILE_NAME]
        exit_code = _execute(code)
        try:
            atexit._run_exitfuncs()
        except BaseException:
            # CPython, too, ends with the snippet's own code then.
            pass
        _flush_streams()
        return exit_code


# What is there now lives as long as the instance: the collector need not look at it again.
gc.collect()
gc.freeze()
