//! Which files of a folder are meant, and what is left out.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Folders of what others made or a tool can make again.
const OF_OTHERS: [&str; 3] = ["node_modules", "target", "vendor"];

/// The files of a folder in a fixed order, and what is not among them.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Vec<PathBuf>,
    /// The folders that they are in, the root among them.
    pub(super) folders: Vec<PathBuf>,
    pub(super) hidden: u64,
    pub(super) links: u64,
    /// By .gitignore, or of others; a folder is named once, with a slash behind it.
    pub(super) ignored: Vec<String>,
    /// What could not be looked into, and why.
    pub(super) unreadable: Vec<String>,
}

impl Tree {
    pub(super) fn of(root: &Path, with_ignored: bool) -> Self {
        let mut tree = Self::default();
        // Rules of the folders above count as well, up to the repository's root.
        let mut rules = Vec::new();
        if !with_ignored && !root.join(".git").exists() {
            let above: Vec<&Path> = root.ancestors().skip(1).collect();
            if let Some(repository) = above.iter().position(|folder| folder.join(".git").exists()) {
                rules.extend(above[..=repository].iter().rev().map(|folder| rules_of(folder)));
            }
        }
        tree.enter(root, root, with_ignored, &mut rules);
        tree
    }

    fn enter(&mut self, folder: &Path, root: &Path, with_ignored: bool, rules: &mut Vec<Gitignore>) {
        self.folders.push(folder.to_owned());
        rules.push(if with_ignored { Gitignore::empty() } else { rules_of(folder) });
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        match entries {
            Ok(mut entries) => {
                entries.sort_by_key(std::fs::DirEntry::file_name);
                for entry in entries {
                    self.take(&entry, root, with_ignored, rules);
                }
            }
            Err(error) => self.unreadable.push(format!("{}: {error}", folder.display())),
        }
        rules.pop();
    }

    fn take(
        &mut self,
        entry: &std::fs::DirEntry,
        root: &Path,
        with_ignored: bool,
        rules: &mut Vec<Gitignore>,
    ) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return self.unreadable.push(format!("{}: {error}", path.display())),
        };
        let is_of_others = kind.is_dir() && OF_OTHERS.contains(&name.as_str());
        if name.starts_with('.') {
            self.hidden += 1;
        } else if kind.is_symlink() {
            self.links += 1;
        } else if !with_ignored && (is_of_others || is_ignored(rules, &path, kind.is_dir())) {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            self.ignored.push(if kind.is_dir() { format!("{shown}/") } else { shown });
        } else if kind.is_dir() {
            self.enter(&path, root, with_ignored, rules);
        } else if kind.is_file() {
            self.files.push(path);
        }
    }
}

/// The rules of a folder's own .gitignore; a line that is none counts as not there, as with git.
fn rules_of(folder: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    builder.add(folder.join(".gitignore"));
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The rule nearest to the file decides.
fn is_ignored(rules: &[Gitignore], path: &Path, is_dir: bool) -> bool {
    let verdict =
        rules.iter().rev().map(|rules| rules.matched(path, is_dir)).find(|verdict| !verdict.is_none());
    matches!(verdict, Some(Match::Ignore(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
            std::fs::write(path, text).expect("a file is written");
        }
    }

    fn names(tree: &Tree, root: &Path) -> Vec<String> {
        tree.files.iter().map(|file| file.strip_prefix(root).expect("below").display().to_string()).collect()
    }

    #[test]
    fn what_tools_make_and_gitignore_names_is_left_out_and_counted_unless_asked_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("shop");
        written(
            dir.path(),
            &[
                (".git/HEAD", ""),
                (".gitignore", "*.tmp\n"),
                ("shop/.gitignore", "build/\n*.log\n!keep.log\n"),
                ("shop/.env", "secret"),
                ("shop/a.md", "a"),
                ("shop/b.tmp", "b"),
                ("shop/build/out.txt", "out"),
                ("shop/c.log", "c"),
                ("shop/sub/.gitignore", "d.md\n"),
                ("shop/sub/d.md", "d"),
                ("shop/sub/keep.log", "kept"),
                ("shop/sub/node_modules/lib/readme.md", "lib"),
                ("shop/target", "a file of this name"),
                ("shop/vendor/lib.go", "lib"),
            ],
        );
        std::os::unix::fs::symlink(&root, root.join("sub/circle")).expect("a link is made");
        let tree = Tree::of(&root, false);
        assert_eq!(names(&tree, &root), ["a.md", "sub/keep.log", "target"]);
        assert_eq!(tree.folders, [root.clone(), root.join("sub")]);
        assert_eq!(tree.ignored, ["b.tmp", "build/", "c.log", "sub/d.md", "sub/node_modules/", "vendor/"]);
        assert_eq!((tree.hidden, tree.links, tree.unreadable.len()), (3, 1, 0), "{tree:?}");
        let all = Tree::of(&root, true);
        assert_eq!(all.files.len(), 9, "{:?}", names(&all, &root));
        assert!(all.ignored.is_empty() && all.links == 1);
    }
}
