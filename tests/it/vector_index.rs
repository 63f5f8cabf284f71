//! What every vector index must do, checked with pgvector, the stand-in for Qdrant and, where there is one, a real Qdrant
//! (`QDRANT_TEST_URL=http://localhost:6334 cargo test --workspace --test it -- --ignored real_qdrant`).

use memory_core::artifact::{Context, Draft};
use memory_core::event::Category;
use memory_core::graph::{GraphReach, GraphScope, ThreadId};
use memory_core::id::Namespace;
use memory_core::ports::EmbeddingModel;
use memory_store::models::{self, ActiveModel};
use memory_store::search::{self, Breadth, EXACT_MAX, Filters, QueryVector, Scope};
use memory_store::vector::mirrors::{self, MirrorState};
use memory_store::vector::qdrant::{Qdrant, Searching};
use memory_store::vector::{IndexError, MirrorSettings, Near, Times, Wanted};
use memory_store::{Conn, Store};
use memory_tests::qdrant::StandIn;
use memory_tests::{Fixture, turn};

use crate::graph_shorthand::entity;
use crate::mirror_shorthand::{memory_on, mirrored_by, quick, server, settings, settle};
use crate::shorthand::{dated, forget, note, ns, page, store};
use crate::stand_ins::WordModel;

/// The Qdrant to be tested, if there is one.
pub(crate) fn real_url() -> Option<String> {
    ["QDRANT_TEST_URL", "QDRANT_URL"].iter().find_map(|name| std::env::var(name).ok())
}

/// What searches.
enum Index {
    Postgres(Store),
    Qdrant(Searching),
}

impl Index {
    async fn nearest(&self, wanted: Wanted<'_>) -> Result<Vec<Near>, IndexError> {
        let store = match self {
            Self::Qdrant(searching) => return searching.nearest(wanted).await,
            Self::Postgres(store) => store,
        };
        let query = QueryVector { model: wanted.model, vector: wanted.vector };
        let breadth = Breadth::of_passages(wanted.limit);
        let mut conn = store.acquire_across().await.expect("a connection");
        let found = search::nearest(&mut conn, wanted.ns, wanted.scope, query, breadth, None).await;
        let near = |(passage_id, cosine)| Near { passage_id, cosine };
        Ok(found.expect("it is searched").into_iter().map(near).collect())
    }
}

/// The database under test, with its server if there is one.
struct Backend {
    f: Fixture,
    server: Option<Qdrant>,
    /// Ends with the test.
    _stand_in: Option<StandIn>,
}

impl Backend {
    async fn pgvector() -> Self {
        let url = memory_tests::fresh_database().await;
        let f = Fixture { memory: memory_on(&url, None).await, url, ns: Namespace::default() };
        Self { f, server: None, _stand_in: None }
    }

    async fn stand_in() -> Self {
        let stand_in = StandIn::start();
        let server = server(&stand_in.url(), quick());
        Self { f: mirrored_by(server.clone()).await, server: Some(server), _stand_in: Some(stand_in) }
    }

    async fn real_qdrant() -> Self {
        let url = real_url().expect("QDRANT_TEST_URL names a Qdrant, as http://localhost:6334");
        let named = MirrorSettings { qdrant_collection: "remembrancer-test".into(), ..settings(&url) };
        let key = memory_store::vector::api_key().expect("the key can be read");
        let times = Times { confirm: std::time::Duration::ZERO, ..Times::default() };
        let server = Qdrant::of(&named, key, times).expect("sound settings").expect("a url");
        Self { f: mirrored_by(server.clone()).await, server: Some(server), _stand_in: None }
    }

    /// Everything that was done is in the index; gives it, with a way to the database.
    async fn settled(&self) -> (Index, Store, ActiveModel) {
        let store = store(&self.f).await;
        let mut conn = store.acquire_across().await.expect("a connection");
        let model = models::active(&mut conn).await.expect("it is read").expect("there is a model");
        let index = match &self.server {
            None => {
                self.f.drain().await;
                Index::Postgres(store.clone())
            }
            Some(server) => {
                settle(&self.f).await;
                let searched = mirrors::of_model(&mut conn, model.model_id, MirrorState::Searched);
                let collection = searched.await.expect("it is read").expect("it is searched").collection;
                Index::Qdrant(server.searching(collection))
            }
        };
        drop(conn);
        (index, store, model)
    }

    async fn near(&self, ns: &Namespace, scope: &Scope, text: &str, limit: usize) -> Vec<Near> {
        let (index, _store, model) = self.settled().await;
        let vector = vector(text).await;
        let wanted = Wanted { ns, scope, model: &model, vector: &vector, limit };
        index.nearest(wanted).await.expect("it answers")
    }

