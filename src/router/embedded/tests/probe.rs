//! What a worker that somebody has broken out of WebAssembly in could still do: each attempt by itself.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

use rustix::process::{Pid, Signal, getppid, kill_process};

use super::{AMPLE, RUNTIME, options};
use crate::router::embedded::frames::{Message, Request};
use crate::router::embedded::lock;
use crate::router::embedded::locked::Isolation;
use crate::router::embedded::process::Process;

/// Locks the worker, tries each thing and tells whether it was refused.
pub fn answer() -> Message {
    let server = getppid();
    let lock = lock::apply();
    let attempts: [(&str, io::Result<()>); 14] = [
        ("read a file", File::open("/etc/passwd").map(drop)),
        ("write a file", File::create("/tmp/thud-probe").map(drop)),
        ("list a folder", fs::read_dir("/").map(drop)),
        ("remove a file", fs::remove_file("/tmp/thud-probe")),
        ("look at a file", fs::metadata("/etc/passwd").map(drop)),
        ("make a link", std::os::unix::fs::symlink("/etc", "/tmp/thud-probe")),
        ("open a UDP socket", UdpSocket::bind("127.0.0.1:0").map(drop)),
        ("listen", TcpListener::bind("127.0.0.1:0").map(drop)),
        ("connect", TcpStream::connect("127.0.0.1:9").map(drop)),
        ("open a pair of sockets", UnixStream::pair().map(drop)),
        ("start a process", Command::new("/bin/true").spawn().map(drop)),
        ("make memory executable", executable_memory()),
        ("signal the server", signal(server)),
        ("become another program", Err(Command::new("/bin/true").exec())),
    ];
    let is_refused = |outcome: io::Result<()>| {
        outcome.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    let told = attempts.into_iter().map(|(name, outcome)| (name.to_owned(), is_refused(outcome)));
    Message::Probed(lock, told.collect())
}

fn signal(process: Option<Pid>) -> io::Result<()> {
    let process = process.ok_or(ErrorKind::NotFound)?;
    // Does nothing to a process that runs.
    Ok(kill_process(process, Signal::CONT)?)
}

#[expect(unsafe_code, reason = "there is no safe way to ask for it")]
fn executable_memory() -> io::Result<()> {
    let rights = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new memory, which nobody uses.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), 4096, rights, flags, -1, 0) };
    if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[test]
fn a_locked_worker_can_do_nothing_else() {
    let answer = RUNTIME.block_on(async {
        let mut process = Process::spawn(&options()).unwrap();
        let deadline = (Instant::now() + AMPLE).into();
        tokio::time::timeout_at(deadline, process.ask(&Request::Probe)).await.unwrap().unwrap()
    });
    let Message::Probed(lock, attempts) = answer else { panic!("{answer:?}") };
    if Isolation::from(lock) != Isolation::Locked {
        // The product tells it, too. There is nothing to be tested then.
        eprintln!("this kernel cannot lock a worker: {lock:?}");
        return;
    }
    let possible: Vec<_> = attempts.iter().filter(|(_, refused)| !refused).collect();
    assert!(possible.is_empty(), "{possible:?}");
}
