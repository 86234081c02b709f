/** The surroundings of an agent: a shop that charges whatever it is told to, payees, and one account. */
import { getAddress } from 'ethers'
import { type Market, openMarket } from '../market.ts'
import type { Dice } from '../model/dice.ts'
import { ownerOf, type TestOwner } from '../owner.ts'
import { randomBytes } from '../seed.ts'
import { openShop, type Shop } from '../shop.ts'
import type { Agent } from '../world.ts'
import { keepSignatures, type SignatureBook } from './signatures.ts'

export type Street = {
  market: Market
  shop: Shop
  signatures: SignatureBook
  /** Recipient that every account here knows. */
  friend: Agent
  /** Owner of other ids that are tried. */
  other: Agent
}

export type NotedMandate = {
  domain: string
  subdomains: boolean
  perPayment: bigint
  perDay: bigint | null
  inAll: bigint | null
  payments: number | null
  payTo: string[] | null
  /** Milliseconds: no approval was given before, and nothing may follow after the end was confirmed. */
  from: number
  until: number
}

/** The owner's own notes: whom it knows, and each approval with what was shown. */
export type OwnersBook = {
  known: string[]
  payments: Map<string, { payee: string; atomic: bigint }>
  mandates: Map<string, NotedMandate>
}

/** One account with its agent's keys, and everything its agent has learned. */
export type Account = {
  street: Street
  agents: readonly [Agent, Agent, Agent]
  owner: TestOwner
  payees: readonly [string, ...string[]]
  transfers: string[]
  attempts: string[]
  mandates: string[]
  /** The owner's own notes of its decisions. */
  book: OwnersBook
}

export type Act = {
  name: string
  weight: number
  run(account: Account, dice: Dice): Promise<unknown>
}

const fundsUsd = 3_000

/** Starts streets of one market, with a shop in each, for this file and ends them after the file. */
export async function openStreets(count: number): Promise<Street[]> {
  const market = await openMarket({ gasPayers: 2 })
  const signatures = keepSignatures(market.world)
  const [friend, other] = [await market.agent('read'), await market.agent('full')]
  return Promise.all(
    Array.from({ length: count }, async () => {
      return { market, shop: await openShop(market), signatures, friend, other }
    }),
  )
}

/** Creates an account that knows its friend, from the usual device of one of its keys. */
export async function openAccount(street: Street): Promise<Account> {
  const { market, friend, shop } = street
  const agent = await market.agent('full', { usdc: fundsUsd })
  await market.acquaint(agent, friend.address)
  const others = [await agent.withKey('pay'), await agent.withKey('read')] as const
  const lookalike = `${friend.address.slice(0, 6)}${hexOf(16)}${friend.address.slice(-4)}`
  return {
    street,
    agents: [agent, ...others],
    owner: await ownerOf(market, agent),
    payees: [
      friend.address,
      shop.payTo,
      getAddress(`0x${hexOf(20)}`),
      getAddress(`0x${hexOf(20)}`),
      getAddress(lookalike.toLowerCase()),
    ],
    transfers: [],
    attempts: [],
    mandates: [],
    book: { known: [friend.address], payments: new Map(), mandates: new Map() },
  }
}

const hexOf = (bytes: number) => randomBytes(bytes).toString('hex')
