/**
 * The maximum size of each function's bundle and the packages that may be in it. Import cost is cold start,
 * and a package that is not in a bundle cannot be abused there: only custody carries the curves that sign,
 * only custody and the vault the ciphers of envelopes, only the mailer can open a socket, and only what
 * touches a chain carries viem.
 */
import { contracts } from '../../functions/contracts.ts'

/** The limits of one function's bundle. */
export type BundleRule = {
  /** Maximum size of the minified file after gzip. */
  gzipBytesMax: number
  /** npm packages whose code may be in the file. */
  packages: readonly string[]
  /** Modules of the runtime that the file may import. */
  runtime: readonly string[]
}

/** Packages by which every function reads values from outside. */
const parsers = ['zod', '@scure/base']
const everywhere = [...parsers, 'hono', '@hono/zod-validator', '@supabase/postgrest-js', 'jose']
const chains = ['viem', 'abitype', '@noble/hashes']
const signing = ['@noble/curves', '@noble/ciphers']
/** Packages that digest the terms of a consent (`terms`) and read a passkey's key (`assertions`). */
const terms = ['canonicalize']
const assertions = ['@levischuck/tiny-cbor']

const kilobyte = 1024
const plain: BundleRule = { gzipBytesMax: 63 * kilobyte, packages: everywhere, runtime: [] }
const onChain: BundleRule = {
  gzipBytesMax: 130 * kilobyte,
  packages: [...everywhere, ...chains, ...terms],
  runtime: [],
}
const custody: BundleRule = {
  ...onChain,
  packages: [...onChain.packages, ...signing, ...assertions, 'aws4fetch'],
  runtime: ['cloudflare:workers'],
}
const mailer: BundleRule = {
  ...plain,
  packages: [...parsers, '@supabase/postgrest-js'],
  runtime: ['cloudflare:workers', 'cloudflare:sockets'],
}

/** Hashes a password and knows the common ones, whose list is half of the bundle. */
const passwords: BundleRule = {
  gzipBytesMax: 128 * kilobyte,
  packages: [...plain.packages, '@noble/hashes'],
  runtime: [],
}

/** Knows the top-level domains, to refuse an address that cannot be reached. */
const sites: BundleRule = { ...plain, gzipBytesMax: 68 * kilobyte }

/** Opens and seals secrets, and sends opened ones to sites. No other function can do both. */
const vault: BundleRule = {
  gzipBytesMax: 129 * kilobyte,
  packages: [
    ...parsers,
    '@supabase/postgrest-js',
    '@noble/ciphers',
    '@noble/hashes',
    'tldts',
    'tldts-core',
    'htmlparser2',
    'entities',
  ],
  runtime: ['cloudflare:workers'],
}

/**
 * Reads mails of strangers, in any charset and with HTML as browsers split it, and finds the codes in them
 * and in their files. It can open no envelope and reach no database.
 */
const mailReader: BundleRule = {
  gzipBytesMax: 156 * kilobyte,
  packages: [...parsers, 'postal-mime', 'tldts', 'tldts-core', 'htmlparser2', 'entities'],
  runtime: [],
}

/** Reads the headers of mails and hands them on. */
const inboundMail: BundleRule = {
  gzipBytesMax: 116 * kilobyte,
  packages: [...parsers, 'postal-mime', 'tldts', 'tldts-core', '@supabase/postgrest-js'],
  runtime: [],
}

/** Packages that verify a passkey. What only its attestation needs is left out (scripts/build/functions.ts). */
const passkeys = [
  '@simplewebauthn/server',
  '@hexagon/base64',
  '@levischuck/tiny-cbor',
  '@peculiar/asn1-asym-key',
  '@peculiar/asn1-ecc',
  '@peculiar/asn1-pkcs8',
  '@peculiar/asn1-rsa',
  '@peculiar/asn1-schema',
  '@peculiar/asn1-x509',
  '@peculiar/asn1-x509-post-quantum',
  '@peculiar/utils',
  'asn1js',
  'pvtsutils',
  'pvutils',
  'tslib',
]

/** Holds the pages and all that they show, such as the chains, and the set of common passwords. */
const web: BundleRule = {
  gzipBytesMax: 400 * kilobyte,
  packages: [...everywhere, ...chains, ...terms, ...passkeys, 'punycode', 'uqr'],
  runtime: [],
}

/** Digests the terms and verifies the owner's signature again before it states anything. */
const receipts: BundleRule = {
  gzipBytesMax: 67 * kilobyte,
  runtime: [],
  packages: [...plain.packages, ...terms, ...assertions],
}

/** Reads addresses and knows the public suffixes, whose list is half of the bundle. */
const merchants: BundleRule = {
  ...onChain,
  packages: [...onChain.packages, 'tldts', 'tldts-core', 'punycode'],
}

/** Carries every contract and the code that describes it as JSON Schema. */
const documents: BundleRule = {
  gzipBytesMax: 72 * kilobyte,
  packages: [...parsers, '@supabase/postgrest-js'],
  runtime: [],
}

/** Speaks two revisions of the protocol and holds the contract of every operation. */
const tools: BundleRule = {
  gzipBytesMax: 170 * kilobyte,
  packages: [...plain.packages, '@modelcontextprotocol/core', '@modelcontextprotocol/server'],
  runtime: [],
}

/** Verifies signed calls and passes them on. */
const calls: BundleRule = {
  gzipBytesMax: 50 * kilobyte,
  packages: [...parsers, '@supabase/postgrest-js', 'jose'],
  runtime: [],
}

/** Sells for test money. It hashes a challenge, asks no chain and signs nothing. */
const sandbox: BundleRule = {
  gzipBytesMax: 52 * kilobyte,
  packages: [...parsers, ...chains, '@supabase/postgrest-js'],
  runtime: [],
}

/** Shows internationalized names of merchants in readable form. */
const mandates: BundleRule = {
  gzipBytesMax: 64 * kilobyte,
  packages: [...plain.packages, 'punycode'],
  runtime: [],
}

/** Rules of the functions that are neither plain nor on a chain only. */
const exceptions: Readonly<Record<string, BundleRule>> = {
  'account-webhook-create': sites,
  'consent-receipt': receipts,
  'create-account': passwords,
  'create-hosted-action': sites,
  custody,
  discovery: documents,
  'get-identity': plain,
  housekeeping: onChain,
  'inbound-mail': inboundMail,
  'mail-reader': mailReader,
  mailer,
  mcp: tools,
  'payment-mandate-create': merchants,
  'remote-calls': calls,
  'payment-mandate-statement': mandates,
  'payment-mandate-status': mandates,
  sandbox,
  vault,
  web,
}

/** Returns the rule for the function in this folder. */
export function bundleRule(folder: string): BundleRule {
  const asksChains = contracts.some(
    (contract) => contract.folder === folder && contract.needs?.includes('CHAIN_RPC_URLS'),
  )
  return exceptions[folder] ?? (asksChains ? onChain : plain)
}
