//! The vectors of directives: by their focus, as passages are embedded, and by what they bear on.

use std::sync::Arc;

use memory_core::directive::{AROUND_CHARS, FoundDirective, focus, with_context};
use memory_core::id::{Namespace, RevisionId};
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel};
use memory_language::text::CharSpan;
use memory_store::directives::{self, DirectiveVectors, NewDirective};
use memory_store::models::ActiveModel;
use memory_store::{Store, StoreError};

/// How many vectors are made and written at a time.
const BATCH: i64 = 64;

/// What is embedded of directives, in the same order.
#[derive(Default)]
struct ToEmbed {
    focuses: Vec<String>,
    /// With what stands around them.
    with_context: Vec<String>,
}

impl ToEmbed {
    fn add(
        &mut self,
        (quote, condition): (&str, Option<&str>),
        (text, span): (&str, CharSpan),
        others: &[CharSpan],
    ) {
        self.focuses.push(focus(quote, condition).to_owned());
        let read = with_context(text, span, condition, others);
        self.with_context.push(read.unwrap_or_else(|| quote.to_owned()));
    }
}

/// What the model makes of directives. Without what tells their bearing they are chosen by likeness alone.
async fn vectors_of(
    model: &dyn EmbeddingModel,
    active: &ActiveModel,
    ToEmbed { focuses, with_context }: ToEmbed,
    embed_in_background: bool,
) -> Result<Vec<DirectiveVectors>, EmbeddingError> {
    let bearings = match model.bearing_version() {
        Some(version) => {
            let made = model.embed_for_bearing(with_context).await;
            let made =
                made.inspect_err(|error| tracing::warn!(%error, "what directives bear on is not known"));
            made.unwrap_or_default().into_iter().map(|vector| (version, vector)).collect()
        }
        None => Vec::new(),
    };
    let embedded = if embed_in_background {
        model.embed_in_background(focuses).await?
    } else {
        model.embed_passages(focuses).await?
    };
    let mut bearings = bearings.into_iter();
    let vectors = |made: Embedded| DirectiveVectors {
        model_id: active.model_id,
        embedding: made.vector,
        bearing: bearings.next(),
    };
    Ok(embedded.into_iter().map(vectors).collect())
}

/// The directives of a text, each with its vectors where the model is there.
pub(crate) async fn with_vectors(
    model: Option<(Arc<dyn EmbeddingModel>, ActiveModel)>,
    content: &str,
    found: Vec<FoundDirective>,
) -> Vec<NewDirective> {
    let mut made = Vec::new();
    if let Some((model, active)) = model.filter(|_| !found.is_empty()) {
        let mut texts = ToEmbed::default();
        for own in &found {
            let others: Vec<CharSpan> = found.iter().map(|it| it.span).filter(|it| *it != own.span).collect();
            texts.add((&own.quote, own.condition.as_deref()), (content, own.span), &others);
        }
        match vectors_of(&*model, &active, texts, false).await {
            Ok(vectors) => made = vectors,
            Err(error) => tracing::warn!(%error, "vectors of directives will be computed later"),
        }
    }
    let mut made = made.into_iter();
    found.into_iter().map(|found| NewDirective { vectors: made.next(), ..found.into() }).collect()
}

/// Computes the vectors that are missing, of one revision or of all.
pub(crate) async fn embed_missing(
    store: &Store,
    model: &dyn EmbeddingModel,
    active: &ActiveModel,
    of: Option<(&Namespace, RevisionId)>,
) -> Result<Result<(), EmbeddingError>, StoreError> {
    let ns = of.map(|(ns, _)| ns);
    let wanted = (active.model_id, model.bearing_version());
    let mut after = 0;
    loop {
        let mut conn = store.acquire_of(ns).await?;
        let batch =
            directives::without_vector(&mut conn, of, wanted, after, AROUND_CHARS as i32, BATCH).await?;
        drop(conn);
        let Some(last) = batch.last() else { return Ok(Ok(())) };
        after = last.directive_id;
        let mut texts = ToEmbed::default();
        for it in &batch {
            texts.add(
                (&it.quote, it.condition.as_deref()),
                (&it.around.excerpt, it.around.span),
                &it.around.others,
            );
        }
        let made = match vectors_of(model, active, texts, true).await {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let vectors = batch.iter().map(|it| it.directive_id).zip(made).collect();
        directives::write_vectors(&mut *store.acquire_of(ns).await?, vectors).await?;
    }
}
