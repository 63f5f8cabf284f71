//! The process metrics that Prometheus' own clients export, by the same names. Read from `/proc`; none on other systems.

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

pub(crate) fn describe() {
    describe_counter!("process_cpu_seconds_total", Unit::Seconds, "Time on processors, in whole seconds.");
    describe_gauge!("process_resident_memory_bytes", Unit::Bytes, "Memory in use.");
    describe_gauge!("process_virtual_memory_bytes", Unit::Bytes, "Addresses in use.");
    describe_gauge!("process_threads", "Threads.");
    describe_gauge!("process_open_fds", "Open files and connections.");
    describe_gauge!("process_max_fds", "The most open files and connections.");
    describe_gauge!("process_start_time_seconds", Unit::Seconds, "When it started, since 1970.");
}

/// What the kernel counts of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stat {
    cpu_seconds: f64,
    threads: f64,
    started_seconds_after_boot: f64,
    virtual_bytes: f64,
    resident_bytes: f64,
}

pub(crate) fn measure() {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    if let Some(stat) = parse(&read("/proc/self/stat"), clock_ticks_per_second(), page_size()) {
        counter!("process_cpu_seconds_total").absolute(stat.cpu_seconds as u64);
        gauge!("process_resident_memory_bytes").set(stat.resident_bytes);
        gauge!("process_virtual_memory_bytes").set(stat.virtual_bytes);
        gauge!("process_threads").set(stat.threads);
        let booted = read("/proc/stat").lines().find_map(|line| line.strip_prefix("btime ")?.parse().ok());
        if let Some(booted) = booted {
            let booted: f64 = booted;
            gauge!("process_start_time_seconds").set(booted + stat.started_seconds_after_boot);
        }
    }
    if let Ok(files) = std::fs::read_dir("/proc/self/fd") {
        gauge!("process_open_fds").set(files.count() as f64);
    }
    let most = getrlimit(Resource::Nofile).current;
    gauge!("process_max_fds").set(most.map_or(f64::INFINITY, |most| most as f64));
}

/// The fields that count from behind the program's name, which may hold anything.
fn parse(stat: &str, ticks_per_second: u64, page_bytes: usize) -> Option<Stat> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // Numbered from 3 on in proc(5).
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    let ticks = ticks_per_second as f64;
    Some(Stat {
        cpu_seconds: (field(14)? + field(15)?) / ticks,
        threads: field(20)?,
        started_seconds_after_boot: field(22)? / ticks,
        virtual_bytes: field(23)?,
        resident_bytes: field(24)? * page_bytes as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_program_is_called() {
        let line = "7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 12 0 3000 4096000 500 18446744073709551615";
        let stat = parse(line, 100, 4096).unwrap();
        let expected = Stat {
            cpu_seconds: 3.0,
            threads: 12.0,
            started_seconds_after_boot: 30.0,
            virtual_bytes: 4_096_000.0,
            resident_bytes: 2_048_000.0,
        };
        assert_eq!(stat, expected);
        assert_eq!(parse("", 100, 4096), None);
    }
}
