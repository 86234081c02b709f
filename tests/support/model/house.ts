/** The world of one run: the real ledger, its twin, a chain, and work in progress. */
import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from '../seed.ts'
import type { ModelChain, Transaction } from './chain.ts'
import { newChain } from './chain.ts'
import type { Dice } from './dice.ts'
import { plentyOfGas } from './gas.ts'
import type { Answer, Ledger, Row } from './ledger.ts'
import { newDigest } from './ledger.ts'
import { newLane } from './relay.ts'
import type { Account, GasTerms, Key, Mandate, Payment, Slot, Twin } from './state.ts'

/** Work of a process that another one interrupted; it may never finish. */
export type Work = { name: string; finish(): Promise<void> }

export type House = {
  twin: Twin
  chain: ModelChain
  ledger: Ledger
  works: Work[]
  /** Every stored transaction by hash, which housekeeping can send again. */
  stored: Map<string, Transaction>
  /** Payments whose signature left the house, so that anyone may bring it to the chain. */
  published: Set<Payment>
  /** The latest calls of the ledger, for failure messages. */
  trace: { name: string; args: Row; answer: Answer }[]
}

export type Operation = {
  name: string
  weight: number
  run(house: House, dice: Dice): Promise<void>
}

const startSeconds = 1_800_000_000
const traceMax = 12
const chainId = 84532
export const tokens = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const
/** Addresses of strangers; the second imitates the first. */
export const strangers = [
  `0xAbCd${'3'.repeat(32)}1234`,
  `0xaBcD${'4'.repeat(32)}1234`,
  `0x${'5'.repeat(40)}`,
] as const
export const hosts = [
  'shop.example',
  'api.shop.example',
  'other.example',
  'localhost:4021',
] as const
export const devices = ['laptop', 'phone'] as const
const laneCount = 3
const fundsAtomic = 800_000_000n
const defaults = {
  automatic: 200_000_000n,
  asserted: 200_000_000n,
  newRecipient: 10_000_000n,
  cap: 1_000_000_000n,
}

/** Empties the ledger and opens the lanes and three accounts, each with money and three keys. */
export async function openHouse(ledger: Ledger, gasTerms = plentyOfGas): Promise<House> {
  const accounts = ['ada', 'bob', 'eve'].map(newAccount)
  const keys = accounts.flatMap((account) =>
    (['pay', 'full', 'read'] as const).map((scope) => newKey(account, scope)),
  )
  const lanes = Array.from({ length: laneCount }, (_, at) =>
    newLane('relayer', `0x${String(at + 1).padStart(40, '6')}`, 0),
  )
  const twin = { chain: chainId, now: startSeconds, accounts, keys, lanes, uses: 0 }
  await ledger.clear()
  await ledger.setClock(startSeconds)
  await bringIn(ledger, accounts, keys, lanes)
  await setGasTerms(ledger, gasTerms)
  await introduce(ledger, accounts, keys)
  const chain = newChain(startSeconds)
  for (const { wallet } of accounts) {
    for (const token of tokens) chain.deposits.push({ wallet, token, atomic: fundsAtomic })
  }
  return {
    twin: {
      ...twin,
      payments: [],
      mandates: [],
      consented: new Set(),
      slots: [],
      calls: [],
      gas: [],
      gasTerms,
      kept: new Map(),
    },
    chain,
    ledger,
    works: [],
    stored: new Map(),
    published: new Set(),
    trace: [],
  }
}

function newAccount(alias: string, at: number): Account {
  const wallet = `0x${String(at + 1).padStart(40, '7')}`
  const known = {
    recipients: new Map<string, string | null>(),
    devices: new Map<string, string | null>(),
  }
  const limits = { ...defaults }
  return {
    id: randomUUID(),
    alias,
    wallet,
    limits,
    version: 1,
    isFrozen: false,
    openAtFreeze: [],
    freezes: 0,
    frozenAt: 0,
    session: newDigest(),
    passkeys: [],
    ...known,
    feed: [],
  }
}

function newKey(account: Account, scope: Key['scope']): Key {
  const id = randomUUID()
  const caps = { payment: null, day: null }
  return { id, credential: newDigest(), scope, account, revokedAt: null, expiresAt: null, caps }
}

