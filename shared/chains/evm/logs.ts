/**
 * Reads a stablecoin's own event logs: who was paid, and which authorization paid. A log counts
 * only if the token contract itself wrote it; the same words from another contract prove nothing.
 */
import { encodeEventTopics, getAddress } from 'viem/utils'
import type { Address, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { Log, LogFilter } from './log-ranges.ts'

/** The first topic of a transfer. */
export const transferTopic: Hex = topicOf('Transfer')
/** The first topic of the use of an authorization. */
export const useTopic: Hex = topicOf('AuthorizationUsed')
/** The first topic of the cancellation of one. */
export const cancelTopic: Hex = topicOf('AuthorizationCanceled')

function topicOf(eventName: 'Transfer' | 'AuthorizationUsed' | 'AuthorizationCanceled'): Hex {
  return encodeEventTopics({ abi: tokenAbi, eventName })[0]
}

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
  const own = logs.filter((log) => sameHex(log.address, token.address))
  const isIt = (log: Log | undefined) => log !== undefined && isTransfer(log, expected)
  const { from, authorizationNonce: nonce } = expected
  if (!nonce) return own.find(isIt)?.logIndex
  const used = own.findIndex((log) => readAuthorizationEnd(log, from, nonce) === 'used')
  const next = used < 0 ? undefined : own[used + 1]
  return isIt(next) ? next?.logIndex : undefined
}

function isTransfer(log: Log, { from, to, value }: ExpectedTransfer): boolean {
  const read = readTransfer(log)
  return read ? sameHex(read.from, from) && sameHex(read.to, to) && read.value === value : false
}

/** Picks out what left a wallet, and the uses of its authorizations. */
export function outgoing({ address }: Token, from: Address): LogFilter {
  return { address, topics: [[transferTopic, useTopic], wordOf(from)] }
}

/** Who paid whom how much, if this log says so. */
export function readTransfer({
  topics,
  data,
}: Log): { from: Address; to: Address; value: bigint } | undefined {
  const [signature, ...parties] = topics
  if (signature !== transferTopic || parties.length !== 2 || data.length !== wordLength) {
    return undefined
  }
  const [from, to] = parties.map(addressOf)
  return from && to && { from, to, value: BigInt(data) }
}

/** What ended this authorization, if this log says so. */
export function readAuthorizationEnd(
  { topics: [signature, ...indexed] }: Log,
  authorizer: Address,
  nonce: Hex,
): 'used' | 'canceled' | undefined {
  const [whose, which, ...more] = indexed
  const isIts = whose === wordOf(authorizer) && which === nonce.toLowerCase() && more.length === 0
  if (!isIts) return undefined
  return signature === useTopic ? 'used' : signature === cancelTopic ? 'canceled' : undefined
}

const wordLength = 66

/** An address as a topic holds it. */
export function wordOf(address: Address): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

/** The address in a topic; undefined where that holds more than one. */
function addressOf(topic: Hex): Address | undefined {
  return topic.startsWith(`0x${'0'.repeat(24)}`) ? getAddress(`0x${topic.slice(26)}`) : undefined
}

/** Compares hex without regard to letter case. */
export function sameHex(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
