/**
 * Reads a stablecoin's event logs: who was paid, and by which authorization. A log counts only if the token
 * contract wrote it; the same log from another contract proves nothing.
 */
import { encodeEventTopics, getAddress } from 'viem/utils'
import * as z from 'zod'
import type { Address, Token } from '../../chain.ts'
import { type Hex, hexSchema, positionSchema, sameHex, wordSchema } from '../../hex.ts'
import { listOf } from '../../registry.ts'
import { tokenAbi } from '../abi.ts'
import { type RpcAnswer, readRpcAnswer } from './endpoints.ts'

/** First topic of a transfer. */
export const transferTopic: Hex = topicOf('Transfer')
/** First topic of the use of an authorization. */
export const useTopic: Hex = topicOf('AuthorizationUsed')
/** First topic of the cancellation of an authorization. */
export const cancelTopic: Hex = topicOf('AuthorizationCanceled')

function topicOf(eventName: 'Transfer' | 'AuthorizationUsed' | 'AuthorizationCanceled'): Hex {
  return encodeEventTopics({ abi: tokenAbi, eventName })[0]
}

/** The transfer to search for. `authorizationNonce` is its EIP-3009 nonce. */
export type ExpectedTransfer = {
  from: Address
  to: Address
  value: bigint
  authorizationNonce?: Hex
}

/**
 * Returns the log index of the Transfer that is this payment, or undefined. With an authorization nonce, it
 * is the token's next log after AuthorizationUsed(from, nonce), where EIP-3009 tokens write it. Two equal
 * payments in one batch are therefore never confused.
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

/** Returns the filter for transfers out of a wallet and uses of its authorizations. */
export function outgoing({ address }: Token, from: Address): LogFilter {
  return { address, topics: [[transferTopic, useTopic], wordOf(from)] }
}

/** Returns payer, payee and value of a Transfer log, or undefined for any other log. */
export function readTransfer({
  topics,
  data,
}: Log): { from: Address; to: Address; value: bigint } | undefined {
  const [signature, ...parties] = topics
  if (signature !== transferTopic || parties.length !== 2 || data.length !== wordLength) {
    return undefined
  }
  const [from, to] = parties.map(topicAddress)
  return from && to && { from, to, value: BigInt(data) }
}

/** Returns how this log ended the authorization, or undefined if it did not. */
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

/** Returns an address in the form of a topic. */
export function wordOf(address: Address): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

/** Returns the address in a topic; undefined if the upper twelve bytes are not zero. */
function topicAddress(topic: Hex): Address | undefined {
  return topic.startsWith(`0x${'0'.repeat(24)}`) ? getAddress(`0x${topic.slice(26)}`) : undefined
}

/** Filter by the logging contract and topics. */
type LogFilter = { address: Hex; topics: readonly unknown[] }

/** Schema of one event log as a node answers it. */
export const logSchema = z.object({
  address: hexSchema,
  topics: listOf(wordSchema, 4),
  data: hexSchema,
  logIndex: positionSchema,
  transactionHash: wordSchema,
  blockNumber: positionSchema,
})

/** A log that passed `logSchema`. */
type Log = z.output<typeof logSchema>

const placedLog = logSchema.extend({ blockHash: wordSchema })
/** A log together with its block. */
export type PlacedLog = z.output<typeof placedLog>

/** Longest list of logs; 16 MB hold fewer. */
const logsMax = 40_000
/** Schema of an answer to eth_getLogs. */
export const placedLogs = listOf(placedLog, logsMax)

/** Returns true if an answer to eth_getLogs has any log. A node that lags may not have it yet. */
export function hasLogs([answer]: readonly RpcAnswer[]): boolean {
  const read = readRpcAnswer(answer, placedLogs)
  return 'value' in read && read.value.length > 0
}
