/** Questions about a key or app: what it may request, have paid, and read of secrets and codes. */
import { newDigest } from '../model/ledger.ts'
import { randomUUID } from '../seed.ts'
import type { Scope } from './acts.ts'
import { guardSeconds } from './acts.ts'
import { endedAt, isFrozen, isInService, isPermitted, isServing } from './agents.ts'
import type { Question } from './asking.ts'
import type { Paying } from './paying.ts'
import { mayPay } from './paying.ts'
import { hasRow, holds, says } from './questions.ts'
import type { Shown } from './rows.ts'
import type { Agent, Story } from './stage.ts'
import { bookOf, chain, shopHost, token } from './stage.ts'

const validSeconds = 600
const leaseSeconds = 45
const plenty = '1000000000000000'

export function admit(story: Story, agent: Agent, scope: Scope | 'any' | 'owner'): Question {
  const book = bookOf(story)
  return {
    kind: `admit to ${scope}`,
    words: agent.id,
    name: 'check_admission',
    args: { credential: agent.credential, needed: scope },
    isDone: says('check_admission', true),
    isGiven: () => {
      if (scope === 'owner') return false
      return scope === 'any' ? isInService(book, agent.id) : isServing(book, agent.id, scope)
    },
  }
}

/**
 * Returns the question whether the agent may freeze the account. A revoked or replaced key still may for
 * three days.
 */
export function freeze(story: Story, agent: Agent): Question {
  const book = bookOf(story)
  return {
    kind: 'freeze',
    words: agent.id,
    name: 'freeze_account',
    args: { credential: agent.credential, listed_max: 1 },
    isDone: hasRow,
    isGiven: () => {
      const at = endedAt(book, agent.id)
      return isInService(book, agent.id) || (at !== undefined && book.now - at < guardSeconds)
    },
  }
}

export type Order = {
  kind: 'transfer' | 'x402'
  device: string
  payee: string
  micros: number
}

export function begin(story: Story, agent: Agent, order: Order): Question {
  const book = bookOf(story)
  const isBought = order.kind === 'x402'
  return {
    kind: 'ask for a payment',
    words: `${agent.id} ${JSON.stringify(order)}`,
    name: 'begin_payment',
    args: {
      credential: agent.credential,
      kind: order.kind,
      device: order.device,
      chain,
      token,
      amount_atomic: String(order.micros),
      amount_usd_micros: String(order.micros),
      terms: isBought ? { origin: `https://${shopHost}` } : {},
      expires_in_seconds: 86_400,
      claim: randomUUID(),
      keyed: true,
      payee: order.payee,
      ...(isBought ? { resource: newDigest(), heard: true } : {}),
    },
    isDone: hasRow,
    isGiven: () => isServing(book, agent.id, 'pay') && !isFrozen(book),
  }
}

/** Returns the question whether custody signs at this level, whatever the policy decides. */
export function authorize(
  story: Story,
  shown: Shown,
  agent: Agent,
  paying: Omit<Paying, 'agent'>,
): Question {
  const book = bookOf(story)
  return {
    kind: `pay at ${paying.level}`,
    words: `${paying.payment} by ${agent.id} ${paying.mandate ?? ''}`,
    name: 'custody_authorize',
    args: {
      credential: agent.credential,
      payment: paying.payment,
      consent_level: paying.level,
      facts_version: shown.version,
      funds_atomic: plenty,
      valid_after: 0,
      valid_before: book.now + validSeconds,
      lease_seconds: leaseSeconds,
      gas_from: 'relayer',
      cost_wei: '1',
      mandate: paying.mandate,
    },
    isDone: says('outcome', 'authorized'),
    isGiven: () => mayPay(book, { agent: agent.id, ...paying }),
  }
}

export function askMandate(
  story: Story,
  agent: Agent,
  asked: { id: string; device: string; payTo: string | null },
): Question {
  const book = bookOf(story)
  return {
    kind: 'ask for a mandate',
    words: agent.id,
    name: 'create_mandate',
    args: {
      credential: agent.credential,
      new_id: asked.id,
      device: asked.device,
      merchant_domain: shopHost,
      include_subdomains: false,
      max_payment_usd_micros: String(mandateCaps.payment),
      max_total_usd_micros: String(mandateCaps.total),
      ttl_seconds: mandateSeconds,
      pay_to: asked.payTo === null ? null : [asked.payTo],
    },
    isDone: hasRow,
    isGiven: () => isServing(book, agent.id, 'pay') && !isFrozen(book),
  }
}

export const mandateSeconds = 30 * 86_400
export const mandateCaps = { payment: 60_000_000, total: 100_000_000 }

export function useSecret(story: Story, agent: Agent, entry: string | null): Question {
  const book = bookOf(story)
  return {
    kind: 'use a secret',
    words: agent.id,
    name: 'vault_open_use',
    args: { credential: agent.credential, entry, handles: [] },
    isDone: hasRow,
    isGiven: () => isServing(book, agent.id, 'vault') && !isFrozen(book),
  }
}

export function readSecret(story: Story, agent: Agent, entry: string | null): Question {
  const book = bookOf(story)
  return {
    kind: 'read a secret',
    words: agent.id,
    name: 'vault_read_entry',
    args: { credential: agent.credential, entry },
    isDone: holds('opened'),
    isGiven: () =>
      isServing(book, agent.id, 'read') &&
      !isFrozen(book) &&
      isPermitted(book, 'reads_secrets', agent.id),
  }
}

export function readCode(story: Story, agent: Agent, mail: string | null): Question {
  const book = bookOf(story)
  return {
    kind: 'read a code',
    words: agent.id,
    name: 'read_mail',
    args: { credential: agent.credential, mail },
    isDone: ([row]) => /"sees":"(all|codes)"/.test(JSON.stringify(row?.['reader'] ?? null)),
    isGiven: () =>
      isServing(book, agent.id, 'read') && !isFrozen(book) && isPermitted(book, 'shows_codes', ''),
  }
}
