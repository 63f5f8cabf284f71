//! Genres in which cues mean nothing: newsletters, recipes, stories, manuals, articles.

use super::scene::Scene;

/// How sure an event must be in a text of this kind.
pub(super) fn confidence_wanted(scene: &Scene<'_>) -> f32 {
    let text = &scene.text;
    let mut counts = Counts::default();
    for at in 0..text.tokens.len().min(20_000) {
        counts.take(scene, at);
    }
    let words = counts.words.max(1) as f32;
    let placed = !scene.layout.people.is_empty()
        || scene.layout.from.is_some()
        || !scene.layout.speakers.is_empty()
        || scene
            .layout
            .blocks
            .iter()
            .any(|block| block.labelled || matches!(block.section, super::sections::Section::Prior(_)));
    if counts.mailing >= 1 && counts.mailing + counts.selling >= 2 {
        return 0.9;
    }
    if counts.kitchen >= 4 {
        return 0.95;
    }
    if !placed && scene.speaker.is_none() {
        let third = counts.third as f32 / words;
        if counts.dialogue >= 2 || (counts.words >= 40 && third >= 0.05 && counts.first == 0) {
            return 0.9;
        }
        // Neither «we» nor a near day: an article tells how things are, not what happened here.
        if counts.words >= 40 && counts.first == 0 && counts.near == 0 {
            return 0.74;
        }
        // A text that addresses its reader instructs or sells.
        if counts.words >= 40 && counts.second as f32 / words >= 0.04 {
            return 0.74;
        }
    }
    0.0
}

#[derive(Default)]
struct Counts {
    words: usize,
    mailing: usize,
    selling: usize,
    kitchen: usize,
    dialogue: usize,
    first: usize,
    /// Days near to the writing.
    near: usize,
    second: usize,
    third: usize,
}

impl Counts {
    fn take(&mut self, scene: &Scene<'_>, at: usize) {
        let text = &scene.text;
        self.words += usize::from(text.is_word(at));
        match text.word(at) {
            "unsubscribe" | "newsletter" => self.mailing += 1,
            "subscribe" | "subscribers" | "sponsored" | "webinar" | "discount" | "browser" | "offer"
            | "readers" => self.selling += 1,
            "preheat" | "tablespoon" | "tablespoons" | "teaspoon" | "teaspoons" | "tbsp" | "tsp" | "oven"
            | "simmer" | "flour" | "butter" | "garlic" | "whisk" | "cups" | "skillet" | "saucepan"
            | "onion" | "dough" => self.kitchen += 1,
            "said" | "whispered" | "murmured" | "replied" | "sighed" | "laughed" | "muttered" | "shouted"
            | "asked" => {
                let floor = at.saturating_sub(3);
                self.dialogue += usize::from((floor..at + 4).any(|near| scene.is_quote_mark(near)));
            }
            "i" | "we" | "our" => self.first += 1,
            "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday" | "today"
            | "tomorrow" | "yesterday" | "week" | "eod" | "sprint" => self.near += 1,
            "you" | "your" => self.second += 1,
            "he" | "she" | "his" | "her" | "him" => self.third += 1,
            _ => {}
        }
    }
}
