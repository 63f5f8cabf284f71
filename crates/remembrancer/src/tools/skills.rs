//! Skills (SEP-2640): how to use the memory well, for hosts that load instructions when they are wanted.

use rmcp::ErrorData;
use rmcp::model::{
    ReadResourceResult, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::json;

use super::briefing;
use super::tool_filter::ToolFilter;
use memory_language::text::cut;

/// A skill of one file.
struct Offered {
    uri: &'static str,
    text: &'static str,
    /// The tool without which it is of no use.
    tool: &'static str,
}

macro_rules! skill {
    ($name:literal, $tool:literal) => {
        Offered {
            uri: concat!("skill://", $name, "/SKILL.md"),
            text: include_str!(concat!("skills/", $name, "/SKILL.md")),
            tool: $tool,
        }
    };
}

const ALL: [Offered; 3] = [
    skill!("remember-well", "remember"),
    skill!("review-commitments", "recall"),
    skill!("clean-up-memory", "recall"),
];

/// Whether there are any for these tools.
pub(super) fn are_offered(offer: &ToolFilter) -> bool {
    usable(offer).next().is_some()
}

pub(super) fn list(offer: &ToolFilter) -> Vec<Skill> {
    usable(offer).map(entry).collect()
}

pub(super) fn get(uri: &str, offer: &ToolFilter) -> Result<Skill, ErrorData> {
    find(uri, offer).map(entry).ok_or_else(|| {
        let all: Vec<&str> = usable(offer).map(|skill| skill.uri).collect();
        let error = format!("there is no skill {}; there is {}", cut(uri, 200), all.join(", "));
        ErrorData::invalid_params(error, Some(json!({ "uri": cut(uri, 200) })))
    })
}

/// The file of a skill; `None` where the address is none of theirs.
pub(super) fn read(uri: &str, offer: &ToolFilter) -> Option<ReadResourceResult> {
    let skill = find(uri, offer)?;
    let file = ResourceContents::text(skill.text, skill.uri).with_mime_type("text/markdown");
    Some(ReadResourceResult::new(vec![file]))
}

/// Those whose tool is offered, beside the briefing: who is left without that has chosen single tools.
fn usable(offer: &ToolFilter) -> impl Iterator<Item = &'static Offered> {
    ALL.iter().filter(|skill| offer.has(skill.tool) && offer.has(briefing::TOOL))
}

fn find(uri: &str, offer: &ToolFilter) -> Option<&'static Offered> {
    usable(offer).find(|skill| skill.uri == uri)
}

fn entry(skill: &'static Offered) -> Skill {
    let field = |name: &str| {
        let lines = skill.text.lines().skip(1).take_while(|line| *line != "---");
        lines
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    };
    let frontmatter = SkillFrontmatter::new(field("name"), field("description"));
    let file = SkillResource::from_bytes(skill.uri, skill.text.as_bytes());
    Skill::new(skill.uri, frontmatter, SkillResources::Files(vec![file]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skill_is_sound_and_short() {
        for skill in &ALL {
            let entry = entry(skill);
            entry.validate().unwrap_or_else(|error| panic!("{}: {error}", skill.uri));
            assert!((60..400).contains(&entry.frontmatter.description.len()), "{}", skill.uri);
            assert!(skill.text.len() < 4_000, "{}: {}", skill.uri, skill.text.len());
        }
    }
}
