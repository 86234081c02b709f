/**
 * The product as one test file sees it: every operation over a real Postgres and, where asked, a
 * real chain, with accounts and keys on demand and a clock that the test moves. Nothing of the
 * product is replaced but its clock.
 */
import { randomBytes } from 'node:crypto'
import { afterAll } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import notFound from '../../functions/not-found/index.ts'
import type { Chain } from '../../scripts/local/chain.ts'
import { fund, startChain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import type { KeyOrder } from '../../scripts/provision.ts'
import { openAccount, openApiKey, openLane } from '../../scripts/provision.ts'
import { commonErrors } from '../../shared/contract/operation.ts'
import { openCustody } from '../../shared/custody/custody.ts'
import { readRoots } from '../../shared/custody/roots.ts'
import { openDatabase } from '../../shared/db/database.ts'
import { readConfig } from '../../shared/env.ts'
import type { World } from '../../shared/world.ts'
import { worldFrom } from '../../shared/world.ts'
import type { TestDatabase } from './database.ts'
import { openTestDatabase } from './database.ts'
import { functionsIn } from './functions.ts'

export type Answer = { status: number; body: Record<string, unknown>; headers: Headers }
export type Scope = 'read' | 'pay' | 'full' | 'vault'
export type Agent = {
  id: string
  alias: string
  address: `0x${string}`
  key: string
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Another key of the same account. */
  withKey(scope: Scope, rate?: KeyOrder['rate']): Promise<Agent>
}

export type TestWorld = {
  world: World
  db: TestDatabase
  /** Base Sepolia's double; only with `chain: true`. */
  chain: Chain
  /** A new account with a key of this scope; `usdc` is minted to its wallet in token units. */
  agent(
    scope: Scope,
    options?: { alias?: string; usdc?: number; rate?: KeyOrder['rate'] },
  ): Promise<Agent>
  /** Any request to a function, without a token unless given. */
  send(path: string, init?: RequestInit): Promise<Answer>
  /** Moves all clocks of the product. */
  tick(seconds: number): Promise<void>
  /** Marks payee and device as known, as a settled confirmed payment would. */
  acquaint(payer: Agent, payee: string): Promise<void>
  log: Record<string, string | number>[]
}

const jsonObject = z.record(z.string(), z.unknown())
const pepper = 'a pepper of the tests only'
export const mailDomain = 'agents.example'
/** What every request of a test says it is, unless it says otherwise. */
export const userAgent = 'guarantee/1.0'

export type StartOptions = {
  chain?: boolean
  /** Relayers of the started chain; one when absent. */
  lanes?: number
  /** Networks beside the started one: CAIP-2 id -> endpoints. */
  rpcUrls?: Record<string, string[]>
  /** Cuts every deadline of the product short, where a test waits for one to pass. */
  deadlineMaxMilliseconds?: number
}

/** Starts everything for this file and ends it after the file. */
export async function start(options: StartOptions = {}): Promise<TestWorld> {
  const db = await openTestDatabase()
  afterAll(() => db.close())
  const chain = options.chain ? await startChain({ chainId: 84532 }) : undefined
  if (chain) afterAll(() => chain.stop())
  const rootKeys = JSON.stringify({ 1: randomBytes(32).toString('base64') })
  const log: TestWorld['log'] = []
  let movedSeconds = 0
  const rpcUrls = { ...(chain ? { [chain.network]: [chain.rpcUrl] } : {}), ...options.rpcUrls }
  const world = worldOver(db, rpcUrls, rootKeys, {
    now: () => new Date(Date.now() + movedSeconds * 1000),
    deadline: (milliseconds) =>
      AbortSignal.timeout(Math.min(milliseconds, options.deadlineMaxMilliseconds ?? milliseconds)),
    log: (entry) => log.push(entry),
  })
  const roots = readRoots(rootKeys)
  for (let lane = 0; chain && lane < (options.lanes ?? 1); lane += 1) {
    await openFundedLane(db, chain, roots)
  }
  const functions = functionsIn(world)

  const send: TestWorld['send'] = async (path, init) => {
    const [, folder = ''] = new URL(path, 'http://aoa').pathname.split('/')
    const found = functions.get(folder) ?? notFound
    const answer = await found.fetch(new Request(new URL(path, 'http://aoa'), init))
    const text = await answer.text()
    const body = text === '' ? {} : jsonObject.parse(JSON.parse(text))
    if (answer.status !== 200) mustBeDeclared(folder, body['error'])
    return { status: answer.status, body, headers: answer.headers }
  }

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
    const auth = { authorization: `Bearer ${key}`, 'user-agent': userAgent }
    return {
      ...account,
      key,
      get: (path, headers) => send(path, { headers: { ...auth, ...headers } }),
      post: (path, body, headers) =>
        send(path, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { ...auth, 'content-type': 'application/json', ...headers },
        }),
      withKey: (other, itsRate) => agentOf(account, other, itsRate),
    }
  }

  return {
    world,
    db,
    log,
    send,
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
      movedSeconds += seconds
      await db.tick(seconds)
    },
    acquaint: (payer, payee) => acquaint(db, payer, payee),
  }
}

