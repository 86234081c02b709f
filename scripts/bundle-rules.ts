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

const kilobyte = 1024
const plain: BundleRule = { gzipBytesMax: 56 * kilobyte, packages: everywhere, runtime: [] }
const onChain: BundleRule = {
  gzipBytesMax: 130 * kilobyte,
  packages: [...everywhere, ...chains],
  runtime: [],
}
const custody: BundleRule = {
  ...onChain,
  packages: [...onChain.packages, ...signing],
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

/** Pages and all that they show, among it the chains. */
const web: BundleRule = {
  gzipBytesMax: 190 * kilobyte,
  packages: [...everywhere, ...chains, 'altcha-lib', 'uqr'],
  runtime: [],
}

/** Every function that is not named here is held to the plain rule. */
const exceptions: Readonly<Record<string, BundleRule>> = {
  'create-account': passwords,
  custody,
  'get-wallet-balances': onChain,
  housekeeping: onChain,
  mailer,
  'resolve-transfer-recipient': onChain,
  'transfer-status': onChain,
  'wallet-custodial-transfer': onChain,
  web,
  'x402-payment-execute': onChain,
  'x402-payment-prepare': onChain,
}

export function bundleRule(folder: string): BundleRule {
  return exceptions[folder] ?? plain
}
