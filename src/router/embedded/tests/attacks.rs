//! What a snippet that means ill runs into.

use super::*;

const SHORT: Duration = Duration::from_millis(400);
/// How late a deadline may be on a machine that does much else.
const LATE: Duration = Duration::from_millis(1500);

/// The code is ended at its deadline, not before and not much later.
#[track_caller]
fn times_out(language: Language, code: &str) -> Run {
    let run = run_for(language, code, SHORT);
    let Ended { kind, code_started, duration, .. } = &run.ended;
    assert_eq!((kind, code_started), (&EndedKind::TimedOut, &true), "{code}\n{}", run.stderr());
    assert!(*duration >= SHORT && *duration < SHORT + LATE, "{code}: {duration:?}");
    run
}

#[test]
fn nothing_outlives_its_deadline() {
    for code in [
        "while True: pass",
        "import time; time.sleep(60)",
        "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
        "9**9**9",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import asyncio; asyncio.run(asyncio.sleep(60))",
    ] {
        times_out(Python, code);
    }
    for code in ["for (;;);", "setTimeout(() => {}, 60000)", "/(a+)+$/.test('a'.repeat(40) + 'b')"]
    {
        times_out(JavaScript, code);
    }
}

#[test]
fn what_was_printed_before_the_deadline_is_kept() {
    let run = times_out(Python, "print('partial')\nwhile True: pass");
    assert_eq!(run.stdout(), "partial\n");
    assert_eq!(times_out(JavaScript, "print('partial'); for (;;);").stdout(), "partial\n");
}

#[test]
fn memory_is_bounded() {
    let code = "parts = []
try:
    while True: parts.append(bytearray(10_000_000))
except MemoryError:
    print(len(parts) < 13)";
    prints(Python, code, "True");
    let code = "const parts = [];
        try { for (;;) parts.push(new Uint8Array(10_000_000)) } catch (e) { print(parts.length < 13) }";
    prints(JavaScript, code, "true");
}

#[test]
fn output_is_capped_and_counted() {
    const KEPT: usize = 1024 * 1024;
    for (language, code) in [
        (Python, "for _ in range(1000): print('x' * 9_999)"),
        (JavaScript, "for (let i = 0; i < 1000; i++) print('x'.repeat(9_999))"),
    ] {
        let run = run(language, code);
        assert_eq!(run.ended.kind, EndedKind::Exited(0));
        assert_eq!(run.stdout.len(), KEPT);
        assert_eq!(run.ended.stdout_dropped_bytes, 10_000_000 - KEPT as u64);
        assert_eq!(run.ended.stderr_dropped_bytes, 0);
    }
}

#[test]
fn there_are_no_files() {
    for code in [
        "open('/etc/passwd')",
        "open('/proc/self/environ')",
        "open('../../etc/passwd')",
        "import os; os.listdir('/')",
        "open('/tmp/x', 'w')",
        "open('x', 'w')",
    ] {
        fails(Python, code, 1, &["Error: "]);
    }
    prints(JavaScript, "print(std.loadFile('/etc/passwd'), os.readdir('/')[1] !== 0)", "null true");
}

#[test]
fn there_is_no_environment() {
    prints(Python, "import os, sys; print(dict(os.environ), sys.argv)", "{} ['<snippet>']");
    prints(JavaScript, "print(JSON.stringify(std.getenviron()))", "{}");
}

#[test]
fn there_is_no_network() {
    for code in [
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import socket; socket.socket().bind(('127.0.0.1', 0))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')",
    ] {
        fails(Python, code, 1, &["rror"]);
    }
    prints(JavaScript, "print(typeof fetch, typeof os.connect)", "undefined undefined");
}

#[test]
fn there_are_no_processes_and_threads() {
    for code in [
        "import os; os.fork()",
        "import os; os.system('true')",
        "import os; os.execv('/bin/true', ['true'])",
        "import os; os.kill(1, 9)",
        "import subprocess; subprocess.run(['true'])",
        "import threading; threading.Thread(target=print).start()",
        "import ctypes",
    ] {
        fails(Python, code, 1, &["Error: "]);
    }
    prints(JavaScript, "print(typeof os.exec, typeof os.kill)", "undefined undefined");
}

#[test]
fn deep_recursion_is_an_error_or_a_crash_and_never_more() {
    fails(Python, "def f(): f()\nf()", 1, &["RecursionError"]);
    let deep = "x = []\nfor _ in range(100_000): x = [x]\nrepr(x)";
    fails(Python, deep, 1, &["RecursionError"]);
    let unguarded = "import sys
sys.setrecursionlimit(10**9)
class A:
    def __getattr__(self, name): return getattr(self, name + 'x')
print('before')
A().x";
    for (language, code) in
        [(Python, unguarded), (JavaScript, "print('before'); (function f() { f() })()")]
    {
        let run = run(language, code);
        assert_eq!(run.stdout(), "before\n");
        match &run.ended.kind {
            // Whichever of its two stacks is exhausted first.
            EndedKind::Crashed(text) => assert!(text.starts_with("wasm trap: "), "{text}"),
            EndedKind::Exited(1) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_crash_has_a_text_and_an_exit_code() {
    let run = run(JavaScript, "(function f() { f() })()");
    assert!(matches!(run.ended.kind, EndedKind::Crashed(_)), "{run:?}");
    assert_eq!(run.ended.kind.exit_code(), Some(134));
}
