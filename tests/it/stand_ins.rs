//! Stand-ins for the ports, with which a test says exactly what a model answers.

use std::fmt;
use std::iter::once;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::future::BoxFuture;
use memory_core::entity::EntityType;
use memory_core::event::{
    Actor, ActorRole, Category, Evidence, ExtractedEntity, ExtractedEvent, Extraction, Mention,
};
use memory_core::ports::{
    CLAUSE_CLASSES, DIRECTIVE_CLASSES, Embedded, EmbeddingError, EmbeddingModel, EncoderError, ExtractError,
    Extractor, ModelInfo, NAME_CLASSES, SentenceLogits, SourceText, TextEncoder,
};
use memory_language::text::CharSpan;

type Answer = dyn Fn(&SourceText) -> Result<Extraction, ExtractError> + Send + Sync;

struct Scripted {
    answer: Box<Answer>,
    version: i32,
    is_quick: bool,
}

#[async_trait]
impl Extractor for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn version(&self) -> i32 {
        self.version
    }

    fn is_quick(&self) -> bool {
        self.is_quick
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        (self.answer)(source)
    }
}

/// An extractor that answers as the function does.
pub(crate) fn scripted(
    answer: impl Fn(&SourceText) -> Result<Extraction, ExtractError> + Send + Sync + 'static,
) -> Arc<dyn Extractor> {
    scripted_version(1, answer)
}

/// The same of a version.
pub(crate) fn scripted_version(
    version: i32,
    answer: impl Fn(&SourceText) -> Result<Extraction, ExtractError> + Send + Sync + 'static,
) -> Arc<dyn Extractor> {
    Arc::new(Scripted { answer: Box::new(answer), version, is_quick: false })
}

/// One that is given several short texts at a time.
pub(crate) fn quick(
    answer: impl Fn(&SourceText) -> Result<Extraction, ExtractError> + Send + Sync + 'static,
) -> Arc<dyn Extractor> {
    Arc::new(Scripted { answer: Box::new(answer), version: 1, is_quick: true })
}

/// An extractor that reads lines such as `Decision by Ann and Bob on Apollo` and `Ann alias ann@x.org`.
pub(crate) fn line_reader() -> Arc<dyn Extractor> {
    scripted(|source| Ok(read_lines(source)))
}

pub(crate) fn read_lines(source: &SourceText) -> Extraction {
    let mut found = Extraction::default();
    for (segment, part) in source.segments.iter().enumerate() {
        let mut start = 0;
        for line in part.text.lines() {
            let span = CharSpan::new(start, start + line.chars().count());
            start = span.end + 1;
            if let Some((name, alias)) = line.split_once(" alias ") {
                let entity = entity(&mut found, name);
                found.entities[entity].aliases.push(alias.to_owned());
            } else if !part.context_only {
                event(&mut found, line, Evidence { segment, span, quote: line.to_owned() });
            }
        }
    }
    for entity in &mut found.entities {
        for name in once(&entity.name).chain(&entity.aliases) {
            for (segment, part) in source.segments.iter().enumerate() {
                entity.mentions.extend(part.text.match_indices(name.as_str()).map(|(byte, surface)| {
                    let start = part.text[..byte].chars().count();
                    let span = CharSpan::new(start, start + surface.chars().count());
                    Mention { segment, span, surface: surface.to_owned() }
                }));
            }
        }
    }
    found
}

fn event(found: &mut Extraction, line: &str, evidence: Evidence) {
    let (head, subject) = line.split_once(" on ").map_or((line, None), |(head, name)| (head, Some(name)));
    let (category, actors) = head.split_once(" by ").unwrap_or((head, ""));
    let Some(category) = Category::parse(category) else { return };
    let actors = actors
        .split(" and ")
        .filter(|name| !name.is_empty())
        .map(|name| Actor { entity: entity(found, name), role: ActorRole::Owner })
        .collect();
    let subject = subject.map(|name| entity(found, name));
    found.events.push(ExtractedEvent {
        category,
        narrative: line.to_owned(),
        event_time: None,
        due_time: None,
        subject,
        actors,
        confidence: 0.9,
        evidence: vec![evidence],
    });
}

