//! The machine that something was measured on, and the memory that processes take there.

use std::fs;

use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    pub cores: usize,
    pub processor: Option<String>,
    pub memory_mb: Option<u64>,
    pub system: String,
    /// Figures of builds without optimisation say little.
    pub is_optimised: bool,
}

impl Machine {
    pub fn here() -> Self {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: value_of(&read("/proc/cpuinfo"), "model name"),
            memory_mb: value_of(&read("/proc/meminfo"), "MemTotal")
                .and_then(|v| kilobytes(&v))
                .map(|kb| kb / 1024),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            is_optimised: !cfg!(debug_assertions),
        }
    }
}

/// `name : value` of the first line that has it.
fn value_of(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kilobytes(value: &str) -> Option<u64> {
    value.trim_end_matches("kB").trim().parse().ok()
}

/// The proportional set size of a process in bytes: memory that is shared counts in parts. `None` where the system
/// does not report it.
pub fn proportional_bytes(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(kilobytes(&value_of(&rollup, "Pss")?)? * 1024)
}

/// The same for a process and its children, summed.
pub fn proportional_bytes_of_family(parent: u32) -> Option<u64> {
    let own = proportional_bytes(parent)?;
    let children = fs::read_dir("/proc").ok()?.filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold anything; state and parent follow it.
        let parent_of: u32 = stat.rsplit_once(") ")?.1.split_whitespace().nth(1)?.parse().ok()?;
        (parent_of == parent).then_some(pid)
    });
    Some(own + children.filter_map(proportional_bytes).sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_from_the_systems_files() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2: fast\nmodel name\t: other\n";
        assert_eq!(value_of(text, "model name").unwrap(), "Some CPU @ 2: fast");
        assert_eq!(kilobytes("24576 kB"), Some(24576));
        assert_eq!(value_of(text, "none"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_and_its_children_take_memory() {
        let own = proportional_bytes(std::process::id()).unwrap();
        assert!(own > 100_000, "{own}");
        assert!(proportional_bytes_of_family(std::process::id()).unwrap() > 100_000);
    }
}
