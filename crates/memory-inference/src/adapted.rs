//! The models that setup makes of the weights of the embedding model and of what training added to them, in `data/` (see
//! `tools/train-clauses/encoder`).

/// A model that setup puts into the folder of the embedding model.
#[derive(Debug)]
pub struct AdaptedModel {
    /// Another adapter takes the next number: setup adds what is missing.
    pub file: &'static str,
    /// Low-rank differences to the weights, and the last layers of those that classify.
    pub adapter: &'static [u8],
    /// So many layers of the embedding model are kept.
    pub layers: usize,
}

/// Classifies names, clauses and sentences that may state directives.
pub const TEXT_ENCODER: AdaptedModel = AdaptedModel {
    file: "text_encoder_13.onnx",
    adapter: include_bytes!("../data/text_encoder.safetensors"),
    layers: 4,
};

/// Compares an earlier statement with a later one: directives that no longer hold.
pub const PAIR_ENCODER: AdaptedModel = AdaptedModel {
    file: "pair_encoder_3.onnx",
    adapter: include_bytes!("../data/pair_encoder.safetensors"),
    layers: 4,
};

/// Embeds requests and directives, so that those are near that bear on one another.
pub const BEARING_ENCODER: AdaptedModel = AdaptedModel {
    file: "bearing_encoder_3.onnx",
    adapter: include_bytes!("../data/bearing_encoder.safetensors"),
    layers: 6,
};

/// The version of its vectors: the number of its file.
pub(crate) const BEARING_VERSION: i16 = 3;

/// All that setup makes.
pub const ADAPTED_MODELS: [AdaptedModel; 3] = [TEXT_ENCODER, PAIR_ENCODER, BEARING_ENCODER];
