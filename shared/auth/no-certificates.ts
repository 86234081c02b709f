/**
 * Stands in bundles for the packages that follow certificates, a twelfth of the web app. @simplewebauthn/server needs
 * them only for attestations that name the maker of a passkey. Pages ask for none (WebAuthn level 3, section 5.4.7); a
 * passkey that brings such an attestation is refused.
 */
class UnreadCertificate {
  constructor() {
    throw new Error('certificates of attestations are not read')
  }
}

export {
  UnreadCertificate as AuthorityKeyIdentifierExtension,
  UnreadCertificate as CRLDistributionPointsExtension,
  UnreadCertificate as SubjectKeyIdentifierExtension,
  UnreadCertificate as X509Certificate,
  UnreadCertificate as X509ChainBuilder,
  UnreadCertificate as X509Crl,
  UnreadCertificate as KeyDescription,
  UnreadCertificate as id_ce_keyDescription,
}
