//! How a worker process gives up, on Linux, all that running code does not need: Landlock refuses every file, port and
//! signal, seccomp every system call that is not listed here. What the kernel lacks is told, not demanded.
//!
//! The compiled guest is mapped before, while there is one thread and no foreign code; afterwards no file can be opened
//! and no memory made executable.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

pub use super::locked::Lock;

/// The newest Landlock whose rights were looked at; an older kernel enforces fewer.
const LANDLOCK: ABI = ABI::V7;

/// What a thread of the worker may ask of the kernel whatever the arguments: its memory, its threads, its pipes, time,
/// random numbers, and its end.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    // Refused by another filter, as if the kernel were old, for its arguments cannot be looked at.
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

/// A new thread of this process, never a new process.
const THREAD: u64 =
    (libc::CLONE_THREAD | libc::CLONE_VM | libc::CLONE_SIGHAND).unsigned_abs() as u64;
const EXECUTABLE: u64 = libc::PROT_EXEC.unsigned_abs() as u64;

/// Closes what the server did not mean to hand on. Must be the first thing that the process does.
#[expect(unsafe_code, reason = "no safe function closes what nobody owns")]
pub fn close_inherited() {
    // SAFETY: nothing of this process has opened a file yet but the three standard ones, which stay.
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Locks the calling thread and those that it will start, which are all if there is one yet.
pub fn apply() -> Lock {
    let landlock_abi = landlock().unwrap_or_default();
    let seccomp = seccomp().and_then(|filters| {
        filters.iter().try_for_each(|filter| seccompiler::apply_filter_all_threads(filter)).ok()
    });
    Lock { landlock_abi, seccomp: seccomp.is_some() }
}

/// Refuses every file and, where the kernel is new enough, TCP port, abstract socket and foreign process. Gives the
/// version in force. No privileges can be gained from here on.
fn landlock() -> Option<u8> {
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(LANDLOCK)))
        .and_then(|rules| rules.scope(Scope::from_all(LANDLOCK)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .ok()?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return None;
    }
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else { return None };
    u8::try_from(effective_abi as i32).ok()
}

/// The list as filters; nothing where the processor is none that seccompiler knows.
fn seccomp() -> Option<[BpfProgram; 2]> {
    let refused = |errno: i32| SeccompAction::Errno(errno.unsigned_abs());
    let arch = || std::env::consts::ARCH.try_into().ok();

    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|&number| (number, Vec::new())).collect();
    let prctl_name = u64::from(libc::PR_SET_NAME.unsigned_abs());
    for (number, argument, comparison, value) in [
        (libc::SYS_clone, 0, SeccompCmpOp::MaskedEq(THREAD), THREAD),
        (libc::SYS_mmap, 2, SeccompCmpOp::MaskedEq(EXECUTABLE), 0),
        (libc::SYS_mprotect, 2, SeccompCmpOp::MaskedEq(EXECUTABLE), 0),
        // The name of a new thread.
        (libc::SYS_prctl, 0, SeccompCmpOp::Eq, prctl_name),
    ] {
        let condition =
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value).ok()?;
        rules.insert(number, vec![SeccompRule::new(vec![condition]).ok()?]);
    }
    let listed =
        SeccompFilter::new(rules, refused(libc::EPERM), SeccompAction::Allow, arch()?).ok()?;

    // The C library then starts threads by `clone`, whose flags can be looked at.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let old =
        SeccompFilter::new(clone3, SeccompAction::Allow, refused(libc::ENOSYS), arch()?).ok()?;
    Some([old.try_into().ok()?, listed.try_into().ok()?])
}