    /// The texts of the nearest passages that fit.
    async fn texts(&self, filters: Filters, text: &str, limit: usize) -> Vec<String> {
        let store = store(&self.f).await;
        let scope = {
            let mut conn = store.acquire_across().await.expect("a connection");
            large(&mut conn, &self.f.ns, filters).await
        };
        let near = self.near(&self.f.ns, &scope, text, limit).await;
        self.contents(&near).await
    }

    async fn contents(&self, near: &[Near]) -> Vec<String> {
        let ids: Vec<i64> = near.iter().map(|near| near.passage_id.0).collect();
        sqlx::query_scalar(
            "select p.text from unnest($1::bigint[]) with ordinality w (passage_id, n)
             join passage p using (passage_id) order by w.n",
        )
        .bind(ids)
        .fetch_all(&mut self.f.sql().await)
        .await
        .expect("they are read")
    }

    /// Leaves nothing on a server that is not ours.
    async fn end(self) {
        if self.server.is_some() {
            self.f.memory.mirror().expect("a mirror").end().await.expect("it is deleted");
        }
    }
}

async fn vector(text: &str) -> Vec<f32> {
    WordModel::new("words", 32).embed_query(text).await.expect("it is embedded").vector
}

/// A scope as of a large namespace: pgvector then goes through its index.
async fn large(conn: &mut Conn, ns: &Namespace, filters: Filters) -> Scope {
    search::scope(conn, ns, filters, EXACT_MAX + 1).await.expect("it is a scope")
}

const SUBJECTS: [&str; 6] = ["zebra", "harbour", "violin", "glacier", "lantern", "pepper"];

