/**
 * The table of what a thief can do at most, by what was stolen. Each row is tested: an effect that is found
 * and not in it is a hole. Losses are measured on the chain and bounded by what account_exposure stated
 * before.
 */

import type { Scope } from '../world.ts'

/** Something done to an account, or learned about it. */
export type Effect =
  /** A page or an answer shows the text of a mail, with codes replaced by handles. */
  | 'reads mail'
  | 'reads a code of a mail'
  | 'reads a secret'
  /** `vault_totp` returns the current code, never its seed. */
  | 'takes a code of the moment'
  /** A secret goes to its own site, at a place that the owner approved. */
  | 'has a secret used'
  | 'sends mail'
  | 'moves money'
  /** Requests a payment, mandate or place from the owner, or hands out a link. */
  | 'asks'
  | 'stores a login'
  /** Someone or something becomes trusted, is let in, or may do more than before. */
  | 'widens'
  | 'sets the password'
  | 'freezes'
  /** Ends requests that wait for the owner or were approved: payments, mandates, places, links. */
  | 'ends requests'
  /** Known recipients and devices, limits and caps: agents may do less. */
  | 'narrows'
  | 'ends keys and apps'
  | 'ends sessions'
  | 'ends mails'
  | 'ends logins'
  /** Passkeys and recovery codes end, or all passkeys are reported lost. */
  | 'ends ways in'

export type Bearer = { kind: 'key' | 'app'; scope: Scope }
export type Row = {
  /** Description of what the thief holds. */
  has: string
  /** Description of the worst that can follow. */
  words: string
  may: readonly Effect[]
  /** True if the account has a passkey older than three days. */
  passkey: boolean
  /** The stolen key or app token, which the owner ends besides saying "it was not me". */
  bearer: Bearer | null
}

const looks: readonly Effect[] = ['reads mail', 'asks', 'freezes']
const usesVault: readonly Effect[] = [
  'takes a code of the moment',
  'has a secret used',
  'stores a login',
  'ends logins',
]
const pays: readonly Effect[] = [
  ...looks,
  ...usesVault,
  'moves money',
  'sends mail',
  'ends requests',
]
const unproven: readonly Effect[] = ['reads mail', 'freezes', 'ends requests', 'narrows']

const words = {
  read: 'reads mails with handles in the place of codes, asks the owner, and freezes',
  vault:
    'has logins used at their own sites, takes codes of the moment, stores logins and deletes those it stored, asks the owner, and freezes',
  pay: 'the same as read and vault, moves at most what account_exposure says, sends mail, takes its requests and mandates back',
}

const key = (scope: Scope, may: readonly Effect[]): Row => ({
  has: `a key of the scope ${scope}`,
  words: scope === 'full' ? words.pay : words[scope],
  may,
  passkey: true,
  bearer: { kind: 'key', scope },
})
const app = (scope: Scope, may: readonly Effect[]): Row => ({
  ...key(scope, may),
  has: `a token of an app with the scope ${scope}`,
  bearer: { kind: 'app', scope },
})

export const table = {
  'read key': key('read', looks),
  'vault key': key('vault', [...usesVault, 'asks', 'freezes']),
  'pay key': key('pay', pays),
  'full key': key('full', pays),
  'read app': app('read', looks),
  'vault app': app('vault', [...usesVault, 'asks', 'freezes']),
  'pay app': app('pay', pays),
  'full app': app('full', pays),
  code: {
    has: 'one recovery code and the mail address, for three days, of an account with a passkey',
    words:
      'sees everything but secrets and codes, freezes, and takes away what agents may; all passkeys can be given up for lost, which counts after three days in which none is used, and then a password be set, which proves nothing before that',
    may: [...unproven, 'ends ways in', 'sets the password'],
    passkey: true,
    bearer: null,
  },
  'code alone': {
    has: 'one recovery code and the mail address, for three days, of an account without a passkey',
    words: 'the same, and sets a password, which widens nothing for three days',
    may: [...unproven, 'sets the password'],
    passkey: false,
    bearer: null,
  },
  cookie: {
    has: 'a cookie of the owner, ten minutes after a proof',
    words:
      'sees everything but secrets and codes, freezes, takes away what agents may, and ends keys, apps and other sessions',
    may: [...unproven, 'ends keys and apps', 'ends sessions'],
    passkey: true,
    bearer: null,
  },
  password: {
    has: 'the password for a minute, of an account with a passkey',
    words: 'the same as a cookie: nothing but a passkey is a proof',
    may: [...unproven, 'ends keys and apps', 'ends sessions'],
    passkey: true,
    bearer: null,
  },
  'password alone': {
    has: 'the password for a minute, of an account without a passkey',
    words:
      'everything that its owner can, as nothing tells the two apart; each of it is told by mail, and "it was not me" ends it as long as the password lets the owner in',
    may: [
      ...unproven,
      ...pays,
      'reads a code of a mail',
      'reads a secret',
      'widens',
      'sets the password',
      'ends keys and apps',
      'ends sessions',
      'ends mails',
      'ends ways in',
    ],
    passkey: false,
    bearer: null,
  },
  mailbox: {
    has: "the owner's mailbox for a minute",
    words: 'nothing: what is sent there lets nobody in, and signs up for no second account',
    may: [],
    passkey: false,
    bearer: null,
  },
} satisfies Record<string, Row>

export type RowName = keyof typeof table
export const rowNames: readonly RowName[] = [
  'read key',
  'vault key',
  'pay key',
  'full key',
  'read app',
  'vault app',
  'pay app',
  'full app',
  'code',
  'code alone',
  'cookie',
  'password',
  'password alone',
  'mailbox',
]
