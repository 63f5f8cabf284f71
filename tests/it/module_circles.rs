//! Modules of a crate use each other in one direction: types below, what uses them above.
//!
//! Between the modules that stand beside each other, each with all that is inside it, no circle of `use` or of paths is
//! allowed. What a module and its own submodules use of each other is not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates that are held to it; others join when their circles are undone.
const HELD: [&str; 3] = ["memory-core", "memory-extraction", "memory-language"];

type Module = Vec<String>;

/// The code of each module of a crate, and what it takes from others under a name of its own.
#[derive(Default)]
struct Modules {
    code: BTreeMap<Module, String>,
    reexports: BTreeMap<(Module, String), Vec<String>>,
}

impl Modules {
    fn of_crate(name: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("src");
        let mut modules = Self::default();
        modules.read(&source, &mut Vec::new());
        assert!(modules.code.len() > 5, "{name} has modules in {}", source.display());
        modules
    }

    fn read(&mut self, folder: &Path, module: &mut Module) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if name == "tests" {
                continue;
            }
            let is_own = ["mod", "lib", "main"].contains(&name.as_str());
            let depth = module.len();
            module.extend((!is_own).then_some(name));
            if path.is_dir() {
                self.read(&path, module);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.add(module.clone(), &std::fs::read_to_string(&path).expect("a text"));
            }
            module.truncate(depth);
        }
    }

    fn add(&mut self, module: Module, text: &str) {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = lines.flat_map(|line| [line, "\n"]).collect();
        for (at, _) in code.match_indices(" use ").filter(|(at, _)| is_public(&code[..*at])) {
            let mut paths = Vec::new();
            read_paths(&code, at + " use ".len(), &mut Vec::new(), &mut paths);
            for path in paths {
                let name = path.last().cloned().unwrap_or_default();
                self.reexports.insert((module.clone(), name), path);
            }
        }
        self.code.insert(module, code);
    }

    /// The module that a path which is written in `module` leads into.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Module {
        let mut at = module.to_vec();
        let mut rest = path;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name => {
                    let inside: Module = at.iter().cloned().chain([name.to_owned()]).collect();
                    if !self.code.contains_key(&inside) {
                        return match self.reexports.get(&(at.clone(), name.to_owned())) {
                            Some(path) if depth < 8 && path != rest => self.resolve(&at, path, depth + 1),
                            _ => at,
                        };
                    }
                    at = inside;
                }
            }
            rest = others;
        }
        at
    }

    /// Which module of the same folder uses which, with an example, by the folder.
    fn edges(&self) -> BTreeMap<Module, BTreeMap<(String, String), String>> {
        let mut edges: BTreeMap<Module, BTreeMap<(String, String), String>> = BTreeMap::new();
        for (module, code) in &self.code {
            for path in paths(code) {
                let other = self.resolve(module, &path, 0);
                let shared = module.iter().zip(&other).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (module.get(shared), other.get(shared)) {
                    let example = format!("{} uses {}", module.join("::"), path.join("::"));
                    let level = edges.entry(module[..shared].to_vec()).or_default();
                    level.entry((from.clone(), to.clone())).or_insert(example);
                }
            }
        }
        edges
    }

    /// What lies on a circle.
    fn circles(&self) -> Vec<String> {
        let mut found = Vec::new();
        for level in self.edges().values() {
            for ((from, to), example) in level {
                let mut reached = BTreeSet::from([to]);
                let mut next = vec![to];
                while let Some(at) = next.pop() {
                    let further = level.keys().filter(|(start, _)| start == at).map(|(_, end)| end);
                    next.extend(further.filter(|end| reached.insert(end)));
                }
                if reached.contains(from) {
                    found.push(example.clone());
                }
            }
        }
        found
    }
}

fn is_public(before: &str) -> bool {
    let word = before.rsplit('\n').next().unwrap_or_default();
    word == "pub" || (word.starts_with("pub(") && word.ends_with(')'))
}

/// All paths of a text that begin at the crate, a parent or the module itself.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let inside = code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'));
            if !inside {
                read_paths(code, at, &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Reads the path or the tree of paths that begins at a byte; gives the byte after it.
fn read_paths(code: &str, at: usize, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let mut at = at + blank(&code[at..]);
    let depth = path.len();
    if code[at..].starts_with('{') {
        at += 1;
        loop {
            at += code[at..].len() - code[at..].trim_start_matches([' ', '\n', ',']).len();
            if at >= code.len() || code[at..].starts_with('}') {
                return at + 1;
            }
            let before = at;
            at = read_paths(code, at, path, found);
            at = at.max(before + 1);
        }
    }
    let end =
        code[at..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(code.len(), |length| at + length);
    path.push(code[at..end].to_owned());
    let next = if let Some(rest) = code[end..].strip_prefix("::") {
        read_paths(code, code.len() - rest.len(), path, found)
    } else {
        found.push(path.clone());
        let renamed = code[end..].strip_prefix(" as ");
        renamed.map_or(end, |rest| code.len() - rest.trim_start_matches(char::is_alphanumeric).len())
    };
    path.truncate(depth);
    next
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

#[test]
fn modules_of_a_crate_do_not_use_each_other_in_circles() {
    for name in HELD {
        let circles = Modules::of_crate(name).circles();
        assert!(circles.is_empty(), "{name} has circles of modules:\n{}", circles.join("\n"));
    }
}

#[test]
fn a_circle_is_found_through_groups_paths_and_reexports() {
    let mut modules = Modules::default();
    for (module, text) in [
        ("", "pub mod a;\nmod b;\nmod c;\npub use c::Thing;\n"),
        ("a", "use crate::{b::{One, two}, d};\n// use crate::c::Nothing;\n"),
        ("b", "fn f() {\n    super::c::g();\n}\n"),
        ("c", "use crate::e;\n"),
        ("d", "use crate::Thing;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
    ] {
        modules.add(module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect(), text);
    }
    assert_eq!(modules.circles(), [""; 0]);
    modules.add(vec!["c".to_owned()], "use crate::a::x as y;\n");
    let circles = modules.circles();
    for example in [
        "a uses crate::b::One",
        "a uses crate::d",
        "b uses super::c::g",
        "c uses crate::a::x",
        "d uses crate::Thing",
    ] {
        assert!(circles.iter().any(|circle| circle == example), "{example} in {circles:?}");
    }
}
