/** Events that no one requests: time, blocks, reorganizations, incoming money. */
import { countOf, mine, newHash, reorganize, send } from './chain.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { tokens } from './house.ts'

export async function tick(house: House, seconds: number): Promise<void> {
  house.twin.now += seconds
  await house.ledger.setClock(house.twin.now)
}

/** Lets time pass: mostly seconds, at times minutes, rarely most of a day. */
async function passTime(house: House, dice: Dice): Promise<void> {
  const seconds = dice.isLucky(90) ? 1 + dice.below(6) : 20 + dice.below(200)
  await tick(house, dice.isLucky(2) ? 20_000 + dice.below(80_000) : seconds)
}

async function mineOne({ chain, twin }: House, dice: Dice): Promise<void> {
  mine(chain, twin.now, dice)
}

async function mineMany(house: House, dice: Dice): Promise<void> {
  for (let count = 0; count < 9; count += 1) await mineOne(house, dice)
}

async function replaceBlocks({ chain, twin }: House, dice: Dice): Promise<void> {
  reorganize(chain, 1 + dice.below(6), twin.now, dice)
}

async function forget({ chain }: House, dice: Dice): Promise<void> {
  const dropped = dice.anyOf(chain.pool)
  chain.pool = chain.pool.filter((transaction) => transaction !== dropped)
}

async function deposit({ chain, twin }: House, dice: Dice): Promise<void> {
  const { wallet = '' } = dice.anyOf(twin.accounts) ?? {}
  const atomic = BigInt(50 + dice.below(500)) * 1_000_000n
  chain.deposits.push({ wallet, token: dice.oneOf(tokens), atomic })
}

async function pauseToken({ chain }: House, dice: Dice): Promise<void> {
  chain.isPaused = dice.isLucky(35)
}

async function jam({ chain, twin }: House, dice: Dice): Promise<void> {
  const lane = dice.anyOf(twin.lanes.filter(({ kind }) => kind === 'relayer'))
  if (lane && dice.isLucky(40)) chain.jammed.add(lane.address)
  else chain.jammed.clear()
}

/** Settles a payment as a merchant does, or as anyone else who brings its signature to the chain. */
async function settleElsewhere({ chain, published }: House, dice: Dice): Promise<void> {
  const payment = dice.anyOf([...published].slice(-6))
  if (!payment) return
  const hash = newHash(chain)
  send(chain, { hash, sender: null, nonce: 0, payments: [payment], cancels: [] })
}

/** Uses the next nonce of a lane with its key from outside the service. */
async function useLane({ chain, twin }: House, dice: Dice): Promise<void> {
  const lane = dice.anyOf(twin.lanes)
  if (!lane) return
  const nonce = countOf(chain, lane.address)
  const hash = newHash(chain)
  send(chain, { hash, sender: lane.address, nonce, payments: [], cancels: [] })
}

export const naturalOperations: readonly Operation[] = [
  { name: 'tick', weight: 8, run: passTime },
  { name: 'mine', weight: 9, run: mineOne },
  { name: 'mine many', weight: 1, run: mineMany },
  { name: 'reorganize', weight: 4, run: replaceBlocks },
  { name: 'forget', weight: 1, run: forget },
  { name: 'pause token', weight: 2, run: pauseToken },
  { name: 'jam', weight: 2, run: jam },
  { name: 'deposit', weight: 3, run: deposit },
  { name: 'settle elsewhere', weight: 5, run: settleElsewhere },
  { name: 'use lane', weight: 1, run: useLane },
]
