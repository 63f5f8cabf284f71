//! Which extractor there is: rules alone, or with a language model where one is named.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::FalseyValueParser;
use memory_core::Invalid;
use memory_core::ports::{Extractor, TextEncoder};

use super::{Key, LlmExtractor, LlmOptions, RulesExtractor};

const CONFIDENCE: &str = "REMEMBRANCER_EVENT_CONFIDENCE";
const URL: &str = "REMEMBRANCER_LLM_URL";
const MODEL: &str = "REMEMBRANCER_LLM_MODEL";
const TIMEOUT: &str = "REMEMBRANCER_LLM_TIMEOUT";
const ALLOW_PRIVATE: &str = "REMEMBRANCER_LLM_ALLOW_PRIVATE";
const KEY: &str = "REMEMBRANCER_LLM_KEY";
const KEY_FILE: &str = "REMEMBRANCER_LLM_KEY_FILE";

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Language model")]
pub struct ExtractorSettings {
    /// How sure an event must be to be stored, 0.05 to 0.99: fewer and truer events with a higher value; without it the
    /// thresholds that were measured to be right for three of four events
    #[arg(long, env = CONFIDENCE, global = true, value_name = "PROBABILITY", value_parser = probability, help_heading = "Extraction")]
    pub event_confidence: Option<f32>,
    /// Base address of an OpenAI-compatible server whose model helps to find events, such as `http://localhost:11434/v1`;
    /// its key comes from `REMEMBRANCER_LLM_KEY` or the file `REMEMBRANCER_LLM_KEY_FILE`
    #[arg(long, env = URL, global = true, value_name = "URL", hide_env_values = true)]
    pub llm_url: Option<String>,
    /// The model's name there
    #[arg(long, env = MODEL, global = true, value_name = "NAME")]
    pub llm_model: Option<String>,
    /// Seconds that one answer of the model may take
    #[arg(long, env = TIMEOUT, global = true, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=1_800))]
    pub llm_timeout: u32,
    /// Let the server's address lead into a private network
    #[arg(long, env = ALLOW_PRIVATE, global = true, value_parser = FalseyValueParser::new())]
    pub llm_allow_private: bool,
}

impl ExtractorSettings {
    /// The extractor that is configured, with the encoder, if there is one. Fails with a sentence when it cannot be
    /// used; nothing is connected to.
    pub fn extractor(&self, encoder: Option<Arc<dyn TextEncoder>>) -> Result<Arc<dyn Extractor>, Invalid> {
        let rules = RulesExtractor::new().with_encoder(encoder).with_confidence(self.event_confidence);
        Ok(match self.options()? {
            Some(options) => {
                Arc::new(LlmExtractor::new(options, rules)?.with_confidence(self.event_confidence))
            }
            None => Arc::new(rules),
        })
    }

    /// The language model that is configured, if any.
    pub fn options(&self) -> Result<Option<LlmOptions>, Invalid> {
        let Some(url) = said(self.llm_url.as_deref()) else { return Ok(None) };
        let Some(model) = said(self.llm_model.as_deref()) else {
            return Err(Invalid(format!(
                "{URL} names a server but no model is named: set {MODEL} (or --llm-model) to one that it has"
            )));
        };
        Ok(Some(LlmOptions {
            url: url.to_owned(),
            model: model.to_owned(),
            key: key()?,
            timeout: Duration::from_secs(u64::from(self.llm_timeout)),
            allows_private: self.llm_allow_private,
        }))
    }

    /// The same settings as environment variables, for a process that is started by this one. The key is in the
    /// environment already.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            (TIMEOUT, self.llm_timeout.to_string()),
            (ALLOW_PRIVATE, self.llm_allow_private.to_string()),
            (URL, self.llm_url.clone().unwrap_or_default()),
            (MODEL, self.llm_model.clone().unwrap_or_default()),
        ];
        all.extend(self.event_confidence.map(|confidence| (CONFIDENCE, confidence.to_string())));
        if let Some(file) = std::env::var_os(KEY_FILE)
            && let Ok(file) = std::path::absolute(file)
        {
            all.push((KEY_FILE, file.to_string_lossy().into_owned()));
        }
        all
    }
}

fn probability(value: &str) -> Result<f32, String> {
    let probability = value.parse().ok().filter(|probability| (0.05..=0.99).contains(probability));
    probability.ok_or_else(|| "give a number from 0.05 to 0.99".to_owned())
}

/// A variable that is set to nothing is not set.
fn said(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|value| !value.is_empty())
}

fn key() -> Result<Option<Key>, Invalid> {
    let key = match (std::env::var(KEY).ok(), std::env::var_os(KEY_FILE).filter(|file| !file.is_empty())) {
        (Some(key), _) if !key.trim().is_empty() => key,
        (_, Some(file)) => std::fs::read_to_string(&file).map_err(|error| {
            Invalid(format!("{KEY_FILE} {} cannot be read: {error}", PathBuf::from(file).display()))
        })?,
        _ => return Ok(None),
    };
    said(Some(&key)).map(Key::new).transpose()
}
