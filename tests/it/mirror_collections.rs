//! Collections of the mirror: compared with Postgres, mended, and built anew.

use std::sync::Arc;

use memory_core::artifact::Draft;
use memory_engine::Memory;
use memory_engine::mirror::Look;
use memory_engine::progress::unreported;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{MirrorSettings, Quantization};
use memory_tests::Fixture;
use memory_tests::qdrant::Op;

use crate::mirror_shorthand::{
    assert_sound, fell_back, memory_on, mirrored, near, numbers, quick, reconcile, server, settings, settle,
};
use crate::shorthand::ids;
use crate::stand_ins::WordModel;

#[tokio::test]
async fn a_new_collection_takes_over_with_its_settings_and_the_old_one_goes() {
    let (f, stand_in) = mirrored().await;
    for n in 0..30 {
        f.remember(&format!("zebra {n}")).await;
    }
    settle(&f).await;
    let compressed = MirrorSettings {
        qdrant_quantization: Quantization::Binary,
        qdrant_on_disk: true,
        qdrant_shards: 2,
        qdrant_replicas: 3,
        qdrant_write_consistency: 2,
        ..settings(&stand_in.url())
    };
    let memory: Arc<Memory> =
        memory_on(&f.url, Some(Qdrant::of(&compressed, None, quick()).unwrap().unwrap())).await;
    let done = memory.mirror().expect("a mirror").reindex(&unreported).await.expect("it is built");
    assert_eq!((done.points, done.compared.differences()), (30, 0));
    assert!(done.collection.contains("_v2_") && done.replaced.expect("one").contains("_v1_"));
    memory.mirror().expect("a mirror").drain().await.expect("it is applied");
    assert_eq!(stand_in.collections(), std::collections::BTreeMap::from([(done.collection.clone(), 30)]));
    assert_eq!(stand_in.aliases().into_values().collect::<Vec<_>>(), std::slice::from_ref(&done.collection));
    {
        let engine = stand_in.engine();
        let made = &engine.collections[&done.collection].definition;
        assert_eq!(
            (made.shard_number, made.replication_factor, made.write_consistency_factor),
            (Some(2), Some(3), Some(2))
        );
        assert!(made.quantization_config.is_some());
        assert!(made.hnsw_config.is_some_and(|hnsw| hnsw.payload_m == Some(16) && hnsw.m == Some(0)));
    }
    assert!(!fell_back(&near(&f, "zebra 7").await));
    assert_eq!(assert_sound(&f).await, 30);
}

#[tokio::test]
async fn another_model_gets_a_collection_of_its_own_while_the_old_one_is_searched() {
    let (f, stand_in) = mirrored().await;
    for n in 0..5 {
        f.remember(&format!("zebra {n}")).await;
    }
    settle(&f).await;
    let others = WordModel::new("others", 16);
    f.memory.reembedding().run(others, false, &unreported).await.expect("it is done");
    let id = f.remember("harbour pepper").await.id;
    assert_eq!(ids(&near(&f, "harbour").await)[0], id);
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, 6);
    let names: Vec<String> = stand_in.collections().into_keys().collect();
    assert!(names.len() == 1 && names[0].ends_with("_others_16"), "{names:?}");
    let queries = stand_in.calls(Op::Query);
    assert!(!fell_back(&near(&f, "harbour").await) && stand_in.calls(Op::Query) > queries);
}

#[tokio::test]
async fn reconciling_finds_what_is_missing_left_over_or_out_of_date_and_mends_it() {
    let (f, stand_in) = mirrored().await;
    for n in 0..20 {
        f.remember(&format!("zebra {n}")).await;
    }
    settle(&f).await;
    {
        let mut engine = stand_in.engine();
        let collection = engine.collections.values_mut().next().expect("one");
        let all: Vec<u64> = collection.points.keys().copied().collect();
        collection.put(all[3], None);
        collection.put(all[4], None);
        let point = collection.points[&all[0]].clone();
        collection.put(77_777, Some(point.clone()));
        // Its point is another's, rev and all.
        collection.put(all[9], Some(point));
    }
    let found = reconcile(&f, false).await;
    assert_eq!(numbers(&found.found), (2, 1, 1));
    assert!(found.left.is_empty() && found.found[0].examples.len() == 4);
    let mended = reconcile(&f, true).await;
    assert_eq!((numbers(&mended.found), numbers(&mended.left)), ((2, 1, 1), (0, 0, 0)));
    assert_eq!(assert_sound(&f).await, 20);
}

