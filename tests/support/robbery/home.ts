/** An account with at least one item of each kind, as its owner has it before a thief comes. */
import { credentialOf } from '../../../shared/auth/api-key.ts'
import { recoveryDigest } from '../../../shared/auth/recovery-code.ts'
import { readTotp } from '../../../shared/vault/entries/totp.ts'
import { connectApp } from '../apps.ts'
import type { Authenticator } from '../authenticator.ts'
import { openAuthenticator } from '../authenticator.ts'
import type { TestServer } from '../http.ts'
import { answering, serverThat } from '../http.ts'
import { mailboxOf } from '../mailbox.ts'
import { askMandate, giveMandate } from '../mandates.ts'
import { ownerOf } from '../owner.ts'
import { randomBytes } from '../seed.ts'
import { approveDestination, entryOf } from '../vault-rows.ts'
import type { Agent, Scope, TestWorld } from '../world.ts'
import { pepper, start } from '../world.ts'

/** Texts that no one may read without permission. */
export const secret = {
  password: 'nine blue canaries',
  code: '482913',
  mail: 'a word of the mailbox',
}
export const seed = 'JBSWY3DPEHPK3PXP'

/** The surroundings that homes share: a world with a chain, and a site that accepts logins. */
export type Town = { world: TestWorld; site: TestServer; siteOrigin: string }

export type Home = {
  town: Town
  account: string
  alias: string
  email: string
  passwordHash: string
  /** Agent that works for the owner. */
  agent: Agent
  keys: Record<Scope, Agent>
  apps: Record<Scope, { id: string; token: string }>
  codes: string[]
  passkey: Authenticator | undefined
  friend: string
  /** Address that the mandate and the waiting requests name, and that is not known. */
  payee: string
  /** Ids that pages and operations refer to. */
  ids: {
    waiting: string
    approved: string
    mandate: string
    askedMandate: string
    entry: string
    mail: string
    keys: string[]
    apps: string[]
  }
}

const scopes: readonly Scope[] = ['read', 'vault', 'pay', 'full']
const fundsUsd = 2_000

export async function openTown(): Promise<Town> {
  const world = await start({ chain: true })
  const site = await serverThat(answering(200, {}, 'Welcome'))
  return { world, site, siteOrigin: `http://localhost:${new URL(site.url).port}` }
}

export async function openHome(town: Town, withPasskey: boolean): Promise<Home> {
  const { world } = town
  const agent = await world.agent('full', { usdc: fundsUsd })
  const { id: account, alias } = agent
  const email = `${alias}@people.example`
  const passwordHash = randomBytes(16).toString('hex')
  await world.db.sql`
    insert into private.owners (account, email, password_hash, password_since)
    values (${account}, ${email}, ${passwordHash}, private.clock() - interval '20 days')`
  const keys = { ...(await keysOf(agent)), full: agent }
  const apps = await appsOf(town, agent)
  const friend = addressOf('f')
  await world.acquaint(agent, friend)
  const payee = addressOf('1')
  const asked = await askedOf(town, agent, payee)
  const passkey = withPasskey ? await keepPasskey(town, account) : undefined
  const entry = await entryWithPlace(town, agent)
  const text = `Your verification code is ${secret.code}. ${secret.mail}`
  const letter = { from: 'a@shop.com', text, authenticated: 'shop.com' }
  await mailboxOf(world, agent).receive(letter)
  const codes = await codesOf(town, account)
  const mail = await idOf(town, 'mails', account)
  const held = await world.db.sql<{ id: string; kind: string }[]>`
    select id, kind from private.credentials where account = ${account} and kind <> 'session'`
  const ofKind = (kind: string) => held.filter((one) => one.kind === kind).map(({ id }) => id)
  const ids = { ...asked, entry, mail, keys: ofKind('api_key'), apps: ofKind('oauth') }
  const hands = { keys, apps, codes, passkey }
  return { town, account, alias, email, passwordHash, agent, ...hands, friend, payee, ids }
}

export const addressOf = (digit: string) => `0x${randomBytes(19).toString('hex')}${digit}${digit}`

async function keysOf(agent: Agent) {
  const [read, vault, pay] = await Promise.all([
    agent.withKey('read'),
    agent.withKey('vault'),
    agent.withKey('pay'),
  ])
  return { read, vault, pay }
}

async function appsOf({ world }: Town, agent: Agent): Promise<Home['apps']> {
  const connect = async (scope: Scope) => {
    const { app: id, token } = await connectApp(world, agent, { scope, host: `${scope}.example` })
    return { id, token }
  }
  const [read, vault, pay, full] = await Promise.all(scopes.map(connect))
  if (!read || !vault || !pay || !full) throw new Error('an app was not connected')
  return { read, vault, pay, full }
}

/** Adds a passkey, as if the owner had done so long ago. */
async function keepPasskey({ world }: Town, account: string): Promise<Authenticator> {
  const passkey = openAuthenticator()
  await world.db.sql`
    insert into private.passkeys (id, account, public_key, counter, transports, label, is_first,
      created_at)
    values (${passkey.id}, ${account}, ${passkey.key.cose.toString('base64url')}, 0, '{}', 'Mine',
      true, private.clock() - interval '10 days')`
  return passkey
}

async function codesOf({ world }: Town, account: string): Promise<string[]> {
  const draw = () =>
    randomBytes(8)
      .toString('hex')
      .replace(/(....)(?!$)/g, '$1-')
  const codes = [draw(), draw()]
  for (const code of codes) {
    await world.db.sql`
      insert into private.recovery_codes (account, digest, created_at)
      values (${account}, ${await recoveryDigest(world.world, code)},
        private.clock() - interval '20 days')`
  }
  return codes
}

/** Creates a waiting payment, an approved one, an active mandate and a requested one. */
async function askedOf({ world }: Town, agent: Agent, recipient: string) {
  const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount: '400' }
  const ask = async () => {
    const { body } = await agent.post('/wallet-custodial-transfer', order)
    return String(body['transfer_id'])
  }
  const [waiting, approved] = [await ask(), await ask()]
  const owner = await ownerOf(world, agent)
  await owner.decide(approved, 'approved')
  const terms = { pay_to: [recipient], max_total_usd_micros: '20000000' }
  const { id: mandate } = await giveMandate(world, agent, terms)
  const { id: askedMandate } = await askMandate(world, agent, terms)
  return { waiting, approved, mandate, askedMandate }
}

async function entryWithPlace(town: Town, agent: Agent): Promise<string> {
  const { world, siteOrigin: site } = town
  const totp = readTotp(seed)
  const entry = await entryOf(world, agent, {
    site,
    password: secret.password,
    ...(typeof totp === 'object' && 'refused' in totp ? {} : { totp }),
  })
  await approveDestination(world, entry, { name: 'pass', path: '/login' })
  return entry
}

async function idOf({ world }: Town, table: string, account: string): Promise<string> {
  const [row] = await world.db.sql`
    select id from ${world.db.sql(`private.${table}`)} where account = ${account} limit 1`
  return String(row?.['id'])
}

/** Returns the digest under which the database knows a session id. */
export const sessionDigest = (sid: string) => credentialOf(sid, pepper)