macro_rules! conformance {
    ($($claim:ident)*) => {
        mod pgvector {
            use super::*;
            $(#[tokio::test] async fn $claim() { claims::$claim(Backend::pgvector().await).await; })*
        }
        mod stand_in {
            use super::*;
            $(#[tokio::test] async fn $claim() { claims::$claim(Backend::stand_in().await).await; })*
        }
        mod real_qdrant {
            use super::*;
            $(#[tokio::test]
            #[ignore = "no real Qdrant: set QDRANT_TEST_URL and run with --ignored real_qdrant"]
            async fn $claim() { claims::$claim(Backend::real_qdrant().await).await; })*
        }
    };
}

conformance! {
    the_nearest_come_first_and_equals_by_their_ids
    no_more_are_found_than_wanted
    namespaces_are_kept_apart
    every_filter_holds
    any_filters_find_what_comparing_every_vector_finds
    texts_and_observations_are_found_apart_and_by_thread
    what_was_forgotten_or_replaced_is_not_found
    what_is_said_about_a_text_counts_as_it_is_now
}

#[tokio::test]
async fn the_stand_in_is_not_sent_vectors_without_a_direction() {
    claims::vectors_without_a_direction_are_refused(Backend::stand_in().await).await;
}

#[tokio::test]
#[ignore = "no real Qdrant: set QDRANT_TEST_URL and run with --ignored real_qdrant"]
async fn real_qdrant_is_not_sent_vectors_without_a_direction() {
    claims::vectors_without_a_direction_are_refused(Backend::real_qdrant().await).await;
}

mod claims {
    use super::*;

    pub(super) async fn the_nearest_come_first_and_equals_by_their_ids(on: Backend) {
        for text in ["zebra harbour violin", "zebra", "zebra harbour", "glacier"] {
            on.f.remember(text).await;
        }
        // The same passage at several places.
        for place in ["a", "b", "c"] {
            on.f.remember_as(page(place, "zebra zebra")).await;
        }
        let scope = large(
            &mut store(&on.f).await.acquire_across().await.expect("a connection"),
            &on.f.ns,
            Filters::default(),
        )
        .await;
        let near = on.near(&on.f.ns, &scope, "zebra", 10).await;
        let texts = on.contents(&near).await;
        assert_eq!(texts[4..], ["zebra harbour", "zebra harbour violin", "glacier"]);
        assert!(near.is_sorted_by(|a, b| a.cosine > b.cosine
            || (a.cosine <= b.cosine && b.cosine - a.cosine < 1e-6 && a.passage_id < b.passage_id)));
        assert!((near[0].cosine - 1.0).abs() < 1e-3, "{near:?}");
        on.end().await;
    }

    pub(super) async fn no_more_are_found_than_wanted(on: Backend) {
        for n in 0..30 {
            on.f.remember(&format!("zebra number {n}")).await;
        }
        assert_eq!(on.texts(Filters::default(), "zebra number 7", 5).await.len(), 5);
        assert_eq!(on.texts(Filters::default(), "zebra number 7", 100).await.len(), 30);
        on.end().await;
    }

    pub(super) async fn namespaces_are_kept_apart(on: Backend) {
        let (mine, theirs) = (ns("mine"), ns("theirs"));
        for n in 0..40 {
            on.f.memory.remember(&theirs, note(&format!("zebra {n}"))).await.expect("it is kept");
        }
        on.f.memory.remember(&mine, note("glacier lantern pepper")).await.expect("it is kept");
        for (ns, count) in [(&mine, 1), (&theirs, 40), (&ns("nobody"), 0)] {
            let scope = large(
                &mut store(&on.f).await.acquire_across().await.expect("a connection"),
                ns,
                Filters::default(),
            )
            .await;
            assert_eq!(on.near(ns, &scope, "zebra 7", 50).await.len(), count, "{ns}");
        }
        on.end().await;
    }

    pub(super) async fn every_filter_holds(on: Backend) {
        let some = |text: &str| Some(text.to_owned());
        let best = "zebra harbour";
        let fits = |name: &str| format!("zebra that {name} lets through");
        let other = [
            Draft { source: some("mail"), ..note(&fits("source")) },
            Draft { author: some("Ann \"x\" O'Neil"), ..note(&fits("author")) },
            Draft { context: some("fact"), ..note(&fits("context")) },
            dated("2026-03-05T10:00:00.5Z", &fits("date")),
            Draft { tags: vec!["a".into(), "b".into(), "c".into()], ..note(&fits("tags")) },
            Draft { importance: Some(0.9), ..note(&fits("importance")) },
            turn("herd", 0, "Bob", &fits("conversation")),
            note(&format!("Decision by Ann\n{}", fits("category"))),
        ];
        on.f.remember_as(Draft { tags: vec!["a".into()], ..dated("2020-01-01", best) }).await;
        for draft in other {
            on.f.remember_as(draft).await;
        }
        let at = |text: &str| Some(text.parse().expect("a time"));
        let none = Filters::default;
        let cases = [
            ("source", Filters { source: some("mail"), ..none() }),
            ("author", Filters { author: some("Ann \"x\" O'Neil"), ..none() }),
            ("context", Filters { context: Some(Context::Fact), ..none() }),
            (
                "date",
                Filters {
                    date_from: at("2026-03-05T10:00:00.5Z"),
                    date_to: at("2026-03-05T10:00:00.6Z"),
                    ..none()
                },
            ),
            ("tags", Filters { tags: vec!["b".into(), "a".into()], ..none() }),
            ("importance", Filters { min_importance: Some(0.9), ..none() }),
            ("conversation", Filters { conversation_id: some("herd"), ..none() }),
            ("category", Filters { categories: vec![Category::Decision, Category::Feedback], ..none() }),
        ];
        for (name, filters) in cases {
            let found = on.texts(filters, best, 10).await;
            assert!(found.len() == 1 && found[0].contains(&fits(name)), "{name}: {found:?}");
        }
        let nothing = Filters { source: some("mail"), author: some("Bob"), ..none() };
        assert!(on.texts(nothing, best, 10).await.is_empty());
        on.end().await;
    }

    /// A small generator of its own: the same texts and filters each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % n) as usize
        }

        fn maybe<T: Clone>(&mut self, of: &[T]) -> Option<T> {
            (self.below(2) == 0).then(|| of[self.below(of.len() as u64)].clone())
        }
    }

    pub(super) async fn any_filters_find_what_comparing_every_vector_finds(on: Backend) {
        let mut numbers = Numbers(7);
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (sources, authors, tags) = (names(&["mail", "wiki"]), names(&["Ann", "Bob"]), names(&["x", "y"]));
        for n in 0..80 {
            let words: Vec<&str> = (0..3).map(|_| SUBJECTS[numbers.below(6)]).collect();
            let draft = Draft {
                source: numbers.maybe(&sources),
                author: numbers.maybe(&authors),
                tags: tags.iter().filter(|_| numbers.below(2) == 0).cloned().collect(),
                importance: Some(numbers.below(11) as f64 / 10.0),
                date: Some(format!("2026-{:02}-01", 1 + numbers.below(12))),
                context: numbers.maybe(&names(&["fact", "email"])),
                ..note(&format!("{} {n}", words.join(" ")))
            };
            on.f.remember_as(draft).await;
        }
        let (index, store, model) = on.settled().await;
        let pgvector = Index::Postgres(store.clone());
        for _ in 0..40 {
            let month = format!("2026-{:02}-01T00:00:00Z", 1 + numbers.below(12)).parse().expect("a time");
            let filters = Filters {
                source: numbers.maybe(&sources),
                author: numbers.maybe(&authors),
                tags: numbers.maybe(&tags).into_iter().collect(),
                min_importance: numbers.maybe(&[0.3, 0.7]),
                date_from: numbers.maybe(&[month]),
                context: numbers.maybe(&[Context::Fact]),
                ..Filters::default()
            };
            let question = format!("{} {}", SUBJECTS[numbers.below(6)], numbers.below(80));
            let vector = vector(&question).await;
            let mut conn = store.acquire_across().await.expect("a connection");
            let exact = search::scope(&mut conn, &on.f.ns, filters.clone(), 0).await.expect("a scope");
            let scope = large(&mut conn, &on.f.ns, filters.clone()).await;
            let limit = 1 + numbers.below(12);
            let ask = |scope, limit| Wanted { ns: &on.f.ns, scope, model: &model, vector: &vector, limit };
            let all = pgvector.nearest(ask(&exact, 100)).await.expect("it answers");
            let found = index.nearest(ask(&scope, limit)).await.expect("it answers");
            assert_eq!(found.len(), limit.min(all.len()), "{filters:?}");
            for (found, best) in found.iter().zip(&all) {
                // Equals may be exchanged where the limit cuts them.
                let its = all.iter().find(|one| one.passage_id == found.passage_id).expect("it fits");
                assert!((its.cosine - best.cosine).abs() < 1e-4, "{filters:?}: {found:?} and not {best:?}");
                assert!((found.cosine - its.cosine).abs() < 1e-4, "{found:?} and {its:?}");
            }
        }
        on.end().await;
    }

    pub(super) async fn texts_and_observations_are_found_apart_and_by_thread(on: Backend) {
        let other = GraphScope::Thread(ThreadId::new("other").expect("a name"));
        for (scope, said) in [(GraphScope::default(), "zebra harbour"), (other.clone(), "zebra violin")] {
            let entities = vec![entity("Herd", "Project", &[said])];
            on.f.memory.graph().create_entities(&on.f.ns, &scope, entities).await.expect("they are created");
        }
        on.f.remember("zebra zebra").await;
        on.settled().await;
        let store = store(&on.f).await;
        let observations = async |reach: GraphReach| {
            let mut conn = store.acquire_across().await.expect("a connection");
            search::scope_of_observations(&mut conn, &on.f.ns, reach, EXACT_MAX + 1).await.expect("a scope")
        };
        let all = observations(GraphReach::default()).await;
        assert_eq!(on.near(&on.f.ns, &all, "zebra", 10).await.len(), 2);
        let of_other = observations(GraphReach::One(other)).await;
        let near = on.near(&on.f.ns, &of_other, "zebra", 10).await;
        assert!(near.len() == 1 && on.contents(&near).await[0].contains("violin"), "{near:?}");
        assert_eq!(on.texts(Filters::default(), "zebra", 10).await, ["zebra zebra"]);
        on.end().await;
    }

    pub(super) async fn what_was_forgotten_or_replaced_is_not_found(on: Backend) {
        let forgotten = on.f.remember("zebra harbour").await.id;
        on.f.remember_as(page("plan", "zebra violin")).await;
        on.f.remember("glacier").await;
        assert_eq!(on.texts(Filters::default(), "zebra", 10).await.len(), 3);
        forget(&on.f, &forgotten).await;
        on.f.remember_as(page("plan", "lantern pepper")).await;
        let found = on.texts(Filters::default(), "zebra violin", 10).await;
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(!found.iter().any(|text| text.contains("zebra")), "{found:?}");
        let old = Filters { include_superseded: true, ..Filters::default() };
        assert_eq!(on.texts(old, "zebra violin", 10).await[0], "zebra violin");
        on.end().await;
    }

    pub(super) async fn what_is_said_about_a_text_counts_as_it_is_now(on: Backend) {
        let tagged = |tag: &str| Draft { tags: vec![tag.to_owned()], ..page("plan", "zebra plan") };
        let by = |tag: &str| Filters { tags: vec![tag.to_owned()], ..Filters::default() };
        on.f.remember_as(tagged("draft")).await;
        assert_eq!(on.texts(by("draft"), "zebra", 10).await.len(), 1);
        on.f.remember_as(tagged("final")).await;
        assert_eq!(on.texts(by("final"), "zebra", 10).await.len(), 1);
        assert!(on.texts(by("draft"), "zebra", 10).await.is_empty());
        on.end().await;
    }

    pub(super) async fn vectors_without_a_direction_are_refused(on: Backend) {
        on.f.remember("zebra").await;
        let (index, store, model) = on.settled().await;
        let scope =
            large(&mut store.acquire_across().await.expect("a connection"), &on.f.ns, Filters::default())
                .await;
        for bad in [vec![0.0; 32], vec![f32::NAN; 32], vec![f32::INFINITY; 32], vec![1.0; 31]] {
            let wanted = Wanted { ns: &on.f.ns, scope: &scope, model: &model, vector: &bad, limit: 5 };
            let refused = index.nearest(wanted).await;
            assert!(matches!(refused, Err(IndexError::Unfit(_))), "{refused:?}");
        }
        on.end().await;
    }
}
