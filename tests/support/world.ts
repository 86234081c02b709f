/**
 * The product as one test file sees it: every operation over a real Postgres and, if requested, a real
 * chain, with accounts and keys on demand and a clock that the test moves. Only the product's clock is
 * replaced.
 */
import * as z from 'zod'
import notFound from '../../functions/not-found/index.ts'
import { pushKeysOf } from '../../scripts/local/bindings.ts'
import { giveGas } from '../../scripts/local/chain/fund.ts'
import { beginReading, fundGasPayer } from '../../scripts/local/chain/gas-payers.ts'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { offerVaults } from '../../scripts/local/chain/yield.ts'
import { type Chain, fund, startChain } from '../../scripts/local/chain.ts'
import type { CaughtMail } from '../../scripts/local/mail.ts'
import { createReceiptKeys, createSessionKeys } from '../../scripts/local/secrets.ts'
import {
  type KeyOrder,
  openAccount,
  openApiKey,
  openGasPayer,
} from '../../scripts/operator/provision.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import type { Fetch, World } from '../../shared/world.ts'
import { acquaint, userAgent } from './acquaint.ts'
import { beginReadingAtNothing } from './begin-reading.ts'
import { type MigratedDatabase, openTestDatabase, project, type TestDatabase } from './database.ts'
import { type Deadlines, openDeadlines } from './deadlines.ts'
import { mustBeCallable, mustBeDeclared } from './declared.ts'
import { atEnd } from './ending.ts'
import { functionsIn } from './functions.ts'
import { findAllWell } from './health.ts'
import { openMailbox } from './mail.ts'
import { answeringOnceMined } from './mined.ts'
import { type Bindings, openProduct } from './product.ts'
import { randomBytes, randomUUID } from './seed.ts'

export type Answer = { status: number; body: Record<string, unknown>; headers: Headers }
export type Scope = 'read' | 'pay' | 'full' | 'vault'
export type Agent = {
  id: string
  alias: string
  address: `0x${string}`
  key: string
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Creates another key of the same account. */
  withKey(scope: Scope, rate?: KeyOrder['rate']): Promise<Agent>
}

export type TestWorld = {
  world: World
  /** Bindings that `world` is made of; another isolate uses the same. */
  bindings: Bindings
  /** Seconds by which `tick` has moved the clocks, in memory that isolates share. */
  movedSeconds: Int32Array
  db: TestDatabase
  /** Local copy of Base Sepolia; only with `chain: true`. */
  chain: Chain
  /** Creates an account with a key of this scope; `usdc` is minted to its wallet in token units. */
  agent(
    scope: Scope,
    options?: { alias?: string; usdc?: number; rate?: KeyOrder['rate'] },
  ): Promise<Agent>
  /** Sends any request to a function, without a token unless given. */
  send(path: string, init?: RequestInit): Promise<Answer>
  /** Creates another isolate over the same database and chain, with these differences. */
  worker(differs?: Differing): Worker
  /** Lets the deadline of a request pass that a silent neighbour received; no clock ends one. */
  expire: Deadlines['expire']
  /** Moves all clocks of the product. */
  tick(seconds: number): Promise<void>
  /** Marks payee and device as known, as their owner would. */
  acquaint(payer: Agent, payee: string): Promise<void>
  /** Sends what waits in the outbox and returns all mail to this address. */
  mails(to: string): Promise<CaughtMail[]>
  log: Record<string, string | number>[]
}

