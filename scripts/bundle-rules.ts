/**
 * What a function's bundle may weigh and which packages may be in it. Import cost is cold start, and
 * a package that is not in a bundle cannot be abused there: only custody carries code that can sign
 * or open an envelope, only the mailer can open a socket, and only what touches a chain carries viem.
 */

export type BundleRule = {
  /** Of the minified file. */
  gzipBytesMax: number
  /** npm packages whose code may be in the file. */
  packages: readonly string[]
  /** Modules of the runtime that it may import. */
  runtime: readonly string[]
}

const everywhere = ['zod', 'hono', '@hono/zod-validator', '@supabase/postgrest-js', 'jose']
const chains = ['viem', 'abitype', '@noble/hashes']
const signing = ['@noble/curves', '@noble/ciphers']
/** What digests the terms that consent is given to, and what reads a passkey's key. */
const terms = ['canonicalize']
const assertions = ['@levischuck/tiny-cbor']

const kilobyte = 1024
const plain: BundleRule = { gzipBytesMax: 62 * kilobyte, packages: everywhere, runtime: [] }
const onChain: BundleRule = {
  gzipBytesMax: 130 * kilobyte,
  packages: [...everywhere, ...chains, ...terms],
  runtime: [],
}
const custody: BundleRule = {
  ...onChain,
  packages: [...onChain.packages, ...signing, ...assertions],
  runtime: ['cloudflare:workers'],
}
const mailer: BundleRule = {
  ...plain,
  packages: ['zod', '@supabase/postgrest-js'],
  runtime: ['cloudflare:workers', 'cloudflare:sockets'],
}

/** Hashes a password and knows the common ones; half of it is that list. */
const passwords: BundleRule = {
  gzipBytesMax: 128 * kilobyte,
  packages: [...plain.packages, '@noble/hashes'],
  runtime: [],
}

/** Knows the top-level domains, to refuse a site that none can reach. */
const sites: BundleRule = { ...plain, gzipBytesMax: 68 * kilobyte }

/** Opens and seals, and asks sites with what it opened; it alone can do both. */
const vault: BundleRule = {
  gzipBytesMax: 129 * kilobyte,
  packages: [
    'zod',
    '@supabase/postgrest-js',
    '@noble/ciphers',
    '@noble/hashes',
    'tldts',
    'tldts-core',
  ],
  runtime: ['cloudflare:workers'],
}

/** Reads mails of strangers, or their headers, and finds their codes; it can open nothing. */
const mailReader: BundleRule = {
  gzipBytesMax: 140 * kilobyte,
  packages: ['zod', '@supabase/postgrest-js', 'postal-mime', 'tldts', 'tldts-core'],
  runtime: [],
}

/** What verifies a passkey; most of it reads attestations, which nobody is asked for. */
const passkeys = [
  '@simplewebauthn/server',
  '@hexagon/base64',
  '@levischuck/tiny-cbor',
  '@peculiar/asn1-android',
  '@peculiar/asn1-asym-key',
  '@peculiar/asn1-cms',
  '@peculiar/asn1-csr',
  '@peculiar/asn1-ecc',
  '@peculiar/asn1-pfx',
  '@peculiar/asn1-pkcs8',
  '@peculiar/asn1-pkcs9',
  '@peculiar/asn1-rsa',
  '@peculiar/asn1-schema',
  '@peculiar/asn1-x509',
  '@peculiar/asn1-x509-attr',
  '@peculiar/asn1-x509-post-quantum',
  '@peculiar/utils',
  '@peculiar/x509',
  'asn1js',
  'pvtsutils',
  'pvutils',
  'reflect-metadata',
  'tslib',
  'tsyringe',
]

/** Pages and all that they show, among it the chains, and the set of passwords guessed first. */
const web: BundleRule = {
  gzipBytesMax: 400 * kilobyte,
  packages: [...everywhere, ...chains, ...terms, ...passkeys, 'altcha-lib', 'punycode', 'uqr'],
  runtime: [],
}

/** Digests the terms and checks the owner's signature again before it states anything. */
const receipts: BundleRule = {
  gzipBytesMax: 66 * kilobyte,
  runtime: [],
  packages: [...plain.packages, ...terms, ...assertions],
}

/** Reads addresses and knows the public suffixes; the half of it is their list. */
const merchants: BundleRule = {
  ...onChain,
  packages: [...onChain.packages, 'tldts', 'tldts-core', 'punycode'],
}

/** Knows what codes look like in twelve languages, to seal those in attachments. */
const files: BundleRule = { ...plain, gzipBytesMax: 88 * kilobyte }

/** Carries every contract, and what describes them as JSON Schema. */
const documents: BundleRule = {
  gzipBytesMax: 72 * kilobyte,
  packages: ['zod', '@supabase/postgrest-js'],
  runtime: [],
}

/** Speaks two revisions of the protocol, and holds the contract of every operation. */
const tools: BundleRule = {
  gzipBytesMax: 170 * kilobyte,
  packages: [...plain.packages, '@modelcontextprotocol/core', '@modelcontextprotocol/server'],
  runtime: [],
}

/** Tells merchants' names as they read. */
const mandates: BundleRule = {
  gzipBytesMax: 64 * kilobyte,
  packages: [...plain.packages, 'punycode'],
  runtime: [],
}

/** Asks for a second of work where very many ask for codes. */
const codes: BundleRule = { ...plain, packages: [...plain.packages, 'altcha-lib'] }

/** Every function that is not named here is held to the plain rule. */
const exceptions: Readonly<Record<string, BundleRule>> = {
  'consent-receipt': receipts,
  'create-account': passwords,
  'create-hosted-action': sites,
  custody,
  discovery: documents,
  'get-wallet-balances': onChain,
  housekeeping: onChain,
  'inbound-mail': mailReader,
  'mail-read': files,
  'mail-reader': mailReader,
  mailer,
  mcp: tools,
  'payment-mandate-create': merchants,
  'payment-mandate-statement': mandates,
  'payment-mandate-status': mandates,
  'request-signup-verification': codes,
  'resolve-transfer-recipient': onChain,
  'transfer-status': onChain,
  vault,
  'wallet-custodial-transfer': onChain,
  web,
  'x402-payment-execute': onChain,
  'x402-payment-prepare': onChain,
}

export function bundleRule(folder: string): BundleRule {
  return exceptions[folder] ?? plain
}
