//! Whose an address or a handle is, and which full names they tell.

use memory_core::entity::EntityType;

use super::super::lists;
use super::super::names;
use super::fits::{Fits, capitalised};
use super::{Roster, Sightings};

impl Roster {
    /// "bob.smith" as a handle tells a full name where Bob is one, so that Bob is found to be the same.
    pub(super) fn add_names_of_handles(&mut self, sightings: &Sightings) {
        let fits = Fits::of(&self.entities);
        let addresses =
            sightings.emails.iter().filter(|(_, name)| name.is_none()).map(|(email, _)| local_part(email));
        let handles =
            sightings.handles.iter().filter(|(_, name)| name.is_none()).map(|(handle, _)| handle.as_str());
        for handle in addresses.chain(handles) {
            let parts: Vec<&str> = handle.split(['.', '_']).collect();
            let ([first, last], None) = (parts.as_slice(), fits.address(handle)) else { continue };
            let letters = last.len() >= 3 && last.chars().all(char::is_alphabetic);
            if letters && names::is_first_name(first) && !names::is_no_name(last) {
                self.add(&format!("{} {}", capitalised(first), capitalised(last)), EntityType::Person);
            }
        }
    }

    /// An address of a given name alone, of another domain than the person's own.
    fn is_of_another_house(&self, person: usize, email: &str) -> bool {
        let given = names::is_first_name(local_part(email));
        let theirs = self.domains.get(&person).filter(|theirs| !theirs.is_empty());
        given && theirs.zip(own_domain(email)).is_some_and(|(theirs, domain)| !theirs.contains(domain))
    }

    pub(super) fn owner_of_address(&mut self, email: &str, fits: &Fits) -> Option<usize> {
        let is_shared = |part: &str| lists::SHARED_MAILBOXES.contains(part);
        let local = email.split('@').next()?;
        if is_shared(local) {
            return None;
        }
        if let Some(person) = fits.address(local).filter(|person| !self.is_of_another_house(*person, email)) {
            return Some(person);
        }
        let parts: Vec<&str> = local.split(['.', '_']).collect();
        let plain =
            |part: &&str| part.len() >= 2 && part.chars().all(char::is_alphabetic) && !is_shared(part);
        let is_name = match parts.as_slice() {
            [one] => names::is_first_name(one),
            [first, last] => {
                plain(first) && plain(last) && !names::is_no_name(first) && !names::is_no_name(last)
            }
            _ => false,
        };
        let name = parts.iter().map(|part| capitalised(part)).collect::<Vec<_>>().join(" ");
        is_name.then(|| self.add(&name, EntityType::Person))
    }
}

pub(super) fn local_part(email: &str) -> &str {
    email.split('@').next().unwrap_or(email)
}

/// The domain of an address, `None` for those of which anybody has an address.
pub(super) fn own_domain(email: &str) -> Option<&str> {
    let domain = email.rsplit_once('@')?.1;
    let name = domain.split('.').rev().nth(1)?;
    (!lists::MAIL_PROVIDERS.contains(name)).then_some(domain)
}
