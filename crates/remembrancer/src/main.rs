//! The executable; see [`remembrancer::main`].

use std::process::ExitCode;

/// Gives freed memory back within seconds. The C library keeps most of what the tokens of a long text took: hundreds of
/// megabytes for good.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    remembrancer::main()
}
