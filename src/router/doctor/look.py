# What a sandbox is like from within: `thud doctor` runs it. Whatever fails is an answer too, and nothing takes long.
import json
import os
import platform

LIMIT_SECONDS = 3
WORDS_MAX = 200


def look(at):
    """What it says, or why it says nothing; and whether it came through."""
    answer = {"reached": False, "said": f"no answer within {LIMIT_SECONDS} s"}

    def ask():
        try:
            answer.update(said=str(at())[:WORDS_MAX], reached=True)
        except BaseException as error:
            answer.update(said=f"{type(error).__name__}: {error}"[:WORDS_MAX])

    try:
        import threading

        # A lookup knows no limit of its own.
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
    except Exception:
        ask()
    else:
        thread.join(LIMIT_SECONDS + 0.5)
    return dict(answer)


def connect():
    import socket

    with socket.create_connection(("1.1.1.1", 443), timeout=LIMIT_SECONDS):
        return "connected"


def lookup():
    import socket

    return socket.getaddrinfo("example.com", 443)[0][4][0]


def read(path):
    try:
        with open(path) as file:
            return file.read(4096).strip()
    except (OSError, ValueError):
        return ""


def inside():
    """Signs of a container or a virtual machine. Code can be deceived: they prove nothing."""
    system = platform.uname()
    yield f"Python {platform.python_version()}"
    yield " ".join(part for part in (system.system, system.release, system.machine) if part)
    if "gvisor" in read("/proc/version").lower():
        yield "its kernel calls itself gVisor"
    if first := read("/proc/1/comm"):
        yield f"process 1 is {first}"
    if name := read("/sys/class/dmi/id/product_name"):
        yield f"the machine calls itself {name}"
    if "hypervisor" in read("/proc/cpuinfo"):
        yield "the processor tells of a hypervisor"
    for path in ("/.dockerenv", "/run/.containerenv"):
        if os.path.exists(path):
            yield f"{path} is there"


print(json.dumps({"connect": look(connect), "lookup": look(lookup), "inside": "; ".join(inside())[:1000]}))
