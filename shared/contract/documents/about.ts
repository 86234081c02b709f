/**
 * Statements about the service that all documents share, and the questions that they ask of a contract. A
 * document is a projection of contracts: it receives them and imports none.
 */
import type { Config } from '../../env.ts'
import { type ErrorCode, errorTable } from '../errors.ts'
import type { GapState } from '../gaps.ts'
import { commonErrors, type Operation } from '../operation.ts'

/** Input of a document. */
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

/** Name of the service in every document. */
export const serviceName = 'agent-operating-account'
/** The same name in a form for people. */
export const serviceTitle = 'Agent Operating Account'
/** Version of the interface; fields may be added within it. */
export const serviceVersion = '1.0.0'
/** Description in one sentence. */
export const serviceSummary =
  'An operating account for AI agents: a mail identity, a custodial stablecoin wallet, guarded ' +
  'payments and a credential vault behind one key.'

/** Purpose of the skill and when to use it; at most 1,024 characters. */
export const skillDescription =
  'Operate an account for your user: read its mail, see its balances, send stablecoins, pay HTTP 402 ' +
  'resources, ask for payment mandates and use stored logins without reading them. Use when the user ' +
  'asks you to pay, transfer, buy from an API, receive a code or mail, or sign in to a site with this ' +
  'account.'

/** A group of operations; `ids` matches their ids. */
export type Group = { name: string; title: string; summary: string; ids: RegExp }

/** Groups in order: an operation belongs to the first one that matches its id. */
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
    name: 'webhooks',
    title: 'Webhooks',
    summary: 'Events of the account for services of the user.',
    ids: /^account_webhook_/,
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

/** Returns the group of an operation; throws if there is none. */
export function groupOf({ id }: Pick<Operation, 'id'>): Group {
  const group = groups.find(({ ids }) => ids.test(id))
  if (!group) throw new Error(`${id} is in no group`)
  return group
}

/** True for an operation that tools show to a model: not for one that opens an account, or is for programs. */
export function isForModels(contract: Pick<Operation, 'id'>): boolean {
  return !['onboarding', 'webhooks'].includes(groupOf(contract).name)
}

/** Returns the error codes that an operation may answer, ordered by status. */
export function codesOf(contract: Operation): ErrorCode[] {
  const codes = [...contract.errors, ...commonErrors(contract)]
  return codes.toSorted((a, b) => errorTable[a][0] - errorTable[b][0] || (a < b ? -1 : 1))
}

/** Returns the status of the operation's gap; `live` for an operation without one. */
export function gapStatusOf({ gap }: Operation, gaps: readonly GapState[]): string {
  return gaps.find(({ gap_id }) => gap_id === gap)?.status ?? 'live'
}

/** Returns the addresses that issue access tokens (RFC 6749 section 4.1) and the scopes in words. */
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
 * Returns the addresses of the metadata of the resource (RFC 9728) and of the authorization server (RFC
 * 8414): in front of all paths, or below our own path if the root of the host belongs to somebody else.
 */
export function wellKnownOf(baseUrl: string) {
  const isRoot = new URL(baseUrl).pathname === '/'
  const place = `${baseUrl}${isRoot ? '' : '/oauth'}/.well-known`
  return {
    protectedResource: `${place}/oauth-protected-resource`,
    authorizationServer: `${place}/oauth-authorization-server${isRoot ? '/oauth' : ''}`,
  }
}
