//! Values of one of the core's closed lists on the command line, in any case: none can be missing here.

use std::ffi::OsStr;

use clap::Arg;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

#[derive(Clone)]
pub(super) struct OneOf<T: 'static> {
    all: &'static [T],
    name: fn(T) -> &'static str,
}

impl<T: Copy> OneOf<T> {
    pub(super) const fn new(all: &'static [T], name: fn(T) -> &'static str) -> Self {
        Self { all, name }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.all.iter().map(|value| (self.name)(*value))
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let given = PossibleValuesParser::new(self.names()).parse_ref(command, arg, value)?;
        let found = self.all.iter().find(|value| (self.name)(**value).eq_ignore_ascii_case(&given));
        found.copied().ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().map(PossibleValue::new)))
    }
}
