//! What the stand-in holds, and its exact search.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{
    CreateCollection, Direction, FieldType, Filter, OrderBy, PointId, PointStruct, Value, vector, vectors,
    vectors_config,
};
use tonic::Status;

use super::filter::{self, Indexes};

/// How many writes a restart can lose.
const JOURNAL_MAX: usize = 64;

#[derive(Default)]
pub struct Engine {
    pub collections: BTreeMap<String, Collection>,
    pub aliases: BTreeMap<String, String>,
    late: Vec<Change>,
    /// What the last writes have overwritten, newest last.
    journal: Vec<Vec<(String, u64, Option<Stored>)>>,
}

pub struct Collection {
    pub definition: CreateCollection,
    pub dimension: usize,
    pub indexes: Indexes,
    pub tenant_key: Option<String>,
    pub points: BTreeMap<u64, Stored>,
    by_tenant: HashMap<String, BTreeSet<u64>>,
}

#[derive(Clone)]
pub struct Stored {
    /// Of unit length, as servers keep vectors that are compared by cosine.
    pub vector: Vec<f32>,
    pub payload: HashMap<String, Value>,
}

/// A write that was understood.
#[derive(Clone)]
pub(crate) enum Change {
    Upsert { collection: String, points: Vec<PointStruct>, update_filter: Option<Filter> },
    Delete { collection: String, ids: Vec<u64> },
}

pub(crate) fn number(id: Option<&PointId>) -> Option<u64> {
    match id?.point_id_options {
        Some(PointIdOptions::Num(number)) => Some(number),
        _ => None,
    }
}

fn dense(point: &PointStruct) -> Option<&[f32]> {
    match point.vectors.as_ref()?.vectors_options.as_ref()? {
        vectors::VectorsOptions::Vector(one) => match one.vector.as_ref()? {
            vector::Vector::Dense(dense) => Some(&dense.data),
            _ => None,
        },
        vectors::VectorsOptions::Vectors(_) => None,
    }
}

fn text(payload: &HashMap<String, Value>, key: &str) -> Option<String> {
    match &payload.get(key)?.kind {
        Some(Kind::StringValue(text)) => Some(text.clone()),
        _ => None,
    }
}

fn normalised(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    // A zero vector is accepted as it is.
    vector.iter().map(|x| if norm > 0.0 { x / norm } else { *x }).collect()
}

impl Engine {
    pub(crate) fn sizes(&self) -> BTreeMap<String, usize> {
        self.collections.iter().map(|(name, collection)| (name.clone(), collection.points.len())).collect()
    }

    pub(crate) fn create(&mut self, definition: CreateCollection) -> Result<(), Status> {
        let name = definition.collection_name.clone();
        if self.collections.contains_key(&name) || self.aliases.contains_key(&name) {
            return Err(Status::invalid_argument(format!(
                "Wrong input: Collection `{name}` already exists!"
            )));
        }
        let Some(vectors_config::Config::Params(params)) =
            definition.vectors_config.as_ref().and_then(|config| config.config.as_ref())
        else {
            return Err(filter::unmodelled("vectors_config"));
        };
        let dimension = params.size as usize;
        let collection = Collection {
            definition,
            dimension,
            indexes: Indexes::new(),
            tenant_key: None,
            points: BTreeMap::new(),
            by_tenant: HashMap::new(),
        };
        self.collections.insert(name, collection);
        Ok(())
    }

