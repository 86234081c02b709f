/**
 * A play: the whole product on a real chain, one account whose key was stolen, and everyone else who may
 * act on it. Its state is what these parties know themselves; it is not read from rows.
 */

import { getAddress } from 'ethers'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { limitGas } from '../gas.ts'
import { ownerOf } from '../owner.ts'
import { allow } from '../permit2.ts'
import { type Agent, start, type TestWorld, type Worker } from '../world.ts'
import type { Manner } from './actions.ts'
import { headOf, mine, type Outflows, sender, watchOutflows } from './blocks.ts'
import { type Book, openBook } from './book.ts'
import { type Clock, openClock } from './clock.ts'
import { placeContracts } from './contracts.ts'
import { type GasPayers, watchGasPayers } from './gas.ts'
import type { Held } from './merchant.ts'
import { liarUrl, type Network, openNetwork } from './network.ts'

export type Play = {
  world: TestWorld
  product: Worker
  clock: Clock
  network: Network
  /** Agent with the stolen key; `reader` is another key of the account, held by its owner. */
  thief: Agent
  reader: Agent
  payees: readonly string[]
  /** Payments that the thief requested and learned the id of. */
  asked: Asked[]
  held: Held[]
  manner: Manner
  isMining: boolean
  /** Block before which nothing is ever replaced. */
  since: number
  outflows: Outflows
  gasPayers: GasPayers
  book: Book
  /** Atomic USDC that the wallet was given. */
  funds: bigint
}

/** A payment as the thief knows it. */
export type Asked = {
  kind: 'transfer' | 'x402'
  id: string
  micros: number
  /** Body that is sent again to continue a transfer. */
  body: Record<string, unknown>
  status: string
}

export type Setting = {
  gasPayers: number
  /** One honest endpoint, or that one and a liar, of which either is asked first. */
  endpoints: 'one' | 'liar first' | 'liar last'
  /** Balance of each relayer, in millionths of the native coin. */
  gasPayersMillionths: number
  /** States if the owner knows the payees: no payment of the thief makes them known. */
  payees: 'known' | 'new'
  /** Gas that relayers spend for the account: a small budget that plays use up, or no limit. */
  gas: 'budgeted' | 'free'
}

/** A setting with one relayer that can pay, an honest endpoint, and payees that the owner knows. */
export const plainSetting: Setting = {
  gasPayers: 1,
  endpoints: 'one',
  gasPayersMillionths: 1_000_000,
  payees: 'known',
  gas: 'free',
}

export const fundsUsd = 50_000
/** Number of states, above the blocks of any play; replaced blocks count as well. */
const statesMax = 10_000
const payees = ['01', '02', '03'].map((end) => `0x${'ba5eba11'.repeat(5).slice(0, 38)}${end}`)

/** Opens a new world with its thief. */
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

/** Terms that plays use up. */
const budget = { callsPerDay: 15n }

/** State that simultaneous plays share. */
export type Stage = Pick<Play, 'world' | 'product' | 'clock' | 'network' | 'gasPayers' | 'since'>

export async function openStage(setting: Omit<Setting, 'payees' | 'gas'>): Promise<Stage> {
  const world = await start({
    chain: true,
    statesMax,
    gasPayers: setting.gasPayers,
    endpoints: async (url) =>
      ({ one: [url], 'liar first': [liarUrl, url], 'liar last': [url, liarUrl] })[
        setting.endpoints
      ],
  })
  const { chain } = world
  await placeContracts(chain)
  const clock = await openClock(world)
  const network = openNetwork(chain.rpcUrl, clock.seconds)
  const product = world.worker({ fetch: network.fetch, now: clock.now, pause: soon })
  await callRpc(chain.rpcUrl, [['anvil_setBalance', sender, '0xd3c21bcecceda1000000']])
  const gasPayers = await watchGasPayers(world, setting.gasPayersMillionths)
  return { world, product, clock, network, gasPayers, since: await headOf(chain) }
}

const rate = { perSecond: 10_000, burst: 100_000 }

/** Opens an account with money and a stolen key. From here on, only the play mines blocks. */
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

/** Returns the item at `which` modulo the length; undefined for an empty list. */
export function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items[which % Math.max(items.length, 1)]
}

/** Opens a session of the account's owner. */
export function ownerIn({ world, product, thief }: Pick<Play, 'world' | 'product' | 'thief'>) {
  return ownerOf({ world: product.world, db: world.db }, thief)
}
