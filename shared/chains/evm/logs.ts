/**
 * Reads a stablecoin's own event logs: who was paid, and which authorization paid. A log counts
 * only if the token contract itself wrote it; the same words from another contract prove nothing.
 */
import { decodeEventLog, encodeEventTopics } from 'viem/utils'
import type { Address, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { Log, LogFilter } from './log-ranges.ts'

/** A payment as it must have happened. `authorizationNonce` is that of EIP-3009. */
export type ExpectedTransfer = {
  from: Address
  to: Address
  value: bigint
  authorizationNonce?: Hex
}

/**
 * The log index of the Transfer that is this payment, or undefined. With an authorization nonce,
 * it is the token's next log after AuthorizationUsed(from, nonce), which is where EIP-3009 tokens
 * write it; so one of two equal payments in a batch is never taken for the other.
 */
export function findTransfer(
  logs: readonly Log[],
  token: Token,
  expected: ExpectedTransfer,
): bigint | undefined {
  const own = logs.filter((log) => sameHex(log.address, token.address)).map(readEvent)
  const { authorizationNonce } = expected
  if (!authorizationNonce) return own.find((event) => isTransfer(event, expected))?.logIndex
  const used = own.findIndex((event) => isUse(event, expected.from, authorizationNonce))
  const next = used < 0 ? undefined : own[used + 1]
  return next && isTransfer(next, expected) ? next.logIndex : undefined
}

/** Picks out what left a wallet, and the uses of its authorizations. */
export function outgoing({ address }: Token, from: Address): LogFilter {
  const [transfer, payer] = encodeEventTopics({
    abi: tokenAbi,
    eventName: 'Transfer',
    args: { from },
  })
  const [used] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
  return { address, topics: [[transfer, used], payer ?? null] }
}

/** Who paid whom how much, if this log says so. */
export function readTransfer(log: Log): { from: Address; to: Address; value: bigint } | undefined {
  const { event } = readEvent(log)
  return event?.eventName === 'Transfer' ? event.args : undefined
}

/** What ended this authorization, if this log says so. */
export function readAuthorizationEnd(
  log: Log,
  authorizer: Address,
  nonce: Hex,
): 'used' | 'canceled' | undefined {
  const { event } = readEvent(log)
  if (!event || event.eventName === 'Transfer') return undefined
  const { args } = event
  if (!sameHex(args.authorizer, authorizer) || !sameHex(args.nonce, nonce)) return undefined
  return event.eventName === 'AuthorizationUsed' ? 'used' : 'canceled'
}

/** Compares hex without regard to letter case. */
export function sameHex(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

type TokenEvent = ReturnType<typeof readEvent>

function readEvent({ topics, data, logIndex }: Log) {
  const [signature, ...indexed] = topics
  if (!signature) return { logIndex }
  try {
    const event = decodeEventLog({ abi: tokenAbi, topics: [signature, ...indexed], data })
    return { logIndex, event }
  } catch {
    // Another event of the token, such as Approval.
    return { logIndex }
  }
}

function isTransfer({ event }: TokenEvent, { from, to, value }: ExpectedTransfer): boolean {
  if (event?.eventName !== 'Transfer') return false
  const { args } = event
  return sameHex(args.from, from) && sameHex(args.to, to) && args.value === value
}

function isUse({ event }: TokenEvent, authorizer: Address, nonce: Hex): boolean {
  if (event?.eventName !== 'AuthorizationUsed') return false
  return sameHex(event.args.authorizer, authorizer) && sameHex(event.args.nonce, nonce)
}
