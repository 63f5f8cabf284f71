//! Lines of an archive: what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_core::archive::{ArchiveLine, parse_line, write_line};

fuzz_target!(|data: &[u8]| {
    for (number, line) in (1..).zip(data.split(|byte| *byte == b'\n')) {
        let Ok(Some(read)) = parse_line(number, line) else { continue };
        let mut written = Vec::new();
        write_line(&mut written, &read);
        let again =
            parse_line(number, &written).expect("what was written can be read").expect("it says something");
        let mut rewritten = Vec::new();
        write_line(&mut rewritten, &again);
        assert_eq!(written, rewritten);
        // Their own checks come when their contents are there.
        match read {
            ArchiveLine::Revision(revision) => drop(revision.with_content("Some content.".to_owned())),
            ArchiveLine::Extraction(extraction) => {
                drop(extraction.with_contents(&["Alice will send it."; 3]))
            }
            _ => {}
        }
    }
});
