//! What a snippet that means well may rely on.

use tokio_util::sync::CancellationToken;

use super::*;
use crate::router::doctor::{Verdict, examine};
use crate::router::embedded::{CODE_BYTES_MAX, CodeTooLarge};
use crate::router::local::Local;

#[test]
fn hello() {
    prints(Python, "print('Grüße, 世界 🐍')", "Grüße, 世界 🐍");
    prints(JavaScript, "console.log('Grüße, 世界 🐍')", "Grüße, 世界 🐍");
}

#[test]
fn the_versions_are_those_that_are_told() {
    prints(Python, "import sys; print(*sys.version_info[:2])", "3 14");
    prints(JavaScript, "console.log([3, 1, 2].toSorted().join())", "1,2,3");
}

#[test]
fn the_doctor_finds_nothing_wrong_and_no_way_out() {
    let checks = RUNTIME.block_on(examine(&Local::new(SANDBOX.clone()), &CancellationToken::new()));
    let failed: Vec<_> = checks.iter().filter(|check| check.verdict == Verdict::Failed).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(checks.iter().any(|check| check.words.starts_with("not reached")), "{checks:?}");
}

#[test]
fn an_error_is_shown_with_its_place() {
    let code = "def half(x):\n    return x / 0\n\nprint('before')\nhalf(1)";
    let line = "return x / 0\n           ~~^~~";
    fails(Python, code, 1, &["\"<snippet>\", line 5, in <module>", line, "ZeroDivisionError"]);
    assert_eq!(run(Python, code).stdout(), "before\n");
    fails(Python, "if", 1, &["\"<snippet>\", line 1", "SyntaxError"]);
    let chained =
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('x') from e";
    fails(Python, chained, 1, &["ZeroDivisionError", "direct cause", "ValueError: x"]);
    fails(JavaScript, "function f() { null.x }\nf()", 1, &["TypeError", "at f ("]);
    fails(JavaScript, "let let", 1, &["SyntaxError"]);
    fails(JavaScript, "Promise.reject(new Error('later'))", 1, &["later"]);
}

#[test]
fn exit_codes_are_kept() {
    for (code, exit_code) in [
        ("import sys; sys.exit(3)", 3),
        ("import os; print('x'); os._exit(7)", 7),
        ("exit(4)", 4),
        ("import sys; sys.exit()", 0),
        ("raise SystemExit(True)", 1),
    ] {
        fails(Python, code, exit_code, &[]);
    }
    fails(Python, "import sys; sys.exit('no way')", 1, &["no way"]);
    fails(JavaScript, "std.exit(5)", 5, &[]);
    prints(Python, "import atexit; atexit.register(print, 'bye'); print('hi')", "hi\nbye");
}

#[test]
fn there_is_no_input() {
    fails(Python, "input()", 1, &["EOFError"]);
    prints(JavaScript, "console.log(std.in.getline())", "null");
}

#[test]
fn both_outputs_arrive_apart() {
    let run = run(Python, "import sys; print('out'); print('err', file=sys.stderr)");
    assert_eq!((run.stdout(), run.stderr()), ("out\n".to_owned(), "err\n".to_owned()));
    let run = super::run(JavaScript, "std.out.puts('out'); std.err.puts('err')");
    assert_eq!((run.stdout(), run.stderr()), ("out".to_owned(), "err".to_owned()));
}

#[test]
fn bytes_arrive_as_they_were_written() {
    let code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 300)";
    let all: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(300);
    assert_eq!(run(Python, code).stdout, all);
    let code = "const all = new Uint8Array(256).map((_, i) => i);
        for (let i = 0; i < 300; i++) std.out.write(all.buffer, 0, 256)";
    assert_eq!(run(JavaScript, code).stdout, all);
}

#[test]
fn a_large_write_arrives_whole() {
    let code = "print('x' * 900_000, end='')";
    assert_eq!(run(Python, code).stdout, "x".repeat(900_000).into_bytes());
}

#[test]
fn output_comes_while_the_code_runs() {
    let code = "import time\nprint('one')\ntime.sleep(30)";
    let first = RUNTIME.block_on(async {
        let worker = SANDBOX.start(Python, Instant::now() + AMPLE).await.unwrap();
        let (sender, mut chunks) = tokio::sync::mpsc::unbounded_channel();
        let run = worker.run(code, AMPLE, |chunk| sender.send(chunk).unwrap());
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            chunk = chunks.recv() => chunk.unwrap(),
        }
    });
    assert_eq!(first, Chunk { stream: Stream::Stdout, bytes: b"one\n".to_vec() });
}

