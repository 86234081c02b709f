/** Actions of the chain, its endpoints and time. */
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import type { ActionOf } from './actions.ts'
import { headOf, mine, type Outflow } from './blocks.ts'
import type { Play } from './play.ts'

const blockSeconds = 12
const blocksMax = 20

/** Lets time pass, with blocks in it while any are mined. */
export async function wait(play: Play, { seconds }: ActionOf<'wait'>): Promise<void> {
  await play.clock.advance(seconds)
  const blocks = Math.min(1 + Math.floor(seconds / blockSeconds), blocksMax)
  if (play.isMining) await mine(play.world.chain, blocks)
}

export async function mineSome(play: Play, { blocks }: ActionOf<'mine'>): Promise<void> {
  if (play.isMining) await mine(play.world.chain, blocks)
}

export async function setMining(play: Play, { isOn }: ActionOf<'mining'>): Promise<void> {
  play.isMining = isOn
}

/** Replaces the last blocks with empty ones; their content is in no pool either. */
export async function reorganize(play: Play, { depth }: ActionOf<'reorg'>): Promise<void> {
  const { world, since, clock, book } = play
  const deep = Math.min(depth, (await headOf(world.chain)) - since)
  if (deep < 1) return
  const before = await play.outflows.read()
  await callRpc(world.chain.rpcUrl, [['anvil_reorg', deep, []]])
  await clock.remind()
  const left = new Set((await play.outflows.read()).map(placeOf))
  for (const gone of before.filter((one) => !left.has(placeOf(one)))) {
    book.undone.push({ at: clock.seconds(), leftAt: gone.at, micros: gone.value })
  }
}

function placeOf({ tx, block, to, value }: Outflow): string {
  return `${tx} ${block} ${to} ${value}`
}

export async function forget({ world }: Play): Promise<void> {
  await callRpc(world.chain.rpcUrl, [['anvil_dropAllTransactions']])
}

export async function setBaseFee({ clock }: Play, { mwei }: ActionOf<'base fee'>): Promise<void> {
  clock.baseFeeMwei = mwei
}

export async function lie({ network }: Play, { lie: told }: ActionOf<'lie'>): Promise<void> {
  network.lie = told
}

export async function outage({ network }: Play, { isOn }: ActionOf<'outage'>): Promise<void> {
  network.isOut = isOn
}