async function bringIn(ledger: Ledger, accounts: Account[], keys: Key[], lanes: Twin['lanes']) {
  const named = accounts.map(({ id, alias, wallet }) => ({ id, alias, wallet }))
  await ledger.query(
    `select private.open_account(e.id, e.alias, e.wallet, '{}')
       from jsonb_to_recordset($1) e (id uuid, alias text, wallet text)`,
    [named],
  )
  const held = keys.map(({ id, credential, scope, account }) => {
    return { id, account: account.id, credential, scope }
  })
  // The rate limit counts in real time, so it is set above what a run reaches.
  await ledger.query(
    `insert into private.credentials
       (id, account, digest, label, shown, scopes, burst, per_second)
     select e.id, e.account, e.credential, 'model', '', array[e.scope], 1000000, 1000000
       from jsonb_to_recordset($1) e (id uuid, account uuid, credential text, scope text)`,
    [held],
  )
  await openSessions(ledger, accounts)
  await ledger.query(
    `select private.open_lane(${chainId}, e.address, '{}', 0)
       from jsonb_to_recordset($1) e (address text)`,
    [lanes.map(({ address }) => ({ address }))],
  )
}

/** Sets the same gas terms for all chains and for young accounts. */
async function setGasTerms(ledger: Ledger, { wei, calls, leastUsd, cancels }: GasTerms) {
  await ledger.query(`insert into private.gas_terms values
    (0, ${wei}, ${calls}, 0, ${wei}, ${calls}, ${leastUsd}, ${cancels})`)
}

/** Opens a session of each owner, always with a recent proof. */
async function openSessions(ledger: Ledger, accounts: Account[]): Promise<void> {
  await ledger.query(
    `with opened as (
       insert into private.credentials (account, kind, digest, label, shown, scopes)
       select e.id, 'session', e.session, 'model', '', array['owner']
         from jsonb_to_recordset($1) e (id uuid, session text) returning id
     )
     insert into private.sessions
       (credential, signed_in_with, ends_at, proven_at, user_agent, client)
     select id, 'password', 'infinity', 'infinity', '', '' from opened`,
    [accounts.map(({ id, session }) => ({ id, session }))],
  )
}

/** Makes all accounts known to each other, from one device. */
async function introduce(ledger: Ledger, accounts: Account[], keys: Key[]): Promise<void> {
  for (const account of accounts) {
    account.recipients = new Map(accounts.map(({ wallet }) => [wallet, null]))
  }
  for (const { account, id } of keys) account.devices.set(`${id}/${devices[0]}`, null)
  await ledger.query(`insert into private.known_recipients (account, chain_family, address, session)
    select s.account, 'evm', w.address, s.id from private.credentials s, private.wallets w
     where s.kind = 'session'`)
  await ledger.query(`insert into private.known_devices (account, key, fingerprint, session)
    select k.account, k.id, '${devices[0]}', s.id
      from private.credentials k join private.credentials s on s.account = k.account
     where k.kind = 'api_key' and s.kind = 'session'`)
}

/** Calls the ledger and adds the call to the trace. */
export async function ask(house: House, name: string, args: Row): Promise<Answer> {
  const answer = await house.ledger.call(name, args)
  house.trace.push({ name, args, answer })
  if (house.trace.length > traceMax) house.trace.shift()
  return answer
}

/** Returns the only row of an answer; undefined if there is none or the call was refused. */
export function rowOf(answer: Answer): Row | undefined {
  return Array.isArray(answer) ? answer[0] : undefined
}

/** Throws if the ledger and its twin differ. */
export function agree(what: string, told: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(told, wanted)) return
  throw new Error(`${what}: the ledger says\n${show(told)}\nand its twin\n${show(wanted)}`)
}

const show = (value: unknown) => JSON.stringify(value, undefined, 1)

/** Picks a payment, most often a recent one, as agents do. */
export function pickPayment({ twin }: House, dice: Dice): Payment | undefined {
  return dice.anyOf(dice.isLucky(80) ? twin.payments.slice(-8) : twin.payments)
}

/** Picks a mandate, most often a recent one. */
export function pickMandate({ twin }: House, dice: Dice): Mandate | undefined {
  return dice.anyOf(dice.isLucky(80) ? twin.mandates.slice(-6) : twin.mandates)
}

/** Picks a slot whose id the ledger has returned. */
export function pickSlot({ twin }: House, dice: Dice): (Slot & { id: number }) | undefined {
  const told = twin.slots.filter(isTold)
  const watched = told.filter(({ state }) => state === 'open' || state === 'mined')
  return dice.anyOf(dice.isLucky(85) ? watched : told)
}

export const isTold = (slot: Slot): slot is Slot & { id: number } => slot.id !== null

/** Picks a key that usually may pay. */
export function pickKey({ twin }: House, dice: Dice, account?: Account): Key {
  const own = twin.keys.filter((key) => key.account === account)
  const able = own.length > 0 && dice.isLucky(92) ? own : twin.keys
  const found = dice.anyOf(dice.isLucky(90) ? able.filter(({ scope }) => scope !== 'read') : able)
  if (!found) throw new Error('the house has no keys')
  return found
}