#[test]
fn the_library_of_python_is_there() {
    let modules = "argparse array ast asyncio base64 bisect calendar cmath collections.abc
        concurrent.futures contextlib copy csv dataclasses datetime decimal difflib email.message
        enum fractions functools gzip hashlib heapq hmac html.parser http.client inspect io
        ipaddress itertools json json.decoder locale logging.handlers math operator os.path pathlib
        pickle platform pprint queue random re secrets selectors shlex sqlite3 statistics string
        struct subprocess tempfile textwrap threading time tomllib traceback types typing
        unicodedata urllib.parse urllib.request uuid xml.etree.ElementTree zipfile zlib zoneinfo";
    let code = format!(
        "import importlib\nfor name in '''{modules}'''.split():\n    importlib.import_module(name)"
    );
    prints(Python, &code, "");
}

#[test]
fn the_library_of_python_works() {
    for (code, stdout) in [
        (
            "import sqlite3; print(sqlite3.connect(':memory:').execute('select 6*7').fetchone())",
            "(42,)",
        ),
        ("import json; print(json.dumps({'a': [1, None]}))", r#"{"a": [1, null]}"#),
        ("import zlib; print(zlib.decompress(zlib.compress(b'abc')))", "b'abc'"),
        ("import hashlib; print(hashlib.sha256(b'').hexdigest()[:8])", "e3b0c442"),
        ("from decimal import Decimal as D; print(D('0.1') + D('0.2'))", "0.3"),
        ("import argparse; print(argparse.ArgumentParser().parse_args([]))", "Namespace()"),
        ("import re; print(re.findall(r'\\d+', 'a1b22'))", "['1', '22']"),
        ("from zoneinfo import ZoneInfo; print(ZoneInfo.__name__)", "ZoneInfo"),
        ("import time; print(time.time() > 1.7e9)", "True"),
    ] {
        prints(Python, code, stdout);
    }
    let tasks = "import asyncio
async def twice(x):
    await asyncio.sleep(0.01)
    return 2 * x
async def main():
    print(await asyncio.gather(twice(1), twice(2)))
asyncio.run(main())";
    prints(Python, tasks, "[2, 4]");
}

#[test]
fn timers_and_promises_run() {
    let code = "setTimeout(() => console.log('third'), 5);
        Promise.resolve('second').then(console.log);
        console.log('first')";
    prints(JavaScript, code, "first\nsecond\nthird");
}

#[test]
fn the_console_shows_values() {
    for (code, stdout) in [
        (
            "console.log({a: [1, 'x', {b: null}]}, new Map([[1, new Set([2])]]))",
            r#"{ a: [ 1, "x", { b: null } ] } Map(1) { 1 => Set(1) { 2 } }"#,
        ),
        ("console.info(1n, undefined, Symbol('s'), [], {}, '')", "1n undefined Symbol(s) [] {}"),
        ("const a = []; a.push(a); console.log(a, class A {})", "[ [Circular] ] [Function: A]"),
        (
            "console.log({a: {b: {c: {d: 1}}}}, new Uint8Array(2))",
            "{ a: { b: { c: [Object] } } } Uint8Array(2) [ 0, 0 ]",
        ),
        ("console.error('x')", ""),
    ] {
        prints(JavaScript, code, stdout);
    }
    assert_eq!(run(JavaScript, "console.error('x', {})").stderr(), "x {}\n");
}

#[test]
fn chance_differs_from_run_to_run() {
    for (language, code) in [
        (Python, "import random, uuid, os; print(random.random(), uuid.uuid4(), os.urandom(8))"),
        (JavaScript, "console.log(Math.random())"),
    ] {
        assert_ne!(run(language, code).stdout, run(language, code).stdout, "{code}");
    }
}

#[test]
fn a_run_leaves_no_state() {
    let leave = "import builtins, json, sys; builtins.left = json.left = sys.left = 1";
    let look = "import builtins, json, sys
print(hasattr(builtins, 'left'), hasattr(json, 'left'), hasattr(sys, 'left'))";
    prints(Python, leave, "");
    prints(Python, look, "False False False");
    prints(JavaScript, "globalThis.left = Array.prototype.left = 1", "");
    prints(JavaScript, "console.log(globalThis.left, [].left)", "undefined undefined");
}

#[test]
fn code_may_be_long_but_not_too_long() {
    let padded = |comment: &str, end: &str| {
        comment.to_owned() + &"x".repeat(CODE_BYTES_MAX - comment.len() - end.len()) + end
    };
    prints(Python, &padded("#", "\nprint(1)"), "1");
    prints(JavaScript, &padded("//", "\nconsole.log(1)"), "1");
    let too_long = padded("#", "") + "x";
    let refused = RUNTIME.block_on(async {
        let worker = SANDBOX.start(Python, Instant::now() + AMPLE).await.unwrap();
        worker.run(&too_long, AMPLE, |_| ()).await
    });
    assert!(matches!(refused, Err(CodeTooLarge { .. })), "{refused:?}");
}

#[test]
fn a_null_character_is_an_error_not_an_end() {
    fails(Python, "print(1)\0", 1, &["null"]);
    fails(JavaScript, "console.log(1)\0", 1, &["null"]);
}
