/** Random plays end each hardship before long, and the chain loses no state through reorganizations. */
import { beforeAll, expect, test } from 'vitest'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { type Chain, startChain } from '../../../scripts/local/chain.ts'
import { atEnd } from '../../support/ending.ts'
import type { Action } from '../../support/play/actions.ts'
import { mine } from '../../support/play/blocks.ts'
import { generate } from '../../support/play/generate.ts'

/** Returns the longest run of actions without a mined block, an accepting endpoint or an honest one. */
function longest(actions: readonly Action[], isHard: (action: Action) => boolean | undefined) {
  let [run, most, hard] = [0, 0, false]
  for (const action of actions) {
    hard = isHard(action) ?? hard
    run = hard ? run + 1 : 0
    most = Math.max(most, run)
  }
  return most
}

const hardships: ((action: Action) => boolean | undefined)[] = [
  (action) => (action.do === 'mining' ? !action.isOn : undefined),
  (action) => (action.do === 'outage' ? action.isOn : undefined),
  (action) => (action.do === 'lie' ? action.lie !== 'none' : undefined),
]

test('of 200 scripts none keeps a hardship for more than 60 of its actions', () => {
  const scripts = Array.from({ length: 200 }, (_, at) => generate(3_000 + at, 1_000).actions)

  const most = scripts.map((actions) => hardships.map((one) => longest(actions, one)))

  expect(Math.max(...most.flat())).toBeLessThanOrEqual(60)
})

const oldBlocks = 900
const reorganizations = 125

let chain: Chain
beforeAll(async () => {
  chain = await startChain({ chainId: 84532, statesMax: 5_000 })
  atEnd(() => chain.stop())
})

test('a chain whose last blocks are replaced 125 times keeps its contracts', async () => {
  let now = Math.floor(Date.now() / 1_000) + 5
  await callRpc(chain.rpcUrl, [['evm_setAutomine', false]])
  await callRpc(chain.rpcUrl, [['anvil_setBlockTimestampInterval', 0]])
  for (let block = 0; block < oldBlocks; block += 1) {
    now += 1
    await callRpc(chain.rpcUrl, [['evm_setNextBlockTimestamp', now]])
    await mine(chain)
  }
  await mine(chain, 40)

  for (let at = 0; at < reorganizations; at += 1) {
    // Blocks with the same timestamps as before would be the same blocks.
    now += 5
    await callRpc(chain.rpcUrl, [['evm_setNextBlockTimestamp', now]])
    await callRpc(chain.rpcUrl, [['anvil_reorg', 1 + ((at * 7) % 8), []]])
  }

  const [code] = await callRpc(chain.rpcUrl, [['eth_getCode', chain.usdc, 'latest']])
  expect(String(code).length).toBeGreaterThan(1_000)
})
