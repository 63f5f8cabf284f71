//! Things of one kind, of which somebody mostly has one: "I prefer pnpm now" takes the place of "I prefer npm".

use memory_language::lexicon::english_stem;

/// A line has the things of a kind that take each other's place. Not ours to complete: what is in none of the lines is
/// compared by its name alone.
const KINDS: [&str; 22] = [
    "npm pnpm yarn bun",
    "pip poetry uv pipenv conda pdm hatch rye",
    "jest vitest mocha jasmine ava",
    "pytest unittest nose nose2",
    "black ruff yapf autopep8",
    "eslint biome tslint oxlint",
    "webpack vite rollup esbuild parcel turbopack",
    "vim neovim emacs nano vscode helix zed sublime intellij",
    "bash zsh fish",
    "git mercurial svn jujutsu",
    "github gitlab bitbucket gitea",
    "jenkins circleci travis buildkite teamcity",
    "docker podman",
    "capistrano kamal ansible chef puppet",
    "postgres postgresql mysql mariadb sqlite oracle",
    "react vue svelte angular solid",
    "slack teams discord mattermost zulip",
    "cypress playwright selenium puppeteer",
    "maven gradle bazel ant",
    "firefox chrome safari brave edge",
    "windows macos linux",
    "tea coffee cocoa",
];
/// Names that end alike in so many letters are of one kind: "unittest" and "pytest".
const COMMON_ENDING: usize = 4;
/// A name that begins or ends another one has so many letters at least: "npm" and "pnpm".
const INSIDE: usize = 3;

/// Whether two names, as stems, are of one kind, and not the same.
pub(super) fn are_of_one_kind(one: &str, other: &str) -> bool {
    let has = |line: &str, name: &str| line.split(' ').any(|of| english_stem(of) == name);
    one != other && (KINDS.iter().any(|line| has(line, one) && has(line, other)) || are_alike(one, other))
}

fn are_alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let is_inside = short.len() >= INSIDE && (long.ends_with(short) || long.starts_with(short));
    let common = short.bytes().rev().zip(long.bytes().rev()).take_while(|(a, b)| a == b).count();
    is_inside || (common >= COMMON_ENDING && common < short.len())
}
