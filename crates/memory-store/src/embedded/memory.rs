//! How much memory the server keeps pages of tables and indexes in.

use std::fs::read_to_string;
use std::path::Path;

use walkdir::WalkDir;

const MB: u64 = 1 << 20;
/// The smallest cache, in MB: a young database does not fill it.
const LEAST_MB: u64 = 256;
const MOST_MB: u64 = 8192;
/// The cache is the database's size divided by the first, which holds its indexes and the rows that searches read again and again, but
/// no more than the machine's memory divided by the second.
const SHARE_OF_DATABASE: u64 = 4;
const SHARE_OF_MACHINE: u64 = 8;

/// `shared_buffers` for a data folder, in MB. It is taken as it is filled; read anew at each start of the server.
pub(super) fn shared_buffers_mb(data: &Path) -> u64 {
    let files = WalkDir::new(data.join("base")).into_iter().filter_map(Result::ok);
    let sizes = files.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
    chosen(sizes.map(|file| file.len()).sum(), machine_bytes())
}

fn chosen(database_bytes: u64, machine_bytes: u64) -> u64 {
    let wanted = (database_bytes / SHARE_OF_DATABASE).min(machine_bytes / SHARE_OF_MACHINE);
    (wanted / MB).clamp(LEAST_MB, MOST_MB)
}

/// The machine's memory or, where that is less, the container's; 0 where neither is known.
fn machine_bytes() -> u64 {
    let meminfo = read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let machine = machine.and_then(|kb| kb.parse::<u64>().ok()).map(|kb| kb * 1024);
    let container = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|max| max.trim().parse().ok());
    machine.into_iter().chain(container).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    #[test]
    fn it_grows_with_the_database_and_leaves_the_machine_its_memory() {
        for (database, machine, wanted) in [
            (0, 24 * GB, 256),
            (GB, 24 * GB, 256),
            (8 * GB, 24 * GB, 2048),
            (8 * GB, 8 * GB, 1024),
            (8 * GB, GB, 256),
            (8 * GB, 0, 256),
            (900 * GB, 900 * GB, 8192),
        ] {
            assert_eq!(chosen(database, machine), wanted, "{database} of {machine}");
        }
    }

    #[test]
    fn a_folder_without_a_database_gets_the_least() {
        assert_eq!(shared_buffers_mb(Path::new("/no/such/folder")), LEAST_MB);
    }
}
