//! Which tools a connection is offered: whole sets, single names, exceptions, or only those that read.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use clap::Args;
use clap::builder::FalseyValueParser;
use memory_core::Invalid;
use memory_core::access::{Grant, Role};
use memory_language::text::cut;
use serde::{Deserialize, Serialize};
use strsim::jaro_winkler;

use super::protocol::NAME_MAX_CHARS;
use super::{Registered, registered};

/// From here on a name is likely a slip of another, in thousandths.
const NEAR_LIKENESS: u32 = 850;

/// The sets and the names that belong to them.
const SETS: [(&str, &[&str]); 3] = [
    ("memory", &["remember", "recall", "forget", "status", "briefing"]),
    (
        "graph",
        &[
            "create_entities",
            "create_relations",
            "add_observations",
            "delete_entities",
            "delete_observations",
            "delete_relations",
            "read_graph",
            "search_nodes",
            "open_nodes",
        ],
    ),
    (
        "authoring",
        &[
            "save_memory",
            "validate_memory",
            "update_observation",
            "get_observation_history",
            "list_entities",
            "query_nodes",
            "find_relation_path",
            "get_analytics",
            "suggest_merges",
        ],
    ),
];

/// What a reader may call; every other tool needs a writer.
const READERS: [&str; 13] = [
    "briefing",
    "recall",
    "status",
    "read_graph",
    "search_nodes",
    "open_nodes",
    "validate_memory",
    "get_observation_history",
    "list_entities",
    "query_nodes",
    "find_relation_path",
    "get_analytics",
    "suggest_merges",
];

/// The least role that may call the tool.
fn least_role(tool: &str) -> Role {
    if READERS.contains(&tool) { Role::Reader } else { Role::Writer }
}

/// Refuses tool sets that are none.
pub(crate) fn check_toolsets(sets: &[String], setting: &str) -> Result<(), Invalid> {
    match named(sets).find(|set| !SETS.iter().any(|(name, _)| name == set)) {
        None => Ok(()),
        Some(unknown) => {
            let sets = SETS.map(|(name, _)| name).join(", ");
            Err(Invalid::new(format!("there is no tool set {unknown:?} ({setting}); the sets are {sets}")))
        }
    }
}

/// What the settings of a process say; they travel to the process that holds the data folder. Nothing said
/// is every tool.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Tools offered by serve and stdio")]
pub(crate) struct ToolSettings {
    /// Sets of tools to offer, divided by commas: memory, graph, authoring; all when left out
    #[arg(long, env = "REMEMBRANCER_TOOLSETS", global = true, value_delimiter = ',', value_name = "SET")]
    pub(crate) toolsets: Vec<String>,
    /// Exactly the tools to offer, divided by commas, whatever their sets
    #[arg(long, env = "REMEMBRANCER_TOOLS", global = true, value_delimiter = ',', value_name = "TOOL")]
    pub(crate) tools: Vec<String>,
    /// Tools not to offer, divided by commas
    #[arg(
        long,
        env = "REMEMBRANCER_EXCLUDE_TOOLS",
        global = true,
        value_delimiter = ',',
        value_name = "TOOL"
    )]
    pub(crate) exclude_tools: Vec<String>,
    /// Offer only tools that change nothing
    // A value that is not plainly a no switches it on: a typing error must not open what was to be closed.
    #[arg(long, env = "REMEMBRANCER_READ_ONLY", global = true, value_parser = FalseyValueParser::new())]
    pub(crate) read_only: bool,
}

impl ToolSettings {
    /// Refuses what no connection could be served with: unknown names, or no tool at all.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let tools = registered();
        let known: Vec<&str> = tools.iter().map(|tool| &*tool.tool.name).collect();
        check_toolsets(&self.toolsets, "--toolsets, REMEMBRANCER_TOOLSETS")?;
        for (list, setting) in [
            (&self.tools, "--tools, REMEMBRANCER_TOOLS"),
            (&self.exclude_tools, "--exclude-tools, REMEMBRANCER_EXCLUDE_TOOLS"),
        ] {
            if let Some(unknown) = named(list).find(|name| !known.contains(name)) {
                bail!("there is no tool {unknown:?} ({setting}); the tools are {}", known.join(", "));
            }
        }
        if ToolFilter::new(self, &tools).names.is_empty() {
            bail!(
                "no tool is left to offer: --toolsets, --tools, --exclude-tools, --read-only and their variables together rule out all of them"
            );
        }
        Ok(())
    }

    /// As environment variables; what is not set is empty.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("REMEMBRANCER_TOOLSETS", self.toolsets.join(",")),
            ("REMEMBRANCER_TOOLS", self.tools.join(",")),
            ("REMEMBRANCER_EXCLUDE_TOOLS", self.exclude_tools.join(",")),
            ("REMEMBRANCER_READ_ONLY", if self.read_only { "1" } else { "" }.to_owned()),
        ]
    }

    /// Why this tool is not to be offered; `None` when it is.
    fn objection(&self, name: &str, is_read_only: bool) -> Option<&'static str> {
        let (mut tools, mut toolsets) = (named(&self.tools).peekable(), named(&self.toolsets).peekable());
        if tools.peek().is_some() {
            if !tools.any(|tool| tool == name) {
                return Some("it was started with other --tools (REMEMBRANCER_TOOLS)");
            }
        } else if toolsets.peek().is_some() && !toolsets.any(|set| Some(set) == set_of(name)) {
            return Some("it was started with other --toolsets (REMEMBRANCER_TOOLSETS)");
        }
        if named(&self.exclude_tools).any(|tool| tool == name) {
            return Some("it was started with --exclude-tools (REMEMBRANCER_EXCLUDE_TOOLS) that name it");
        }
        if self.read_only && !is_read_only {
            return Some("it is read-only (--read-only, REMEMBRANCER_READ_ONLY)");
        }
        None
    }
}

