//! Measures processor time.

/// Returns the processor time of the process in milliseconds. Code is parsed on a separate thread, so all threads
/// count.
#[cfg(unix)]
pub(crate) fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the elapsed time in milliseconds, on systems without a processor clock here.
#[cfg(not(unix))]
pub(crate) fn now() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}