    pub(crate) fn resolve(&self, name: &str) -> Result<String, Status> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        if !self.collections.contains_key(name) {
            return Err(Status::not_found(format!("Not found: Collection `{name}` doesn't exist!")));
        }
        Ok(name.to_owned())
    }

    pub(crate) fn collection(&self, name: &str) -> Result<&Collection, Status> {
        Ok(&self.collections[&self.resolve(name)?])
    }

    pub(crate) fn index(
        &mut self,
        name: &str,
        field: String,
        kind: FieldType,
        is_tenant: bool,
    ) -> Result<(), Status> {
        let name = self.resolve(name)?;
        let collection = self.collections.get_mut(&name).expect("it was resolved");
        collection.indexes.insert(field.clone(), kind);
        if is_tenant && collection.tenant_key.as_ref() != Some(&field) {
            for (id, point) in &collection.points {
                if let Some(tenant) = text(&point.payload, &field) {
                    collection.by_tenant.entry(tenant).or_default().insert(*id);
                }
            }
            collection.tenant_key = Some(field);
        }
        Ok(())
    }

    /// Whether the change can be carried out at all.
    pub(crate) fn check(&self, change: &Change) -> Result<(), Status> {
        let Change::Upsert { collection, points, update_filter } = change else {
            let Change::Delete { collection, .. } = change else { unreachable!("there are two") };
            return self.resolve(collection).map(|_| ());
        };
        let collection = self.collection(collection)?;
        if let Some(wanted) = update_filter {
            filter::check(wanted, &collection.indexes, collection.is_strict(true))?;
        }
        for point in points {
            if number(point.id.as_ref()).is_none() {
                return Err(filter::unmodelled("an id that is no number"));
            }
            let length = dense(point).map(<[f32]>::len);
            if length != Some(collection.dimension) {
                return Err(Status::invalid_argument(format!(
                    "Wrong input: Vector dimension error: expected dim: {}, got {length:?}",
                    collection.dimension
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn apply(&mut self, change: Change) -> Result<(), Status> {
        self.check(&change)?;
        let mut overwritten = Vec::new();
        match change {
            Change::Upsert { collection: name, points, update_filter } => {
                let name = self.resolve(&name)?;
                let collection = self.collections.get_mut(&name).expect("it was resolved");
                for point in points {
                    let id = number(point.id.as_ref()).expect("it was checked");
                    let keeps = match (collection.points.get(&id), &update_filter) {
                        (Some(old), Some(wanted)) => !filter::matches(wanted, id, &old.payload),
                        _ => false,
                    };
                    if keeps {
                        continue;
                    }
                    let vector = normalised(dense(&point).expect("it was checked"));
                    let old = collection.put(id, Some(Stored { vector, payload: point.payload }));
                    overwritten.push((name.clone(), id, old));
                }
            }
            Change::Delete { collection: name, ids } => {
                let name = self.resolve(&name)?;
                let collection = self.collections.get_mut(&name).expect("it was resolved");
                for id in ids {
                    let old = collection.put(id, None);
                    overwritten.push((name.clone(), id, old));
                }
            }
        }
        self.journal.push(overwritten);
        if self.journal.len() > JOURNAL_MAX {
            self.journal.remove(0);
        }
        Ok(())
    }

    pub(crate) fn postpone(&mut self, change: Change) {
        self.late.push(change);
    }

    pub(crate) fn land(&mut self) {
        for change in std::mem::take(&mut self.late) {
            // Its collection may be gone.
            let _ = self.apply(change);
        }
    }

    pub(crate) fn lose(&mut self, writes: usize) {
        for _ in 0..writes {
            for (name, id, old) in self.journal.pop().unwrap_or_default().into_iter().rev() {
                if let Some(collection) = self.collections.get_mut(&name) {
                    collection.put(id, old);
                }
            }
        }
    }
}

impl Collection {
    /// Whether filters need indexes.
    pub(crate) fn is_strict(&self, for_update: bool) -> bool {
        let Some(strict) = &self.definition.strict_mode_config else { return false };
        let allowed =
            if for_update { strict.unindexed_filtering_update } else { strict.unindexed_filtering_retrieve };
        strict.enabled == Some(true) && allowed == Some(false)
    }

    /// Puts a point in its place, or nothing; gives what was there.
    pub fn put(&mut self, id: u64, point: Option<Stored>) -> Option<Stored> {
        let tenant = |point: &Stored| text(&point.payload, self.tenant_key.as_deref()?);
        let new_tenant = point.as_ref().and_then(tenant);
        let old_tenant = self.points.get(&id).and_then(tenant);
        if let Some(ids) = old_tenant.and_then(|tenant| self.by_tenant.get_mut(&tenant)) {
            ids.remove(&id);
        }
        if let Some(tenant) = new_tenant {
            self.by_tenant.entry(tenant).or_default().insert(id);
        }
        match point {
            Some(point) => self.points.insert(id, point),
            None => self.points.remove(&id),
        }
    }

    /// The points of a filter, in the order of their ids.
    pub(crate) fn matching<'a>(
        &'a self,
        wanted: Option<&'a Filter>,
        from: u64,
    ) -> Box<dyn Iterator<Item = (u64, &'a Stored)> + 'a> {
        let fits = move |(id, point): &(u64, &Stored)| {
            wanted.is_none_or(|wanted| filter::matches(wanted, *id, &point.payload))
        };
        let tenant = self.tenant_key.as_deref().and_then(|key| filter::tenant(wanted, key));
        match tenant {
            None => Box::new(self.points.range(from..).map(|(id, point)| (*id, point)).filter(fits)),
            Some(tenant) => {
                let ids = self.by_tenant.get(tenant).into_iter().flat_map(move |ids| ids.range(from..));
                Box::new(ids.filter_map(|id| Some((*id, self.points.get(id)?))).filter(fits))
            }
        }
    }

    /// The nearest by cosine; equals in no order that anybody could rely on.
    pub(crate) fn nearest(
        &self,
        vector: &[f32],
        wanted: Option<&Filter>,
        limit: usize,
    ) -> Result<Vec<(f32, u64)>, Status> {
        if vector.len() != self.dimension {
            return Err(Status::invalid_argument(format!(
                "Wrong input: Vector dimension error: expected dim: {}, got {}",
                self.dimension,
                vector.len()
            )));
        }
        let vector = normalised(vector);
        let mut scored: Vec<(f32, u64)> = self
            .matching(wanted, 0)
            .map(|(id, point)| (point.vector.iter().zip(&vector).map(|(a, b)| a * b).sum(), id))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        scored.truncate(limit);
        Ok(scored)
    }

    /// Ordered by a field that is indexed for it.
    pub(crate) fn ordered(&self, order: &OrderBy, limit: usize) -> Result<Vec<u64>, Status> {
        if !matches!(self.indexes.get(&order.key), Some(FieldType::Integer)) {
            return Err(Status::invalid_argument(format!("no range index for `order_by` key {}", order.key)));
        }
        let mut found: Vec<(i64, u64)> = self
            .points
            .iter()
            .filter_map(|(id, point)| match point.payload.get(&order.key)?.kind {
                Some(Kind::IntegerValue(number)) => Some((number, *id)),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        if order.direction == Some(Direction::Desc.into()) {
            found.reverse();
        }
        Ok(found.into_iter().take(limit).map(|(_, id)| id).collect())
    }
}