/** Differences of an isolate; each of its effects is a request of its `fetch`. */
export type Differing = Partial<Pick<World, 'fetch' | 'now' | 'pause' | 'deadline'>> & {
  rootKeys?: string
}
export type Worker = {
  world: World
  get(agent: Agent, path: string): Promise<Answer>
  post(agent: Agent, path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
}

const jsonObject = z.record(z.string(), z.unknown())
export const pepper = 'a-pepper-of-the-tests-only'
const sessionKeys = createSessionKeys()
const receiptKeys = createReceiptKeys()
const outboxKey = Buffer.alloc(32, 7).toString('base64')
export const inboundMailSecret = Buffer.alloc(32, 9).toString('base64')
const unusedSecrets = ['MAIL_TOKEN', 'TURNSTILE_SECRET_KEY', 'DKIM_PRIVATE_KEY']
export const mailDomain = 'agents.example'
/** Domain that notices come from. */
export const noticeDomain = 'notices.example'
export { actOfOwner, fingerprint, userAgent } from './acquaint.ts'

export type StartOptions = {
  chain?: boolean
  /** Offers a vault on the started chain. */
  yield?: boolean
  /** Relayers of the started chain; one when absent. */
  gasPayers?: number
  /** Number of blocks that a reorganization can go back, for chains with very many. */
  statesMax?: number
  /** Networks in addition to the started one: CAIP-2 id -> endpoints. */
  rpcUrls?: Record<string, string[]>
  /** Endpoints of the started chain in place of its own. */
  endpoints?: (chainRpcUrl: string) => Promise<string[]>
  /** A database of the file's own server in place of a copy of the template. */
  database?: MigratedDatabase
  /** Database connections for each role. */
  connections?: number
  /** Roots of custody and the vault; new ones when absent. */
  rootKeys?: string
}

/** Starts everything for this file and ends it after the file. */
export async function start(options: StartOptions = {}): Promise<TestWorld> {
  const db = await openTestDatabase(options.database, options.connections)
  atEnd(() => db.close())
  const { statesMax } = options
  const ofChain = { chainId: 84532, ...(statesMax && { statesMax }) } as const
  const chain = options.chain ? await startChain(ofChain) : undefined
  if (chain) atEnd(() => chain.stop())
  const rootKeys = options.rootKeys ?? JSON.stringify({ 1: randomBytes(32).toString('base64') })
  const log: TestWorld['log'] = []
  const movedSeconds = new Int32Array(new SharedArrayBuffer(4))
  const endpoints = chain && (await (options.endpoints?.(chain.rpcUrl) ?? [chain.rpcUrl]))
  const rpcUrls = { ...(chain && endpoints && { [chain.network]: endpoints }), ...options.rpcUrls }
  const { watch, expire, deadline } = openDeadlines()
  const outside: Fetch = (...request) => fetch(...request)
  const watched = (network: Fetch) =>
    watch(chain ? answeringOnceMined(network, chain.rpcUrl) : network)
  const held = {
    fetch: watched(outside),
    now: () => new Date(db.began.getTime() + Atomics.load(movedSeconds, 0) * 1000),
    deadline,
    log: (entry: TestWorld['log'][number]) => log.push(entry),
    randomBytes: (length: number) => new Uint8Array(randomBytes(length)),
    newId: randomUUID,
  }
  const YIELD_VAULTS = chain && options.yield ? await offerVaults(chain) : '{}'
  const bindings = bindingsOf(db, rpcUrls, rootKeys, { YIELD_VAULTS })
  await giveGas(db.sql)
  const world = openProduct(bindings, held)
  await findAllWell(db, Object.keys(rpcUrls))
  const mailbox = openMailbox(world)
  atEnd(() => mailbox.close())
  const roots = readRoots(rootKeys, 'custody')
  if (chain) await beginReading(db.sql, chain)
  else await beginReadingAtNothing(db.sql)
  for (let gasPayer = 0; chain && gasPayer < (options.gasPayers ?? 1); gasPayer += 1) {
    await openFunded(db, chain, roots)
  }
  const send = sendingTo(world)

  const agentOf = async (
    account: { id: string; alias: string; address: `0x${string}` },
    scope: Scope,
    rate?: KeyOrder['rate'],
  ): Promise<Agent> => {
    const order = {
      account: account.id,
      label: scope,
      scopes: [scope],
      pepper,
      kind: 'test' as const,
    }
    const key = await openApiKey(db.sql, { ...order, ...(rate ? { rate } : {}) })
    const auth = authOf(key)
    return {
      ...account,
      key,
      get: (path, headers) => send(path, { headers: { ...auth, ...headers } }),
      post: (path, body, headers) => send(path, posting(key, body, headers)),
      withKey: (other, itsRate) => agentOf(account, other, itsRate),
    }
  }

  return {
    world,
    bindings,
    movedSeconds,
    db,
    log,
    send,
    mails: (to) => mailbox.mails(to),
    expire,
    worker({ rootKeys: otherRoots = rootKeys, fetch: network = outside, ...differs } = {}) {
      const itsOwn = { ...held, ...differs, fetch: watched(network) }
      const own = openProduct(bindingsOf(db, rpcUrls, otherRoots, { YIELD_VAULTS }), itsOwn)
      const sendHere = sendingTo(own)
      return {
        world: own,
        get: ({ key }, path) => sendHere(path, { headers: authOf(key) }),
        post: ({ key }, path, body, headers) => sendHere(path, posting(key, body, headers)),
      }
    },
    get chain() {
      if (!chain) throw new Error('start({ chain: true }) brings a chain')
      return chain
    },
    async agent(scope, { alias, usdc, rate } = {}) {
      const name = alias ?? `agent-${randomBytes(6).toString('hex')}`
      const account = await openAccount(db.sql, roots, name)
      if (usdc && chain)
        await fund(chain, account.address, { usdcAtomic: BigInt(usdc) * 10n ** 6n })
      return agentOf(account, scope, rate)
    },
    async tick(seconds) {
      Atomics.add(movedSeconds, 0, seconds)
      await db.tick(seconds)
    },
    acquaint: (payer, payee) => acquaint(db, payer, payee),
  }
}

/** Sends requests to the functions of one isolate. */
function sendingTo(world: World): TestWorld['send'] {
  const functions = functionsIn(world)
  return async (path, init) => {
    const [, folder = ''] = new URL(path, 'http://aoa').pathname.split('/')
    const found = functions.get(folder) ?? notFound
    const answer = await found.fetch(new Request(new URL(path, 'http://aoa'), init))
    const text = await answer.text()
    const body = text === '' ? {} : jsonObject.parse(JSON.parse(text))
    if (answer.status !== 200) mustBeDeclared(folder, init?.method ?? 'GET', body['error'])
    mustBeCallable(body)
    return { status: answer.status, body, headers: answer.headers }
  }
}

function authOf(key: string) {
  return { authorization: `Bearer ${key}`, 'user-agent': userAgent }
}

function posting(key: string, body: unknown, headers?: Record<string, string>): RequestInit {
  const json = { 'content-type': 'application/json' }
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...authOf(key), ...json, ...headers },
  }
}