/// The names of a list; an empty one, as an empty variable gives, is none.
fn named(list: &[String]) -> impl Iterator<Item = &str> {
    list.iter().map(|name| name.trim()).filter(|name| !name.is_empty())
}

fn set_of(tool: &str) -> Option<&'static str> {
    SETS.iter().find(|(_, tools)| tools.contains(&tool)).map(|(set, _)| *set)
}

#[cfg(test)]
pub(super) fn known_names() -> impl Iterator<Item = &'static str> {
    SETS.iter().flat_map(|(_, tools)| *tools).copied()
}

/// The tools that a connection is offered, and why not the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolFilter {
    names: BTreeSet<String>,
    refusals: BTreeMap<String, String>,
}

impl ToolFilter {
    pub(super) fn new(settings: &ToolSettings, tools: &[Registered]) -> Self {
        let mut offer = Self::default();
        for Registered { tool, .. } in tools {
            let annotations = tool.annotations.as_ref();
            let is_read_only = annotations.and_then(|a| a.read_only_hint).unwrap_or(false);
            match settings.objection(&tool.name, is_read_only) {
                None => _ = offer.names.insert(tool.name.to_string()),
                Some(why) => {
                    let refusal = format!("{} is switched off on this server: {why}", tool.name);
                    offer.refusals.insert(tool.name.to_string(), refusal);
                }
            }
        }
        offer
    }

    /// What of it is open to the holder of a key.
    pub(super) fn narrowed(&self, grant: &Grant) -> Self {
        let mut offer = Self { names: BTreeSet::new(), refusals: self.refusals.clone() };
        for name in &self.names {
            let is_in_sets = grant.toolsets.is_empty()
                || set_of(name).is_some_and(|set| grant.toolsets.iter().any(|open| open == set));
            let needed = least_role(name);
            let why = if !is_in_sets {
                format!("its tool sets are {}", grant.toolsets.join(", "))
            } else if grant.role < needed {
                format!("it is a {}, and this takes a {needed}", grant.role)
            } else {
                offer.names.insert(name.clone());
                continue;
            };
            offer.refusals.insert(name.clone(), format!("{name} is not open to this key: {why}"));
        }
        offer
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.names.contains(tool)
    }

    /// The answer to a call of a tool that is not offered.
    pub(super) fn refusal(&self, tool: &str) -> String {
        self.refusals.get(tool).cloned().unwrap_or_else(|| {
            let near = self.near(tool);
            let meant = if near.is_empty() { "there are" } else { "did you mean" };
            let names = if near.is_empty() { self.names.iter().map(String::as_str).collect() } else { near };
            format!("unknown tool {}; {meant} {}", cut(tool, NAME_MAX_CHARS), names.join(", "))
        })
    }

