/**
 * A play: the whole product on a real chain, one account whose key was stolen, and everybody else who
 * may act on it. Its state is what they know themselves; nothing of it is read from rows.
 */

import { getAddress } from 'ethers'
import { callRpc } from '../../../scripts/local/rpc.ts'
import { limitGas } from '../gas.ts'
import { ownerOf } from '../owner.ts'
import { allow } from '../permit2.ts'
import type { Agent, TestWorld, Worker } from '../world.ts'
import { start } from '../world.ts'
import type { Manner } from './actions.ts'
import type { Outflows } from './blocks.ts'
import { headOf, mine, sender, watchOutflows } from './blocks.ts'
import type { Book } from './book.ts'
import { openBook } from './book.ts'
import type { Clock } from './clock.ts'
import { openClock } from './clock.ts'
import { placeContracts } from './contracts.ts'
import type { Lanes } from './gas.ts'
import { watchLanes } from './gas.ts'
import type { Held } from './merchant.ts'
import type { Network } from './network.ts'
import { liarUrl, openNetwork } from './network.ts'

export type Play = {
  world: TestWorld
  product: Worker
  clock: Clock
  network: Network
  /** Who has the key; `reader` is another key of the account, of its owner. */
  thief: Agent
  reader: Agent
  payees: readonly string[]
  /** Payments that the thief asked for and was told an id of. */
  asked: Asked[]
  held: Held[]
  manner: Manner
  isMining: boolean
  /** No block before it is ever replaced. */
  since: number
  outflows: Outflows
  lanes: Lanes
  book: Book
  /** What the wallet was given. */
  funds: bigint
}

/** A payment as the thief knows it. */
export type Asked = {
  kind: 'transfer' | 'x402'
  id: string
  micros: number
  /** What is sent again to go on with a transfer. */
  body: Record<string, unknown>
  status: string
}

export type Setting = {
  lanes: number
  /** One endpoint that is honest, or a liar and it, whichever is asked first. */
  endpoints: 'one' | 'liar first' | 'liar last'
  /** What the relayers hold, in millionths of the native coin. */
  lanesMillionths: number
  /** Whether the owner knows the payees: no payment of the thief's makes them known. */
  payees: 'known' | 'new'
  /** What relayers spend for the account: so little that a play comes to its end, or whatever it asks for. */
  gas: 'budgeted' | 'free'
}

/** One relayer that can pay, an honest endpoint, and payees that the owner knows. */
export const plainSetting: Setting = {
  lanes: 1,
  endpoints: 'one',
  lanesMillionths: 1_000_000,
  payees: 'known',
  gas: 'free',
}

export const fundsUsd = 50_000
/** More than the blocks of any play, and those that it replaces count as well. */
const statesMax = 10_000
const payees = ['01', '02', '03'].map((end) => `0x${'ba5eba11'.repeat(5).slice(0, 38)}${end}`)

/** A fresh world with its thief. */
export async function openPlay(setting: Setting): Promise<Play> {
  const stage = await openStage(setting)
  const all = payees.map((at) => getAddress(at))
  const play = await openAccount(stage, all)
  if (setting.payees === 'known') {
    for (const payee of all) await play.world.acquaint(play.thief, payee)
  }
  if (setting.gas === 'budgeted') await limitGas(play.world, budget)
  return play
}

/** At what gas costs on a calm day some fifteen transfers. */
const budget = { weiPerDay: 10n ** 14n, callsPerDay: 30n, cancelsPerDay: 60n }

/** What plays share that are played at once. */
export type Stage = Pick<Play, 'world' | 'product' | 'clock' | 'network' | 'lanes' | 'since'>

export async function openStage(setting: Omit<Setting, 'payees' | 'gas'>): Promise<Stage> {
  const world = await start({
    chain: true,
    statesMax,
    lanes: setting.lanes,
    endpoints: async (url) =>
      ({ one: [url], 'liar first': [liarUrl, url], 'liar last': [url, liarUrl] })[
        setting.endpoints
      ],
    deadlineMinMilliseconds: 20_000,
  })
  const { chain } = world
  await placeContracts(chain)
  const clock = await openClock(world)
  const network = openNetwork(chain.rpcUrl, clock.seconds)
  const product = world.worker({ fetch: network.fetch, now: clock.now, pause: soon })
  await callRpc(chain.rpcUrl, [['anvil_setBalance', sender, '0xd3c21bcecceda1000000']])
  const lanes = await watchLanes(world, setting.lanesMillionths)
  return { world, product, clock, network, lanes, since: await headOf(chain) }
}

const rate = { perSecond: 10_000, burst: 100_000 }

/** An account with money, whose key is stolen; from here on blocks are mined when a play says so. */
export async function openAccount(stage: Stage, ofThief: readonly string[]): Promise<Play> {
  const { world, clock, network } = stage
  const { chain } = world
  await callRpc(chain.rpcUrl, [['evm_setAutomine', true]])
  const thief = await world.agent('pay', { usdc: fundsUsd, rate })
  await allow(chain, thief.address, 2n ** 200n)
  await callRpc(chain.rpcUrl, [['evm_setAutomine', false]])
  await mine(chain, 40)
  network.past = await headOf(chain)
  return {
    ...stage,
    since: network.past,
    thief,
    reader: await thief.withKey('full', rate),
    payees: ofThief,
    asked: [],
    held: [],
    manner: 'settle',
    isMining: true,
    outflows: await watchOutflows(chain, thief.address),
    book: openBook(clock.seconds()),
    funds: BigInt(fundsUsd) * 1_000_000n,
  }
}

async function soon(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** The `which`th of these, counted around; undefined where there is none. */
export function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items[which % Math.max(items.length, 1)]
}

/** The owner of the account that is played with, in a session of its own. */
export function ownerIn({ world, product, thief }: Pick<Play, 'world' | 'product' | 'thief'>) {
  return ownerOf({ world: product.world, db: world.db }, thief)
}
