//! The time that work takes of cores.

/// Milliseconds that the process had a core for: code is parsed on a thread of its own.
#[cfg(unix)]
pub(crate) fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Milliseconds of the wall clock, where the system does not tell more.
#[cfg(not(unix))]
pub(crate) fn now() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}
