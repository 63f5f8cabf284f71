//! Which project a folder belongs to. The rule: the name of the top folder of the git repository that it is in; of a
//! work tree that of the repository it was made from; outside of repositories the folder's own name. The root and the home
//! folder are no project.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest name, in characters.
const NAME_MAX_CHARS: usize = 80;

/// Where a session works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workplace {
    pub project: Option<String>,
    pub branch: Option<String>,
}

impl Workplace {
    /// That of a folder. No program is run; three small files are read at most.
    pub fn of(folder: &Path) -> Self {
        let Some((top, git)) = repository(folder) else {
            let is_home = std::env::var_os("HOME").is_some_and(|home| Path::new(&home) == folder);
            return Self { project: name(folder).filter(|_| !is_home), branch: None };
        };
        // `…/.git/worktrees/NAME` belongs to the repository around `.git`.
        let main = git.parent().filter(|parent| parent.ends_with("worktrees")).and_then(Path::parent);
        let main = main.filter(|main| main.ends_with(".git")).and_then(Path::parent);
        Self { project: name(main.unwrap_or(&top)), branch: branch(&git) }
    }

    /// The tags that texts of a session get.
    pub fn tags(&self, host: &str) -> Vec<String> {
        let project = self.project.as_ref().map(|name| format!("project:{name}"));
        let branch = self.branch.as_ref().map(|name| format!("branch:{name}"));
        project.into_iter().chain(branch).chain([format!("host:{host}")]).collect()
    }
}

/// The top folder of a repository, and where its git files are.
fn repository(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    folder.ancestors().find_map(|top| {
        let git = top.join(".git");
        if git.is_dir() {
            return Some((top.to_owned(), git));
        }
        let text = small_file(&git)?;
        let target = text.strip_prefix("gitdir:")?.trim();
        Some((top.to_owned(), top.join(target)))
    })
}

fn branch(git: &Path) -> Option<String> {
    let head = small_file(&git.join("HEAD"))?;
    let name = head.strip_prefix("ref: refs/heads/")?.trim();
    (!name.is_empty()).then(|| name.chars().take(NAME_MAX_CHARS).collect())
}

fn small_file(path: &Path) -> Option<String> {
    let is_small = fs::metadata(path).ok().filter(|found| found.is_file() && found.len() < 4_096);
    is_small.and_then(|_| fs::read_to_string(path).ok())
}

fn name(folder: &Path) -> Option<String> {
    let name: String = folder.file_name()?.to_string_lossy().chars().take(NAME_MAX_CHARS).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
