/**
 * Sends signed bytes to two endpoints at once and reports their answers. An outcome is never a failure of
 * the payment: anyone may still get the bytes mined later. The result is therefore read from the chain, and
 * only the same bytes may ever be sent again.
 */
import type { Chain } from '../../chain.ts'
import { type Hex, wordSchema } from '../../hex.ts'
import type { RpcFailure } from './endpoints.ts'
import { type ChainWorld, type Rpc, rpcsFor } from './rpc.ts'

/**
 * `known`: the node already has exactly these bytes, or mined them. `nonce_used`: a transaction with this
 * nonce is mined, perhaps this one; look for its receipt. `underpriced`: the nonce slot needs higher fees.
 * `unfunded`: the sender cannot pay for gas. `unreachable`: unknown, as after a timeout. `refused`: this
 * node does not take it, for the reason in the message.
 */
export type BroadcastOutcome =
  | 'accepted'
  | 'known'
  | 'nonce_used'
  | 'underpriced'
  | 'unfunded'
  | 'unreachable'
  | 'refused'

/** Result of a broadcast. The message is the node's own: for the log, never for a caller. */
export type Broadcast = { outcome: BroadcastOutcome; message?: string }

const timeoutMilliseconds = 5_000

/** Number of endpoints: two, so that bytes which one endpoint swallows still reach the chain. */
const endpointsMax = 2

/**
 * Sends once to each endpoint, and returns as soon as one has taken the bytes. It never retries: the caller
 * stores the outcome before it decides to retry.
 */
export async function broadcast(
  world: ChainWorld,
  chain: Chain,
  rawTransaction: Hex,
): Promise<Broadcast> {
  const endpoints = rpcsFor(world, chain).slice(0, endpointsMax)
  const sent = endpoints.map((rpc) => sendRawTransaction(rpc, rawTransaction))
  const all = Promise.all(sent).then(combineBroadcasts)
  const taken = sent.map(async (one) => (isTaken(await one) ? one : all))
  return Promise.race([all, ...taken])
}

/** Combines the outcomes. A refusal counts only if no endpoint took the bytes or may have taken them. */
export function combineBroadcasts(sent: readonly Broadcast[]): Broadcast {
  const strongest = strength.find((outcome) => sent.some((one) => one.outcome === outcome))
  const found = sent.find(({ outcome }) => outcome === strongest)
  return found ?? { outcome: 'unreachable', message: 'not connected' }
}

const strength: readonly BroadcastOutcome[] = [
  'accepted',
  'known',
  'unreachable',
  'nonce_used',
  'underpriced',
  'unfunded',
  'refused',
]

function isTaken({ outcome }: Broadcast): boolean {
  return outcome === 'accepted' || outcome === 'known'
}

async function sendRawTransaction(rpc: Rpc, rawTransaction: Hex): Promise<Broadcast> {
  const limits = { timeoutMilliseconds }
  const answer = await rpc.request('eth_sendRawTransaction', [rawTransaction], limits)
  if ('failure' in answer) return classifyFailure(answer.failure)
  const accepted = wordSchema.safeParse(answer.result).success
  return accepted ? { outcome: 'accepted' } : { outcome: 'unreachable', message: 'no hash' }
}

/** Classifies a failure by known phrases. Without one it is `refused`, or unknown on an internal error. */
export function classifyFailure(failure: RpcFailure): Broadcast {
  if (failure.kind === 'unreachable') return { outcome: 'unreachable', message: failure.reason }
  const message = failure.message.toLowerCase()
  const match = phrases.find(([, texts]) => texts.some((text) => message.includes(text)))
  if (match) return { outcome: match[0], message: failure.message }
  const isUndecided = failure.code === internalError
  return { outcome: isUndecided ? 'unreachable' : 'refused', message: failure.message }
}

// EIP-1474, internal error: the node may or may not have passed the bytes on.
const internalError = -32603

/**
 * Phrases of clients in lower case: geth and its relatives core/txpool/errors.go, Erigon txpoolcfg.go,
 * Nethermind AcceptTxResult.cs, Besu TransactionInvalidReason, anvil. Order matters: a message about a
 * timeout may quote another phrase.
 */
const phrases: readonly [BroadcastOutcome, readonly string[]][] = [
  ['unreachable', ['timed out', 'timeout', 'try again']],
  [
    'known',
    [
      'already known',
      'alreadyknown',
      'already imported',
      'known transaction',
      'already in mempool',
    ],
  ],
  ['nonce_used', ['nonce too low', 'nonce is too low', 'oldnonce', 'nonce below']],
  [
    'unfunded',
    ['insufficient funds', 'insufficientfunds', 'insufficient balance', 'exceeds account balance'],
  ],
  [
    'underpriced',
    [
      'underpriced',
      'less than block base fee',
      'could not replace existing',
      'replacementnotallowed',
      'feetoolow',
      'fee too low',
      'gas price below',
      'minimum needed',
      'below configured minimum',
    ],
  ],
]
