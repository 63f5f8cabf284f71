//! Which packages are fetched, pinned by hash. One requirements file a kind of machine, readable by pip;
//! the comment at the end of each line names the file and its bytes.

use anyhow::{Context, bail};

use super::Component;

const LINUX_X86_64: &str = include_str!("linux-x86_64.txt");
const LINUX_AARCH64: &str = include_str!("linux-aarch64.txt");
const MACOS_AARCH64: &str = include_str!("macos-aarch64.txt");

/// One file of one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pin {
    /// Name and version, as `name==1.0`.
    pub(crate) requirement: String,
    /// 64 hexadecimal digits, lower case.
    pub sha256: String,
    pub(crate) file: String,
    pub(crate) bytes: u64,
}

impl Pin {
    /// The line for pip.
    pub(super) fn line(&self) -> String {
        format!("{} --hash=sha256:{}\n", self.requirement, self.sha256)
    }

    /// The platforms that the file's name says it is for; `any` among them.
    pub(super) fn platforms(&self) -> impl Iterator<Item = &str> {
        let stem = self.file.strip_suffix(".whl").unwrap_or(&self.file);
        stem.rsplit('-').next().unwrap_or_default().split('.')
    }

    fn parse(line: &str) -> Option<Self> {
        let (requirement, rest) = line.split_once(" --hash=sha256:")?;
        let (sha256, comment) = rest.split_once('#')?;
        let (file, bytes) = comment.trim().split_once(' ')?;
        let sha256 = sha256.trim();
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|digit| b"0123456789abcdef".contains(&digit));
        let pin = Self {
            requirement: requirement.trim().to_owned(),
            sha256: sha256.to_owned(),
            file: file.to_owned(),
            bytes: bytes.parse().ok()?,
        };
        (is_hash && pin.requirement.contains("==") && pin.file.strip_suffix(".whl").is_some()).then_some(pin)
    }
}

/// The pins of the machine that this program was built for, by component.
pub(crate) fn for_this_machine() -> anyhow::Result<Vec<(Component, Pin)>> {
    let text = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => LINUX_X86_64,
        ("linux", "aarch64") => LINUX_AARCH64,
        ("macos", "aarch64") => MACOS_AARCH64,
        (os, arch) => bail!(
            "there are no packages for {os} on {arch}: setup knows Linux on x86-64 and arm64 and macOS on arm64"
        ),
    };
    parse(text)
}

fn parse(text: &str) -> anyhow::Result<Vec<(Component, Pin)>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pins: Vec<Pin> = lines
        .map(|line| Pin::parse(line).with_context(|| format!("not a pinned package: {line}")))
        .collect::<anyhow::Result<_>>()?;
    let of = |component: Component| {
        let package = component.package();
        let pin = pins.iter().find(|pin| pin.requirement.split("==").next() == Some(package));
        Ok((component, pin.with_context(|| format!("{package} is not pinned"))?.clone()))
    };
    Component::ALL.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_inference::files::ONNXRUNTIME;

    use crate::setup::POSTGRES;

    #[test]
    fn every_machine_has_every_piece_in_the_version_of_its_folder() {
        for text in [LINUX_X86_64, LINUX_AARCH64, MACOS_AARCH64] {
            let pins = parse(text).unwrap();
            let pin = |component| &pins.iter().find(|(of, _)| *of == component).unwrap().1;
            assert_eq!(
                pin(Component::Postgres).requirement.replace("embedded-", "").replace("==", "-"),
                POSTGRES
            );
            assert_eq!(pin(Component::OnnxRuntime).requirement.replace("==", "-"), ONNXRUNTIME);
            assert_eq!(pin(Component::Model).platforms().collect::<Vec<_>>(), ["any"]);
        }
    }

    #[test]
    fn a_line_without_a_whole_hash_is_refused() {
        let hash = "0".repeat(64);
        assert!(Pin::parse(&format!("a==1 --hash=sha256:{hash}  # a-1-py3-none-any.whl 12")).is_some());
        assert!(
            Pin::parse(&format!("a==1 --hash=sha256:{}  # a-1-py3-none-any.whl 12", &hash[1..])).is_none()
        );
        assert!(Pin::parse(&format!("a --hash=sha256:{hash}  # a-1-py3-none-any.whl 12")).is_none());
        assert!(Pin::parse("a==1  # a-1-py3-none-any.whl 12").is_none());
    }

    #[test]
    fn a_file_for_two_platforms_names_both() {
        let pins = parse(LINUX_X86_64).unwrap();
        let postgres = &pins.iter().find(|(component, _)| *component == Component::Postgres).unwrap().1;
        let platforms: Vec<_> = postgres.platforms().collect();
        assert_eq!(platforms, ["manylinux_2_27_x86_64", "manylinux_2_28_x86_64"]);
    }
}