function bindingsOf(
  db: TestDatabase,
  rpcUrls: Record<string, string[]>,
  rootKeys: string,
  more: object,
): Bindings {
  const shared = {
    ENVIRONMENT: 'local',
    BASE_URL: 'http://aoa.example',
    WEB_URL: 'http://localhost/web',
    MAIL_DOMAIN: mailDomain,
    CLIENT_ADDRESS_HEADER: 'cf-connecting-ip',
    SUPABASE_URL: db.gatewayUrl,
    DATABASE_URL: db.url,
    SUPABASE_API_KEY: project.apiKey,
    API_KEY_PEPPER: pepper,
    PASSWORD_PEPPER: pepper,
    SESSION_PRIVATE_KEY: sessionKeys.privateKey,
    SESSION_PUBLIC_KEYS: sessionKeys.publicKeys,
    RECEIPT_PRIVATE_KEY: receiptKeys.privateKey,
    RECEIPT_PUBLIC_KEYS: receiptKeys.publicKeys,
    OTP_PEPPER: 'another-pepper-of-the-tests-only',
    OUTBOX_KEY: outboxKey,
    ...pushKeysOf({ outbox_key: outboxKey }),
    NOTICE_DOMAIN: noticeDomain,
    ...Object.fromEntries(unusedSecrets.map((name) => [name, 'none'])),
    MAIL_RECEIVER: `mx.${mailDomain}`,
    INBOUND_MAIL_SECRET: inboundMailSecret,
    ALLOW_LOOPBACK: 'true',
    RETURN_URL_ORIGINS: '["https://shop.example"]',
    CHAIN_RPC_URLS: JSON.stringify(rpcUrls),
    ...more,
    // Gas on a local chain costs a gwei, and tests make it dearer.
    GAS_USD_MAX: '{"*":"20"}',
  }
  const { tokens } = project
  return {
    product: { ...shared, SUPABASE_SERVICE_KEY: tokens.service_role },
    custody: { ...shared, CUSTODY_DATABASE_KEY: tokens.custody, CUSTODY_ROOT_KEYS: rootKeys },
    vault: { ...shared, VAULT_DATABASE_KEY: tokens.vault, VAULT_ROOT_KEYS: rootKeys },
  }
}

async function openFunded(db: TestDatabase, chain: Chain, roots: ReturnType<typeof readRoots>) {
  await fundGasPayer(chain, await openGasPayer(db.sql, roots, { chainId: chain.chainId, nonce: 0 }))
}

/** Mines blocks until what was included before is finalized on the local chain. */
export async function finalize(chain: Chain): Promise<void> {
  await callRpc(chain.rpcUrl, [['anvil_mine', '0x10']])
}
