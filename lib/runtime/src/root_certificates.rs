//! The built-in certificate authorities, in addition to the system's, because a minimal container image has none.

/// Mozilla's list, each in DER.
pub fn built_in() -> impl Iterator<Item = &'static [u8]> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref)
}
