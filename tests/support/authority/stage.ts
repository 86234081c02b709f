/** The stage of a history: a new account at the real SQL functions, and a stranger's account next to it. */
import { plentyOfGas, readingBegun } from '../model/house.ts'
import type { Answer, Ledger, Row } from '../model/ledger.ts'
import { newDigest, openLedger } from '../model/ledger.ts'
import { randomUUID } from '../seed.ts'
import type { Act, Book, Deed, LimitName, Scope } from './acts.ts'
import { day } from './acts.ts'
import { installAsking } from './asking.ts'

export type Stage = { ledger: Ledger; now: number; played: number }

/** An agent's credential; an app's changes with each of its access tokens. */
export type Agent = { id: string; credential: string; scope: Scope; refresh: string | null }
export type Session = { id: string; credential: string }

/** Everything that anyone in a history holds, in the order in which it came. */
export type Cast = {
  agents: Agent[]
  sessions: Session[]
  passwords: string[]
  codes: string[]
  passkeys: { id: string; counter: number }[]
  payments: string[]
  mandates: string[]
}

export type Story = {
  stage: Stage
  account: string
  email: string
  wallet: string
  cast: Cast
  stranger: { agent: Agent; session: Session }
  acts: Act[]
  /** Number of times that each kind of step succeeded. */
  done: Map<string, number>
  trace: { name: string; args: Row; answer: Answer }[]
}

export const chain = 84532
export const token = `0x${'1'.repeat(40)}`
export const devices = ['laptop', 'phone'] as const
/** Addresses of payees; the second one imitates the first. */
export const payees = [
  `0xAbCd${'3'.repeat(32)}1234`,
  `0xaBcD${'4'.repeat(32)}1234`,
  `0x${'5'.repeat(40)}`,
  `0x${'6'.repeat(40)}`,
] as const
export const shopHost = 'shop.example'
export const opening: Record<LimitName, number> = {
  automatic: 200_000_000,
  asserted: 200_000_000,
  newRecipient: 10_000_000,
  cap: 1_000_000_000,
}

const startSeconds = 1_800_000_000
const storiesBetweenClears = 100
const traceMax = 8

export async function openStage(): Promise<Stage> {
  const ledger = await openLedger()
  await installAsking(ledger)
  const stage = { ledger, now: startSeconds, played: 0 }
  await clear(stage)
  return stage
}

async function clear({ ledger }: Stage): Promise<void> {
  await ledger.clear()
  await ledger.query(plentyOfGas)
  await ledger.query(readingBegun)
}

/**
 * Opens a new account whose owner has a password and recovery codes, and a stranger's account with a key
 * and a fresh session.
 */
export async function openStory(stage: Stage): Promise<Story> {
  if (stage.played > 0 && stage.played % storiesBetweenClears === 0) await clear(stage)
  stage.played += 1
  await passTime(stage, day)
  const password = newDigest()
  const { account, wallet, email } = await openOwned(stage, password)
  const stranger = await openStranger(stage)
  const codes = [newDigest(), newDigest()]
  await stage.ledger.query(
    `insert into private.recovery_codes (account, digest) select $1, unnest($2::text[])`,
    [account, codes],
  )
  const cast: Cast = {
    agents: [],
    sessions: [],
    passwords: [password],
    codes: [...codes],
    passkeys: [],
    payments: [],
    mandates: [],
  }
  const acts: Act[] = [{ do: 'open', at: stage.now, password, codes, limits: opening }]
  return { stage, account, email, wallet, cast, stranger, acts, done: new Map(), trace: [] }
}

async function openOwned({ ledger }: Stage, password: string) {
  const [account, wallet] = [randomUUID(), `0x${newDigest().slice(0, 40)}`]
  const email = `${account}@people.example`
  const alias = `a${account.slice(0, 8)}`
  await ledger.query(`select private.open_account($1, $2, $3, '{}')`, [account, alias, wallet])
  await ledger.query(
    `insert into private.owners (account, email, password_hash) values ($1, $2, $3)`,
    [account, email, password],
  )
  await ledger.query(
    `with sealed as (insert into private.account_keys (account, purpose, wrap)
       select $1, p, '{"kekVersion":1}' from unnest(array['vault', 'mail']) p)
     insert into private.vault_entries (id, account, site, username, version, sealed, has_password,
       has_totp, field_names, takes_codes)
     values (gen_random_uuid(), $1, 'https://shop.example', 'me', 1, '{}', true, true, '{}', true)`,
    [account],
  )
  await ledger.query(
    `insert into private.mails (id, account, direction, from_address, digest, size, room,
       sealed_head, sealed_body)
     values (gen_random_uuid(), $1, 'in', 'no-reply@shop.example', $2, 1, 1, '{}', '{}')`,
    [account, newDigest()],
  )
  return { account, wallet, email }
}

async function openStranger(stage: Stage): Promise<Story['stranger']> {
  const { ledger } = stage
  const password = newDigest()
  const { account, email } = await openOwned(stage, password)
  const [key, session] = [newDigest(), newDigest()]
  await ledger.query(
    `insert into private.credentials (account, digest, label, shown, scopes)
     values ($1, $2, 'theirs', '', array['full'])`,
    [account, key],
  )
  const opened = await ledger.call('login_with_password', {
    email,
    password_hash: password,
    session_digest: session,
    user_agent: '',
    client: 'theirs',
  })
  if (!Array.isArray(opened) || opened.length === 0) throw new Error('no stranger came in')
  const agent: Agent = { id: '', credential: key, scope: 'full', refresh: null }
  return { agent, session: { id: '', credential: session } }
}

/** Moves the SQL clock. */
export async function passTime(stage: Stage, seconds: number): Promise<void> {
  stage.now += seconds
  await stage.ledger.setClock(stage.now)
}

export function bookOf({ stage, acts }: Story): Book {
  return { now: stage.now, acts }
}

/** Enters an act in the book, at the current second. */
export function enter(story: Story, deed: Deed): void {
  story.acts.push({ at: story.stage.now, ...deed })
}

/** Calls the product and adds the call to the trace for failure messages. */
export async function ask(story: Story, name: string, args: Row): Promise<Answer> {
  const answer = await story.stage.ledger.call(name, args)
  story.trace.push({ name, args, answer })
  if (story.trace.length > traceMax) story.trace.shift()
  return answer
}
