/**
 * Finds the block that spent a nonce, by historical state. A nonce never becomes unspent again, so the
 * first block that shows it spent is found by a search as in a sorted list, a batch of blocks at a time.
 */
import type { Chain } from '../../chain.ts'
import { hexOf } from '../../hex.ts'
import type { InnerCall } from '../rpc/multicall.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from '../rpc/multicall.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** Call that reads the word of a nonce, and the test whether it is spent. */
export type NonceState = { call: InnerCall; isSpent: (word: bigint) => boolean }

/** Highest number of rounds, of 15 blocks each after the first: enough for any chain and age. */
const roundsMax = 8
const probesPerRound = 15n

/**
 * Finds the block. `latest` is a block that shows the nonce spent; `expected` is checked first. Returns
 * undefined if the node no longer has the state of the blocks in question, or does not answer.
 */
export async function findSpendingBlock(
  rpc: Rpc,
  chain: Chain,
  nonce: NonceState,
  latest: bigint,
  expected?: bigint,
): Promise<bigint | undefined> {
  if (expected !== undefined && expected > 0n) {
    const [before, after] = await readStates(rpc, chain, nonce, [expected - 1n, expected])
    if (before === false && after === true) return expected
  }
  let spent = latest
  let unspent: bigint | undefined
  let probes = backwardsFrom(latest)
  for (let round = 0; round < roundsMax; round += 1) {
    const states = await readStates(rpc, chain, nonce, probes)
    for (const [index, block] of probes.entries()) {
      if (states[index] === true && block < spent) spent = block
    }
    for (const [index, block] of probes.entries()) {
      if (states[index] !== false || block >= spent) continue
      if (unspent === undefined || block > unspent) unspent = block
    }
    if (unspent === undefined || spent - unspent === 1n) break
    probes = between(unspent, spent)
  }
  return unspent !== undefined && spent - unspent === 1n ? spent : undefined
}

/** Reads whether the nonce is spent at each block; undefined if the node does not answer. */
export async function readStates(
  rpc: Rpc,
  chain: Chain,
  { call, isSpent }: NonceState,
  blocks: readonly bigint[],
): Promise<(boolean | undefined)[]> {
  const calls = blocks.map((block) => encodeSnapshot(chain, [call], hexOf(block)))
  const answers = await rpc.batch(calls)
  return answers.map((answer) => {
    const snapshot = decodeSnapshot(answer, 1)
    const word = snapshot.status === 'ok' ? readWord(snapshot.results[0]) : undefined
    return word === undefined ? undefined : isSpent(word)
  })
}

/** Returns blocks ever further back: most uses are recent, and many nodes keep only recent state. */
function backwardsFrom(latest: bigint): bigint[] {
  const steps = Array.from({ length: 20 }, (_, power) => latest - 2n ** BigInt(power))
  return steps.filter((block) => block >= 0n)
}

function between(unspent: bigint, spent: bigint): bigint[] {
  const width = spent - unspent
  const count = width - 1n < probesPerRound ? width - 1n : probesPerRound
  return Array.from(
    { length: Number(count) },
    (_, index) => unspent + (width * BigInt(index + 1)) / (count + 1n),
  )
}
