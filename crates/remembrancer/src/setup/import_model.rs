//! A model of the user's own, copied among the models of the data folder, where every later start finds it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use memory_inference::embedding::{MODEL_FILE, ModelDescription};
use memory_inference::files::{PARTIAL, models_folder};

use super::install::{note_sums, remove_folder, settle, with_suffix};
use super::{MODEL_FILES, make_folders};

/// The folder of the model among those of the data folder. One that lies there already is taken as it is; another is
/// copied, and appears when it is whole.
pub(crate) fn import_model(data_dir: &Path, model_dir: &Path) -> anyhow::Result<PathBuf> {
    let from = model_dir.canonicalize().with_context(|| {
        format!("there is no model in {}; name the folder of one with --model-dir", model_dir.display())
    })?;
    let description = ModelDescription::read(&from).map_err(|_| {
        anyhow::anyhow!(
            "{} has no {MODEL_FILE} that describes a model; name the folder of one with --model-dir",
            from.display()
        )
    })?;
    let models = models_folder(data_dir);
    make_folders(&models)?;
    let entry = from.parent().and_then(|above| above.canonicalize().ok());
    if entry.is_some() && entry == models.canonicalize().ok() {
        return Ok(from);
    }
    let to = models.join(folder_name(&description.id));
    if to.exists() {
        if !is_same(&from, &to)? {
            bail!(
                "{} holds another model of the id {}; give the model in {} an id of its own in its {MODEL_FILE}",
                to.display(),
                description.id,
                from.display()
            );
        }
        return Ok(to);
    }
    let part = with_suffix(&to, &format!(".{PARTIAL}"));
    remove_folder(&part)?;
    fs::create_dir(&part)
        .and_then(|()| fs::set_permissions(&part, fs::Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot make {}", part.display()))?;
    for name in MODEL_FILES {
        let (source, copy) = (from.join(name), part.join(name));
        match fs::copy(&source, &copy) {
            // What a model cannot be without is missed when it is loaded.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            copied => copied.map(drop).with_context(|| format!("cannot copy {}", source.display()))?,
        }
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o644))
            .with_context(|| format!("cannot set the mode of {}", copy.display()))?;
    }
    note_sums(&part)?;
    settle(&part)?;
    fs::rename(&part, &to).with_context(|| format!("cannot move {}", part.display()))?;
    Ok(to)
}

/// Ids may have slashes.
fn folder_name(id: &str) -> String {
    let safe =
        id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' });
    let name: String = safe.take(100).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "model".to_owned() } else { name.to_owned() }
}

fn is_same(one: &Path, other: &Path) -> anyhow::Result<bool> {
    for name in MODEL_FILES {
        let same = same_content(&one.join(name), &other.join(name));
        if !same.with_context(|| format!("cannot compare {} with {}", one.display(), other.display()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = match (File::open(one), File::open(other)) {
        (Err(one), Err(other)) if [&one, &other].iter().all(|e| e.kind() == io::ErrorKind::NotFound) => {
            return Ok(true);
        }
        (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        (one, other) => (one?, other?),
    };
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let length = one.read(&mut left)?;
        if length == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..length])?;
        if left[..length] != right[..length] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(folder: &Path, id: &str, weights: &str) {
        fs::create_dir_all(folder).unwrap();
        let description = format!(r#"{{"id": "{id}", "dimension": 3, "window_tokens": 8}}"#);
        fs::write(folder.join(MODEL_FILE), description).unwrap();
        fs::write(folder.join("model_int8.onnx"), weights).unwrap();
        fs::write(folder.join("notes.txt"), "none of the model's").unwrap();
    }

    #[test]
    fn a_model_is_copied_once_and_another_of_its_id_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (data, elsewhere) = (home.path().join("data"), home.path().join("elsewhere"));
        model(&elsewhere, "lab/small", "weights");
        // What a copy that was broken off has left.
        fs::create_dir_all(data.join("models/lab-small.part/x")).unwrap();
        let brought = import_model(&data, &elsewhere).unwrap();
        assert_eq!(brought, data.join("models/lab-small"));
        assert_eq!(fs::read_to_string(brought.join("model_int8.onnx")).unwrap(), "weights");
        assert!(!brought.join("notes.txt").exists() && !data.join("models/lab-small.part").exists());
        assert_eq!(import_model(&data, &elsewhere).unwrap(), brought);
        assert_eq!(
            import_model(&data, &brought).unwrap().canonicalize().unwrap(),
            brought.canonicalize().unwrap()
        );
        model(&elsewhere, "lab/small", "Weights");
        let refused = import_model(&data, &elsewhere).unwrap_err().to_string();
        assert!(refused.contains("an id of its own"), "{refused}");
        let nothing = import_model(&data, home.path()).unwrap_err().to_string();
        assert!(nothing.contains("model.json") && nothing.contains("--model-dir"), "{nothing}");
    }

    #[test]
    fn no_id_leads_out_of_the_folder() {
        for (id, name) in
            [("a/b", "a-b"), ("../x", "-x"), ("..", "model"), ("ünï", "-n-"), ("m-1.5_q8", "m-1.5_q8")]
        {
            assert_eq!(folder_name(id), name);
        }
    }
}
