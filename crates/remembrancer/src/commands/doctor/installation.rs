//! What is on the disk: the data folder, the programs and the models.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use memory_inference::adapted::ADAPTED_MODELS;
use memory_inference::integrity;
use memory_language::text::counted;
use memory_store::embedded::disk_of;
use memory_store::own_folder::user_name;

use super::{Finding, doubtful, fine, wrong};
use crate::settings::Settings;
use crate::setup::{Component, Components, cannot_run_postgres};

/// With less room nothing can be kept soon, and with less than this one should see to it.
const FREE_BYTES_MIN: u64 = 64 << 20;
const FREE_BYTES_LOW: u64 = 1 << 30;
/// How long a program has to say its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn of_folder(folder: &Path) -> Finding {
    const CHECK: &str = "data folder";
    let Ok(found) = folder.metadata() else {
        return wrong(
            CHECK,
            format!("{} is not there", folder.display()),
            "Run `remembrancer setup`, or name another with --data-dir.",
        );
    };
    let us = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        return wrong(CHECK, format!("{} is no folder", folder.display()), "Name another with --data-dir.");
    }
    if found.uid() != us {
        let (owner, me) = (user_name(found.uid()), user_name(us));
        let detail = format!("{} belongs to {owner}, and this is {me}", folder.display());
        return wrong(CHECK, detail, format!("Run this as {owner}, or name another folder with --data-dir."));
    }
    if found.mode() & 0o066 != 0 {
        let detail =
            format!("{} can be read by others (mode {:03o})", folder.display(), found.mode() & 0o777);
        let mode = if us == 0 { "711" } else { "700" };
        return doubtful(CHECK, detail, format!("`chmod {mode} {}`", folder.display()));
    }
    match tempfile::tempfile_in(folder) {
        Ok(_) => fine(CHECK, folder.display().to_string()),
        Err(error) => wrong(
            CHECK,
            format!("{} cannot be written to: {error}", folder.display()),
            "See its mode, and whether its disk is mounted read-only.",
        ),
    }
}

pub(super) fn of_disk(folder: &Path) -> Option<Finding> {
    let (free, size) = folder.ancestors().find_map(disk_of)?;
    let detail = format!("{} MB of {} MB are free", free >> 20, size >> 20);
    Some(match free {
        _ if free < FREE_BYTES_MIN => wrong("disk", detail, "Free some space: nothing new can be kept."),
        _ if free < FREE_BYTES_LOW => {
            doubtful("disk", detail, "Free some space before the database has none.")
        }
        _ => fine("disk", detail),
    })
}

fn is_missing(components: &Components, component: Component) -> Option<String> {
    components
        .missing(true)
        .into_iter()
        .find(|missing| missing.component == component)
        .map(|missing| missing.to_string())
}

pub(super) async fn of_postgres(components: &Components) -> Finding {
    const CHECK: &str = "postgres";
    const SETUP: &str = "Run `remembrancer setup`.";
    if let Some(reason) = cannot_run_postgres() {
        return wrong(CHECK, reason, "Set DATABASE_URL.");
    }
    if let Some(missing) = is_missing(components, Component::Postgres) {
        return wrong(CHECK, missing, SETUP);
    }
    let program = components.postgres_bin().join("postgres");
    let mut command = tokio::process::Command::new(&program);
    let asked = command.arg("--version").kill_on_drop(true).output();
    match tokio::time::timeout(VERSION_PATIENCE, asked).await {
        Ok(Ok(output)) if output.status.success() => {
            fine(CHECK, String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            wrong(
                CHECK,
                format!("{} does not run: {said}", program.display()),
                "Remove its folder and run `remembrancer setup`.",
            )
        }
        Ok(Err(error)) => wrong(CHECK, format!("{} does not run: {error}", program.display()), SETUP),
        Err(_) => wrong(CHECK, format!("{} does not answer", program.display()), SETUP),
    }
}

pub(super) fn of_runtime(components: &Components) -> Finding {
    const CHECK: &str = "onnxruntime";
    if let Some(missing) = is_missing(components, Component::OnnxRuntime) {
        return wrong(
            CHECK,
            missing,
            "Run `remembrancer setup`; until then texts are found by their words only.",
        );
    }
    let library =
        components.folder(Component::OnnxRuntime).join(memory_inference::files::ONNXRUNTIME_LIBRARY);
    match integrity::check_library(&library) {
        Ok(()) => fine(CHECK, format!("{} at {}", Component::OnnxRuntime.title(), library.display())),
        Err(error) => wrong(CHECK, error.to_string(), "Remove its folder and run `remembrancer setup`."),
    }
}

pub(super) fn of_model(settings: &Settings, components: &Components) -> Finding {
    const CHECK: &str = "model";
    if let Some(missing) = is_missing(components, Component::Model) {
        return wrong(
            CHECK,
            missing,
            "Run `remembrancer setup`; until then texts are found by their words only.",
        );
    }
    let folder = match settings.model.files() {
        Ok(files) => files.model_dir,
        Err(error) => return wrong(CHECK, error.to_string(), "Name the model's folder with --model-dir."),
    };
    match integrity::check_folder(&folder) {
        Ok(0) => fine(CHECK, format!("{}; no sums were noted beside it", folder.display())),
        Ok(files) => {
            let files = counted(files as i64, "file");
            fine(CHECK, format!("{}; {files} as {} says", folder.display(), integrity::SUMS_FILE))
        }
        Err(error) => wrong(CHECK, error.to_string(), "Remove the folder and run `remembrancer setup`."),
    }
}

/// Nothing where the model of setup is missing as a whole.
pub(super) fn of_encoder(components: &Components) -> Option<Finding> {
    const CHECK: &str = "encoder";
    let folder = components.folder(Component::Model);
    folder.is_dir().then(|| {
        let is_missing = |name: &&str| !folder.join(name).is_file();
        let names = ADAPTED_MODELS.map(|model| model.file);
        let missing: Vec<&str> = names.into_iter().filter(is_missing).collect();
        if missing.is_empty() {
            return fine(CHECK, format!("{} classify clauses, names and directives", names.join(", ")));
        }
        let advice = "Run `remembrancer setup`, then `remembrancer reextract` for the texts that are there.";
        let missing = missing.join(", ");
        doubtful(CHECK, format!("{missing} missing: fewer events, names and directives are found"), advice)
    })
}