fn entity(found: &mut Extraction, name: &str) -> usize {
    if let Some(known) = found.entities.iter().position(|e| e.name == name) {
        return known;
    }
    found.entities.push(ExtractedEntity {
        name: name.to_owned(),
        entity_type: EntityType::Person,
        aliases: Vec::new(),
        mentions: Vec::new(),
    });
    found.entities.len() - 1
}

/// A model of few dimensions: a text is the words it has.
pub(crate) struct WordModel {
    info: ModelInfo,
    /// How many passages it was given.
    pub(crate) passages: AtomicUsize,
    /// How many questions.
    pub(crate) questions: AtomicUsize,
    /// After so many calls it is not available.
    pub(crate) calls_left: AtomicUsize,
}

impl WordModel {
    pub(crate) fn new(id: &str, dimension: usize) -> Arc<Self> {
        let info = ModelInfo { id: id.to_owned(), dimension };
        let calls_left = AtomicUsize::new(usize::MAX);
        Arc::new(Self { info, passages: AtomicUsize::new(0), questions: AtomicUsize::new(0), calls_left })
    }

    fn embedded(&self, text: &str) -> Embedded {
        Embedded { vector: self.vector(text), tokens: Vec::new() }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.01_f32; self.info.dimension];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let hash = word
                .to_lowercase()
                .bytes()
                .fold(17_usize, |hash, byte| hash * 31 % 65_521 + usize::from(byte));
            vector[hash % self.info.dimension] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

#[async_trait]
impl EmbeddingModel for WordModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        let left = self.calls_left.load(Ordering::SeqCst);
        if left == 0 {
            return Err(EmbeddingError::Unavailable("unplugged".to_owned()));
        }
        self.calls_left.store(left - 1, Ordering::SeqCst);
        self.passages.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(texts.iter().map(|text| self.embedded(text)).collect())
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        Ok(self.embedded(text))
    }
}

/// What a stand-in awaits before it answers.
type Wait = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// A text encoder that gives all names the same logits, and nothing else any.
#[derive(Default)]
pub(crate) struct ConstantEncoder {
    names: [f32; NAME_CLASSES],
    before_sentences: Option<Wait>,
}

impl ConstantEncoder {
    pub(crate) fn of_names(names: [f32; NAME_CLASSES]) -> Arc<Self> {
        Arc::new(Self { names, before_sentences: None })
    }

    /// It judges the sentences of a text only after this.
    pub(crate) fn waiting<F: Future<Output = ()> + Send + 'static>(
        wait: impl Fn() -> F + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { before_sentences: Some(Box::new(move || Box::pin(wait()))), ..Self::default() })
    }
}

impl fmt::Debug for ConstantEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstantEncoder").field("names", &self.names).finish_non_exhaustive()
    }
}

#[async_trait]
impl TextEncoder for ConstantEncoder {
    async fn name_logits(
        &self,
        text: Arc<str>,
        names: Vec<Vec<Range<usize>>>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, EncoderError> {
        assert!(names.iter().all(|places| !places.is_empty() && places.len() <= 12));
        assert!(names.iter().flatten().all(|place| text[place.clone()].chars().any(char::is_alphanumeric)));
        Ok(vec![self.names; names.len()])
    }

    async fn clause_logits(
        &self,
        _: Arc<str>,
        clauses: Vec<Range<usize>>,
    ) -> Result<Vec<[f32; CLAUSE_CLASSES]>, EncoderError> {
        Ok(vec![[0.0; CLAUSE_CLASSES]; clauses.len()])
    }

    async fn directive_logits(
        &self,
        _: Arc<str>,
        sentences: Vec<Range<usize>>,
    ) -> Result<Vec<SentenceLogits>, EncoderError> {
        if let Some(wait) = &self.before_sentences {
            wait().await;
        }
        let nothing = SentenceLogits { states: [-9.0; DIRECTIVE_CLASSES], revises: -9.0, binds: -9.0 };
        Ok(vec![nothing; sentences.len()])
    }

    async fn replacement_logits(&self, pairs: Vec<[Arc<str>; 2]>) -> Result<Vec<f32>, EncoderError> {
        Ok(vec![0.0; pairs.len()])
    }
}
