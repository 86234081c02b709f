/**
 * The block in which a nonce was spent, by the state of blocks: a nonce never becomes unspent again, so
 * the first block that has it spent is searched for as in a sorted list, a batch of blocks at a time.
 */
import type { Chain } from '../chain.ts'
import { hexOf } from '../hex.ts'
import type { Inner } from './multicall.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { Rpc } from './rpc.ts'

/** The call that reads the word in which a nonce stands, and how it is read. */
export type NonceState = { call: Inner; isSpent: (word: bigint) => boolean }

/** Rounds of 15 blocks: enough for any chain, however long ago it was. */
const roundsMax = 8
const probesPerRound = 15n

/**
 * `latest` is a block that has it spent, `expected` one that is looked at first. Undefined where the node
 * has forgotten the states of the blocks in question, or does not answer.
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

/** Whether it is spent in the state of each block; undefined where the node does not say. */
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

/** Ever further back: most are looked for soon, and nodes know the states of the last blocks alone. */
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
