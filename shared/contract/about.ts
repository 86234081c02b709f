/**
 * What the documents say of the service beside its operations, and the questions that all of them ask
 * of a contract. A document is a projection of contracts: it is told them, and imports none.
 */
import type { Config } from '../env.ts'
import { type ErrorCode, errorTable } from './errors.ts'
import type { GapState } from './gap-states.ts'
import { commonErrors, type Operation } from './operation.ts'

/** What a document is made of. */
export type Service = {
  contracts: readonly Operation[]
  /** Without a slash at its end. */
  baseUrl: string
  webUrl: string
  environment: Config['ENVIRONMENT']
  gaps: readonly GapState[]
  /** SHA-256 of the contracts in hex, as every response carries it. */
  digest: string
}

/** As it is called in every document. */
export const serviceName = 'agent-operating-account'
/** The same as people read it. */
export const serviceTitle = 'Agent Operating Account'
/** Of the interface; fields may be added within it. */
export const serviceVersion = '1.0.0'
/** In one sentence. */
export const serviceSummary =
  'An operating account for AI agents: a mail identity, a custodial stablecoin wallet, guarded ' +
  'payments and a credential vault behind one key.'

/** What the skill does and when to take it; at most 1,024 characters. */
export const skillDescription =
  'Operate an account for your user: read its mail, see its balances, send stablecoins, pay HTTP 402 ' +
  'resources, ask for payment mandates and use stored logins without reading them. Use when the user ' +
  'asks you to pay, transfer, buy from an API, receive a code or mail, or sign in to a site with this ' +
  'account.'

/** A kind of operations; `ids` tells them by their names. */
export type Group = { name: string; title: string; summary: string; ids: RegExp }

/** Every operation is in the first group whose names it fits. */
export const groups: readonly Group[] = [
  {
    name: 'mandates',
    title: 'Mandates',
    summary: 'Payments to one merchant that the owner let pass in advance, within caps.',
    ids: /^payment_mandate_/,
  },
  {
    name: 'x402',
    title: 'HTTP 402',
    summary: 'Paying for a resource that answers 402 Payment Required.',
    ids: /^x402_/,
  },
  {
    name: 'vault',
    title: 'Vault',
    summary: 'Logins of sites, which are used and not read.',
    ids: /^vault_|_site_credentials$/,
  },
  {
    name: 'mail',
    title: 'Mail',
    summary: "The account's own mailbox.",
    ids: /^mail_/,
  },
  {
    name: 'onboarding',
    title: 'Onboarding',
    summary: 'Opening an account for a person who has none.',
    ids: /^(check_alias|request_signup_|confirm_registration_|create_account)/,
  },
  {
    name: 'wallet',
    title: 'Wallet',
    summary: 'What the account holds, and transfers of stablecoins.',
    ids: /^(wallet_|transfer_|resolve_)/,
  },
  {
    name: 'account',
    title: 'Account',
    summary: 'Who the account is, what its keys can do, and what a person does on a page.',
    ids: /./,
  },
]

/** The group of an operation. */
export function groupOf({ id }: Pick<Operation, 'id'>): Group {
  const group = groups.find(({ ids }) => ids.test(id))
  if (!group) throw new Error(`${id} is in no group`)
  return group
}

/** The codes that an operation may answer, in the order of their statuses. */
export function codesOf(contract: Operation): ErrorCode[] {
  const codes = [...contract.errors, ...commonErrors(contract)]
  return codes.toSorted((a, b) => errorTable[a][0] - errorTable[b][0] || (a < b ? -1 : 1))
}

/** What stands for its gap in answers and replies; `live` for an operation without one. */
export function statusOf({ gap }: Operation, gaps: readonly GapState[]): string {
  return gaps.find(({ gap_id }) => gap_id === gap)?.status ?? 'live'
}

/** Where access tokens come from (RFC 6749 section 4.1), and their scopes in words. */
export function authorizationOf({ baseUrl, webUrl }: Service) {
  return {
    authorizationUrl: `${webUrl}/authorize`,
    tokenUrl: `${baseUrl}/oauth/token`,
    refreshUrl: `${baseUrl}/oauth/token`,
    scopes: {
      read: 'See identity, balances, activity and mail.',
      pay: 'Pay within the limits of the account; covers read and vault.',
      full: 'Everything that an agent can do.',
      vault: 'Have stored logins used.',
    },
  }
}

/**
 * Where clients look for what protects the service (RFC 9728) and who gives tokens (RFC 8414): in front
 * of the paths, and below our own path where the root of the host belongs to somebody else.
 */
export function wellKnownOf(baseUrl: string) {
  const isRoot = new URL(baseUrl).pathname === '/'
  const place = `${baseUrl}${isRoot ? '' : '/oauth'}/.well-known`
  return {
    protectedResource: `${place}/oauth-protected-resource`,
    authorizationServer: `${place}/oauth-authorization-server${isRoot ? '/oauth' : ''}`,
  }
}
