//! Lines of a graph file: what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_core::graph_jsonl::{GraphLine, parse_line, write_entity, write_relation};

fuzz_target!(|data: &[u8]| {
    for (number, line) in (1..).zip(data.split(|byte| *byte == b'\n')) {
        let Ok(read) = parse_line(number, line) else { continue };
        let mut written = Vec::new();
        for said in &read {
            match said {
                GraphLine::Entity(entity) => write_entity(&mut written, entity),
                GraphLine::Relation(relation) => write_relation(&mut written, relation),
            }
        }
        assert_eq!(parse_line(2, &written).expect("what was written can be read"), read);
    }
});
