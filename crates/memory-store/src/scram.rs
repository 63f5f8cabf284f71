//! What Postgres keeps of a password, made here: so the password is in no statement, and in no log of the server.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// As many as Postgres takes by itself.
const ITERATIONS: u32 = 4_096;
const SALT_BYTES: usize = 16;

type Sum = [u8; 32];

/// The verifier of SCRAM-SHA-256 (RFC 5802, RFC 7677) in the form of Postgres, with a salt of its own.
pub(crate) fn verifier(password: &str) -> String {
    verifier_with(password, &rand::random::<[u8; SALT_BYTES]>(), ITERATIONS)
}

fn verifier_with(password: &str, salt: &[u8], iterations: u32) -> String {
    // What cannot be prepared is taken as it is, by the server too.
    let prepared = stringprep::saslprep(password).unwrap_or(password.into());
    let salted = salted(prepared.as_bytes(), salt, iterations);
    let stored_key = Sha256::digest(keyed(&salted, b"Client Key"));
    let server_key = keyed(&salted, b"Server Key");
    let text = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
    format!("SCRAM-SHA-256${iterations}:{}${}:{}", text(salt), text(&stored_key), text(&server_key))
}

/// `Hi` of RFC 5802, which is PBKDF2 with one block.
fn salted(password: &[u8], salt: &[u8], iterations: u32) -> Sum {
    let mut last = keyed(password, &[salt, &1_u32.to_be_bytes()].concat());
    let mut all = last;
    for _ in 1..iterations {
        last = keyed(password, &last);
        all.iter_mut().zip(last).for_each(|(sum, more)| *sum ^= more);
    }
    all
}

fn keyed(key: &[u8], text: &[u8]) -> Sum {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifier_is_that_of_the_example_of_the_standard() {
        // RFC 7677, section 3: user "user", password "pencil".
        let salt = BASE64_STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").expect("Base64");
        let made = verifier_with("pencil", &salt, 4_096);
        let (head, keys) = made.rsplit_once('$').expect("three parts");
        assert_eq!(head, "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==");
        let (stored, server) = keys.split_once(':').expect("two keys");
        let decode = |text: &str| BASE64_STANDARD.decode(text).expect("Base64");
        let messages = "n=user,r=rOprNGfwEbeRWgbNEkqO,\
             r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,\
             c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let signed = keyed(&decode(server), messages.as_bytes());
        assert_eq!(BASE64_STANDARD.encode(signed), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        // The proof of the client, taken apart again, is a key of which the stored one is the sum.
        let signature = keyed(&decode(stored), messages.as_bytes());
        let proof = decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let client_key: Vec<u8> = proof.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        assert_eq!(Sha256::digest(client_key).to_vec(), decode(stored));
    }

    #[test]
    fn two_verifiers_of_a_password_differ_and_neither_has_it() {
        let (one, two) = (verifier("correct horse"), verifier("correct horse"));
        assert!(one != two && !one.contains("correct") && one.starts_with("SCRAM-SHA-256$4096:"), "{one}");
    }
}