    /// The tools whose names are nearest, best first, at most three.
    fn near(&self, tool: &str) -> Vec<&str> {
        let tool = cut(tool, NAME_MAX_CHARS).to_lowercase().replace(['-', ' ', '.'], "_");
        let likeness = |name: &String| (jaro_winkler(&tool, name) * 1_000.0) as u32;
        let mut near: Vec<(u32, &str)> =
            self.names.iter().map(|name| (likeness(name), name.as_str())).collect();
        near.retain(|(likeness, _)| *likeness >= NEAR_LIKENESS);
        near.sort_by_key(|(likeness, _)| std::cmp::Reverse(*likeness));
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn offered(settings: &ToolSettings) -> Vec<String> {
        settings.check().unwrap();
        ToolFilter::new(settings, &registered()).names.into_iter().collect()
    }

    #[test]
    fn the_sets_have_every_tool_once_and_nothing_else() {
        let mut of_sets: Vec<&str> = known_names().collect();
        of_sets.sort_unstable();
        let tools = registered();
        assert_eq!(of_sets, tools.iter().map(|r| &*r.tool.name).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_said_is_every_tool_and_an_empty_variable_says_nothing() {
        let all: Vec<String> = registered().iter().map(|r| r.tool.name.to_string()).collect();
        assert_eq!(offered(&ToolSettings::default()), all);
        let empty = list(&["", " "]);
        let settings = ToolSettings {
            toolsets: empty.clone(),
            tools: empty.clone(),
            exclude_tools: empty,
            read_only: false,
        };
        assert_eq!(offered(&settings), all);
        assert_eq!(offered(&serde_json::from_str("{}").unwrap()), all);
    }

    #[test]
    fn a_reader_may_call_exactly_what_changes_nothing() {
        let tools = registered();
        let is_read_only = |tool: &Registered| {
            tool.tool.annotations.as_ref().and_then(|a| a.read_only_hint).unwrap_or(false)
        };
        for tool in &tools {
            let needed = if is_read_only(tool) { Role::Reader } else { Role::Writer };
            assert_eq!(least_role(&tool.tool.name), needed, "{}", tool.tool.name);
        }
        assert!(READERS.iter().all(|name| tools.iter().any(|tool| tool.tool.name == *name)));
    }

    #[test]
    fn a_key_is_offered_what_its_role_and_its_sets_allow_of_what_the_server_offers() {
        let offered = |settings: &ToolSettings, role, sets: &[&str]| {
            let namespaces = vec![memory_core::id::Namespace::default()];
            let grant = Grant::new("k", role, namespaces, list(sets)).expect("a grant");
            ToolFilter::new(settings, &registered()).narrowed(&grant)
        };
        let all = ToolSettings::default();
        assert_eq!(
            offered(&all, Role::Reader, &["memory"]).names.into_iter().collect::<Vec<_>>(),
            ["briefing", "recall", "status"]
        );
        assert_eq!(offered(&all, Role::Writer, &[]).names, offered(&all, Role::Admin, &[]).names);
        assert_eq!(offered(&all, Role::Writer, &["memory", "graph"]).names.len(), 14);
        let read_only = ToolSettings { read_only: true, ..ToolSettings::default() };
        let narrow = offered(&read_only, Role::Admin, &["graph"]);
        assert_eq!(narrow.names.iter().collect::<Vec<_>>(), ["open_nodes", "read_graph", "search_nodes"]);
        assert!(narrow.refusal("delete_entities").contains("--read-only"));
        assert!(narrow.refusal("recall").contains("not open to this key: its tool sets are graph"));
        let reader = offered(&all, Role::Reader, &[]);
        assert!(reader.refusal("forget").contains("it is a reader, and this takes a writer"));
    }

    #[test]
    fn names_come_before_sets_and_exceptions_and_read_only_hold_for_both() {
        let mut settings = ToolSettings { toolsets: list(&["memory"]), ..ToolSettings::default() };
        assert_eq!(offered(&settings), ["briefing", "forget", "recall", "remember", "status"]);
        settings.exclude_tools = list(&[" status"]);
        assert_eq!(offered(&settings), ["briefing", "forget", "recall", "remember"]);
        settings.read_only = true;
        assert_eq!(offered(&settings), ["briefing", "recall"]);
        settings.tools = list(&["forget", "status", "recall"]);
        assert_eq!(offered(&settings), ["recall"]);
        settings.read_only = false;
        assert_eq!(offered(&settings), ["forget", "recall"]);
    }

    #[test]
    fn a_read_only_offer_has_no_tool_that_writes() {
        let offer =
            ToolFilter::new(&ToolSettings { read_only: true, ..ToolSettings::default() }, &registered());
        for writing in ["remember", "forget", "create_entities", "delete_entities", "save_memory"] {
            assert!(!offer.has(writing), "{writing}");
        }
        assert!(offer.refusal("remember").contains("--read-only"), "{}", offer.refusal("remember"));
        let unknown = offer.refusal("no_such_tool");
        assert!(
            unknown.starts_with("unknown tool no_such_tool; there are briefing, find_relation_path, "),
            "{unknown}"
        );
    }

    #[test]
    fn an_unknown_tool_is_answered_with_the_nearest_and_never_at_length() {
        let offer = ToolFilter::new(&ToolSettings::default(), &registered());
        for (slip, meant) in
            [("recal", "recall"), ("create_entity", "create_entities"), ("Save-Memory", "save_memory")]
        {
            let refusal = offer.refusal(slip);
            assert!(refusal.starts_with(&format!("unknown tool {slip}; did you mean {meant}")), "{refusal}");
        }
        assert!(offer.refusal(&"é".repeat(10_000_000)).len() < 1_000);
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let refusal = |settings: ToolSettings| settings.check().unwrap_err().to_string();
        let bad = || list(&["recall", "grpah"]);
        let sets = refusal(ToolSettings { toolsets: bad(), ..ToolSettings::default() });
        assert!(sets.contains("\"recall\"") && sets.contains("memory, graph, authoring"), "{sets}");
        for settings in [
            ToolSettings { tools: bad(), ..ToolSettings::default() },
            ToolSettings { exclude_tools: bad(), ..ToolSettings::default() },
        ] {
            let tools = refusal(settings);
            assert!(tools.contains("\"grpah\"") && tools.contains("forget, "), "{tools}");
        }
        let none = ToolSettings { tools: list(&["forget"]), read_only: true, ..ToolSettings::default() };
        assert!(refusal(none).contains("no tool is left"));
    }
}
