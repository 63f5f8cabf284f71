//! What measurements share: extraction judged on labelled documents, intervals, percentiles and tables.

pub mod extraction;
pub mod interval;
pub mod machine;
pub mod percentiles;
pub mod random;
pub mod table;