/** Described errors are those that are sent: an operation must not answer another code. */
function mustBeDeclared(folder: string, code: unknown) {
  const contract = contracts.find((one) => one.folder === folder)
  const declared: unknown[] = contract ? [...contract.errors, ...commonErrors(contract)] : []
  if (contract && !declared.includes(code)) {
    throw new Error(`${contract.id} answers ${String(code)}, which its contract does not declare`)
  }
}

function worldOver(
  db: TestDatabase,
  rpcUrls: Record<string, string[]>,
  rootKeys: string,
  held: Pick<World, 'now' | 'log' | 'deadline'>,
): World {
  const bindings = {
    ENVIRONMENT: 'local',
    BASE_URL: 'http://aoa.example',
    MAIL_DOMAIN: mailDomain,
    SUPABASE_URL: db.gatewayUrl,
    API_KEY_PEPPER: pepper,
    ALLOW_LOOPBACK: 'true',
    CHAIN_RPC_URLS: JSON.stringify(rpcUrls),
  }
  const base = { ...worldFrom({ ...bindings, SUPABASE_SERVICE_KEY: db.serviceKey }), ...held }
  const custodyConfig = readConfig({
    ...bindings,
    CUSTODY_DATABASE_KEY: db.custodyKey,
    CUSTODY_ROOT_KEYS: rootKeys,
  })
  const custodyDb = openDatabase(custodyConfig, base.fetch)
  const custody = openCustody({ ...base, config: custodyConfig, db: custodyDb })
  return { ...base, custody }
}

async function openFundedLane(db: TestDatabase, chain: Chain, roots: ReturnType<typeof readRoots>) {
  const lane = await openLane(db.sql, roots, { chainId: chain.chainId, nonce: 0 })
  await fund(chain, lane, { weiAmount: 10n ** 20n })
}

async function acquaint(db: TestDatabase, payer: Agent, payee: string): Promise<void> {
  const digest = await crypto.subtle.digest(
    'SHA-256',
    new TextEncoder().encode(`agent:${userAgent}`),
  )
  const fingerprint = Buffer.from(digest).toString('hex')
  await db.sql`insert into private.known_recipients (account, chain_family, address)
    values (${payer.id}, 'evm', ${payee}) on conflict do nothing`
  await db.sql`insert into private.known_devices (account, key, fingerprint)
    select account, id, ${fingerprint} from private.api_keys where account = ${payer.id}
    on conflict do nothing`
}

/** Mines blocks until what was included before is finalized on the local chain. */
export async function finalize(chain: Chain): Promise<void> {
  await callRpc(chain.rpcUrl, [['anvil_mine', '0x10']])
}