#[tokio::test]
async fn a_point_that_is_not_what_it_says_is_found_by_a_thorough_look() {
    let (f, stand_in) = mirrored().await;
    for n in 0..20 {
        let told = ("notes".to_owned(), vec!["stable".to_owned(), "grass".to_owned()]);
        f.remember_as(Draft {
            content: format!("zebra {n}"),
            source: Some(told.0),
            tags: told.1,
            importance: Some(0.3),
            ..Draft::default()
        })
        .await;
    }
    settle(&f).await;
    let thoroughly = async |repair| {
        f.memory
            .mirror()
            .expect("a mirror")
            .reconcile(repair, Look::Contents, &unreported)
            .await
            .expect("it is compared")
    };
    assert_eq!(numbers(&thoroughly(false).await.found), (0, 0, 0));
    {
        let mut engine = stand_in.engine();
        let collection = engine.collections.values_mut().next().expect("one");
        let all: Vec<u64> = collection.points.keys().copied().collect();
        let mut turned = collection.points[&all[2]].clone();
        turned.vector.rotate_left(1);
        collection.put(all[2], Some(turned));
        let mut relabelled = collection.points[&all[5]].clone();
        relabelled.payload.insert("source".into(), "elsewhere".into());
        collection.put(all[5], Some(relabelled));
        let mut bare = collection.points[&all[7]].clone();
        bare.payload.remove("tags");
        collection.put(all[7], Some(bare));
    }
    assert_eq!(numbers(&reconcile(&f, false).await.found), (0, 0, 0), "digests do not tell");
    let mended = thoroughly(true).await;
    assert_eq!((numbers(&mended.found), numbers(&mended.left)), ((0, 0, 3), (0, 0, 0)));
}

#[tokio::test]
async fn points_from_a_time_that_the_database_has_forgotten_are_overwritten() {
    let (f, stand_in) = mirrored().await;
    f.remember("zebra").await;
    settle(&f).await;
    {
        // As if the database had been set back: its numbers begin again below those of the points.
        let mut engine = stand_in.engine();
        let collection = engine.collections.values_mut().next().expect("one");
        let (id, mut point) = collection.points.iter().next().map(|(id, p)| (*id, p.clone())).expect("one");
        point.payload.insert("rev".into(), 1_000_000_i64.into());
        point.payload.insert("digest".into(), 5_i64.into());
        collection.put(id, Some(point));
    }
    let restarted = memory_on(&f.url, Some(server(&stand_in.url(), quick()))).await;
    let f = Fixture { memory: restarted, url: f.url.clone(), ns: f.ns.clone() };
    settle(&f).await;
    assert_eq!(numbers(&reconcile(&f, true).await.left), (0, 0, 0));
}

#[tokio::test]
async fn a_collection_that_nobody_knows_of_is_told_and_deleted() {
    let (f, stand_in) = mirrored().await;
    f.remember("zebra").await;
    settle(&f).await;
    {
        let mut engine = stand_in.engine();
        let name = engine.collections.keys().next().expect("one").clone();
        let stray = engine.collections.remove(&name).expect("one");
        engine.collections.insert(name.replace("_v1_", "_v9_"), stray);
    }
    f.memory.mirror().expect("a mirror").drain().await.expect("it is applied");
    let restarted = memory_on(&f.url, Some(server(&stand_in.url(), quick()))).await;
    let f = Fixture { memory: restarted, url: f.url.clone(), ns: f.ns.clone() };
    settle(&f).await;
    let found = reconcile(&f, false).await;
    assert!(found.orphans.len() == 1 && found.orphans[0].contains("_v9_"), "{found:?}");
    assert!(reconcile(&f, true).await.orphans_deleted);
    assert_eq!(assert_sound(&f).await, 1);
    assert_eq!(stand_in.collections().len(), 1);
}
