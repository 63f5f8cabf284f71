//! The instructions and the guide for agents, fitted to the tools that are offered.
//!
//! Both texts are Markdown in blocks: paragraphs, list items, headings. Backticks are around names of tools
//! and nothing else; a block is included when every tool that it names is offered, a heading when a block below it
//! is.

use super::tool_filter::ToolFilter;

const INSTRUCTIONS: &str = include_str!("instructions.md");
const GUIDE: &str = include_str!("guide.md");

/// The server's instructions: one paragraph, short, since hosts show it in every conversation.
pub(super) fn instructions(offer: &ToolFilter) -> String {
    blocks_for(INSTRUCTIONS, offer).join(" ").replace('\n', " ")
}

/// The guide at length, which a host shows when it is asked for.
pub(super) fn guide(offer: &ToolFilter) -> String {
    let mut guide = String::new();
    for block in blocks_for(GUIDE, offer) {
        let is_next_item = is_item(block) && guide.lines().last().is_some_and(|line| !line.starts_with('#'));
        guide.push_str(if guide.is_empty() || is_next_item { "" } else { "\n" });
        guide.push_str(block);
        guide.push('\n');
    }
    guide
}

fn blocks_for<'a>(text: &'a str, offer: &ToolFilter) -> Vec<&'a str> {
    let mut included = Vec::new();
    let mut heading = None;
    for block in blocks(text) {
        if block.starts_with('#') {
            heading = Some(block);
        } else if tools_of(block).all(|tool| offer.has(tool)) {
            included.extend(heading.take());
            included.push(block);
        }
    }
    included
}

fn is_item(block: &str) -> bool {
    block.starts_with("- ")
}

/// Blocks end before an empty line and before a list item.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").flat_map(|part| {
        let starts = part.match_indices("\n- ").map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
        starts.push(part.len());
        (1..starts.len()).map(move |n| part[starts[n - 1]..starts[n]].trim()).collect::<Vec<_>>()
    })
}

fn tools_of(block: &str) -> impl Iterator<Item = &str> {
    block.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::super::registered;
    use super::super::tool_filter::{ToolSettings, known_names};
    use super::*;

    /// Hosts cut instructions that are longer.
    const INSTRUCTIONS_MAX_CHARS: usize = 2_000;

    fn offers() -> Vec<ToolFilter> {
        let mut offers = Vec::new();
        for read_only in [false, true] {
            let settings = ToolSettings { read_only, ..ToolSettings::default() };
            offers.push(ToolFilter::new(&settings, &registered()));
            for left_out in registered() {
                let settings =
                    ToolSettings { exclude_tools: vec![left_out.tool.name.to_string()], ..settings.clone() };
                offers.push(ToolFilter::new(&settings, &registered()));
            }
            for toolsets in ["memory", "graph", "authoring"] {
                let settings = ToolSettings { toolsets: vec![toolsets.to_owned()], ..settings.clone() };
                offers.push(ToolFilter::new(&settings, &registered()));
            }
        }
        offers
    }

    #[test]
    fn backticks_stand_around_names_of_tools_only() {
        for block in blocks(INSTRUCTIONS).chain(blocks(GUIDE)) {
            assert_eq!(block.matches('`').count() % 2, 0, "{block}");
            for tool in tools_of(block) {
                assert!(known_names().any(|name| name == tool), "{tool} in: {block}");
            }
        }
    }

    #[test]
    fn no_tool_is_named_that_is_not_offered() {
        for offer in offers() {
            let (instructions, guide) = (instructions(&offer), guide(&offer));
            for text in [&instructions, &guide] {
                assert!(tools_of(text).all(|tool| offer.has(tool)), "{text}");
            }
            assert!(!instructions.contains('\n') && !guide.contains("\n\n\n"));
        }
    }

    #[test]
    fn the_instructions_fit_what_hosts_take() {
        let offer = ToolFilter::new(&ToolSettings::default(), &registered());
        let characters = instructions(&offer).chars().count();
        assert!(characters <= INSTRUCTIONS_MAX_CHARS, "{characters} characters");
    }

    #[test]
    fn with_every_tool_every_block_is_told() {
        let offer = ToolFilter::new(&ToolSettings::default(), &registered());
        for text in [INSTRUCTIONS, GUIDE] {
            assert_eq!(blocks_for(text, &offer), blocks(text).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_heading_is_told_with_what_stands_below_it() {
        let text = "# One\n\nFirst `recall`.\n\n## Two\n\n- `no_such_tool`\n- and\n  more\n- `no_such_tool`\n\n## Three\n\n`no_such_tool`";
        let offer = ToolFilter::new(&ToolSettings::default(), &registered());
        assert_eq!(blocks_for(text, &offer), ["# One", "First `recall`.", "## Two", "- and\n  more"]);
    }
}
