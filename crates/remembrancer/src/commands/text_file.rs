//! Files as text: UTF-8, UTF-16 that says so, and the older encoding of western Windows.

/// The characters of Windows-1252 from 0x80 to 0x9F; zero where there is none.
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
    0x0153, 0, 0x017E, 0x0178,
];
/// Western text has at most every so manieth byte outside ASCII; what has more is something else.
const RARITY: usize = 4;

/// How a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    /// Guessed: the bytes do not say.
    Windows1252,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) encoding: Encoding,
}

impl Decoded {
    /// What the user should know of how it was read.
    pub(super) fn note(&self) -> Option<&'static str> {
        (self.encoding == Encoding::Windows1252)
            .then_some("not UTF-8, read as Windows-1252 (Latin-1); convert it if letters come out wrong")
    }
}

/// Why the content of a file is not read as text: it is left out, or converted by the user first.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotText {
    #[error(
        "not text, or text of another encoding than UTF-8, UTF-16 or Windows-1252; convert it with `iconv -t UTF-8` if it is text"
    )]
    UnknownEncoding,
    #[error("not text (it has NUL characters)")]
    HasNul,
}

/// The text of a file.
pub(super) fn decode(bytes: Vec<u8>) -> Result<Decoded, NotText> {
    let utf16 = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    let decoded = match utf16 {
        Some((rest, unit)) => decode_utf16(rest, unit),
        None => match String::from_utf8(bytes) {
            Ok(text) => Some(Decoded { text, encoding: Encoding::Utf8 }),
            Err(not_utf8) => decode_western(not_utf8.as_bytes()),
        },
    };
    let decoded = decoded.ok_or(NotText::UnknownEncoding)?;
    if decoded.text.contains('\0') {
        return Err(NotText::HasNul);
    }
    Ok(decoded)
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Decoded> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let units = pairs.iter().map(|pair| unit(*pair));
    let text = char::decode_utf16(units).collect::<Result<String, _>>().ok()?;
    Some(Decoded { text, encoding: Encoding::Utf16 })
}

/// Most bytes are ASCII, and none is one that texts do not have.
fn decode_western(bytes: &[u8]) -> Option<Decoded> {
    let others = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if others * RARITY > bytes.len() {
        return None;
    }
    let character = |byte: &u8| match *byte {
        b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e | 0xa0..=0xff => Some(char::from(*byte)),
        0x80..=0x9f => match WINDOWS_1252[usize::from(*byte - 0x80)] {
            0 => None,
            code => char::from_u32(u32::from(code)),
        },
        _ => None,
    };
    let text = bytes.iter().map(character).collect::<Option<String>>()?;
    Some(Decoded { text, encoding: Encoding::Windows1252 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Encoding) {
        let decoded = decode(bytes.to_vec()).expect("it is text");
        (decoded.text, decoded.encoding)
    }

    #[test]
    fn utf_8_utf_16_and_western_windows_are_read() {
        assert_eq!(read("Müller".as_bytes()), ("Müller".to_owned(), Encoding::Utf8));
        let utf16 = |order: fn(u16) -> [u8; 2]| {
            "\u{feff}Grüße 🎈".encode_utf16().flat_map(order).collect::<Vec<u8>>()
        };
        for bytes in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
            assert_eq!(read(&bytes), ("Grüße 🎈".to_owned(), Encoding::Utf16));
        }
        let western = b"Der Preis f\xfcr M\xfcller war 20 \x80, sagte er \x96 \x84viel\x93.";
        let text = "Der Preis für Müller war 20 €, sagte er – „viel“.";
        assert_eq!(read(western), (text.to_owned(), Encoding::Windows1252));
    }

    #[test]
    fn what_is_no_text_is_refused_with_what_to_do() {
        for bytes in [
            &[0x89, b'P', b'N', b'G', 0xff, 0xfe][..],
            b"\xff\xfeodd",
            b"\xff\xfe\x00\xd8",
            b"plain with \x01 and \xfc in it",
            &[0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2],
        ] {
            assert_eq!(decode(bytes.to_vec()), Err(NotText::UnknownEncoding));
        }
        assert_eq!(decode(b"abc\0def".to_vec()), Err(NotText::HasNul));
        assert!(NotText::UnknownEncoding.to_string().contains("iconv"));
    }
}
