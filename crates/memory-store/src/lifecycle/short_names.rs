//! Owners whom one text knows by their whole name and another by the first alone.

use std::collections::BTreeMap;

use memory_core::id::Namespace;

use crate::{StoreError, Tx};

/// The most people of one first name that are looked at.
const NAMESAKES_MAX: i64 = 20;

/// Those of the owners, and people beside them, that are one person as far as names tell: "Lena" and the only "Lena …" there is. Not
/// where somebody has decided that they are two.
pub(super) async fn groups(tx: &mut Tx, ns: &Namespace, owners: &[i64]) -> Result<Vec<Vec<i64>>, StoreError> {
    let rows: Vec<(i64, i64, String, bool)> = sqlx::query_as(include_str!("../sql/people_of_first_name.sql"))
        .bind(ns.as_str())
        .bind(owners)
        .bind(NAMESAKES_MAX)
        .fetch_all(&mut **tx)
        .await?;
    let mut of_owner: BTreeMap<i64, Vec<(i64, String, bool)>> = BTreeMap::new();
    for (owner, person, name, is_rejected) in rows {
        of_owner.entry(owner).or_default().push((person, name, is_rejected));
    }
    let mut groups: Vec<Vec<i64>> = Vec::new();
    for (owner, people) in of_owner {
        // One "Lena" and one "Lena Vogt": any other of the name leaves it open who is meant.
        let are_two =
            people.len() == 2 && people.iter().filter(|(_, name, _)| name.contains(' ')).count() == 1;
        let may_be_one = are_two && people.iter().all(|(.., is_rejected)| !is_rejected);
        if may_be_one && people.iter().any(|(person, ..)| *person == owner) {
            let mut group: Vec<i64> = people.iter().map(|(person, ..)| *person).collect();
            group.sort_unstable();
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    Ok(groups)
}
