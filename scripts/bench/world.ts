/**
 * The world that is measured: the parts of the local world on free ports, with nothing else running.
 * No measurement reaches a rate limit of a key or a spending limit of an account.
 */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Sql } from 'postgres'
import postgres from 'postgres'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { openSessionToken } from '../../shared/auth/session.ts'
import { factsOf } from '../../shared/payments/decide/decision-facts.ts'
import { paymentWithFactsRow } from '../../shared/payments/payment-with-facts.ts'
import { decide } from '../../shared/policy/decide.ts'
import { type Roots, readRoots } from '../../shared/sealing/roots.ts'
import { worldFrom } from '../../shared/world.ts'
import { buildFunctions } from '../build/functions.ts'
import { bindingsOf as localBindings } from '../local/bindings.ts'
import { giveGas } from '../local/chain/fund.ts'
import { beginReading, fundGasPayer } from '../local/chain/gas-payers.ts'
import { callRpc } from '../local/chain/rpc.ts'
import { type Chain, fund, startChain } from '../local/chain.ts'
import { startGateway } from '../local/gateway.ts'
import { startPostgres } from '../local/postgres.ts'
import { choosePorts } from '../local/process/ports.ts'
import { drawSecrets, projectOfSecrets } from '../local/secrets.ts'
import { startWorkers } from '../local/workers.ts'
import { migrate } from '../migrate.ts'
import { type OpenedAccount, openAccount, openApiKey, openGasPayer } from '../operator/provision.ts'

const generated = drawSecrets()

/** Secrets that the functions and the measurements share. */
const secrets = { pepper: generated.api_key_pepper }

/** Keys of the database project that all served functions use. */
export const project = projectOfSecrets(generated)

/** A running set of functions over one database. */
export type Served = {
  url: string
  databaseUrl: string
  gatewayUrl: string
  sql: Sql
  /** Starts the functions again at the same address. */
  restartWorkers(): Promise<void>
  stop(): Promise<void>
}

/** The measured world: a served set of functions, its chain and its keys. */
export type BenchWorld = Served & {
  directory: string
  modules: string
  chain: Chain
  roots: Roots
  rootKeys: string
  /** Starts a second set of functions over a database of its own. */
  serve(database: string): Promise<Served>
  /** Opens an account with a key of scope `pay` and no rate limit that matters. */
  agent(sql: Sql): Promise<OpenedAccount & { key: string }>
  /** Opens an agent with a million USDC and no limit below a billion USD. */
  payer(): Promise<OpenedAccount & { key: string }>
}

/** Settings of a world; `gasPayers` is the number of its relayers. */
export type BenchOptions = {
  /** Seconds between blocks. Without it, each transaction is mined at once. */
  blockTimeSeconds?: number
  gasPayers?: number
  /** Runs the functions on Node, as `npm run serve` does, in place of workers. */
  isOnNode?: boolean
}

/** Builds the functions and starts Postgres, a chain and everything that serves them. */
export async function openBenchWorld({
  gasPayers = 1,
  isOnNode = false,
  ...pace
}: BenchOptions = {}): Promise<BenchWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-bench-'))
  chmodSync(directory, 0o711)
  const modules = join(directory, 'functions')
  await buildFunctions(modules)
  const server = await startPostgres({ directory: join(directory, 'postgres'), durable: false })
  const chain = await startChain({ chainId: 84532, ...pace })
  const rootKeys = JSON.stringify({ 1: randomBytes(32).toString('base64') })
  const roots = readRoots(rootKeys, 'custody')
  const serve = (database: string) =>
    serveFunctions({
      serverUrl: server.url,
      database,
      directory,
      modules,
      chain,
      rootKeys,
      isOnNode,
    })
  const main = await serve('bench')
  await openGasPayers(main.sql, roots, chain, gasPayers)
  await beginReading(main.sql, chain)
  const stop = async () => {
    await main.stop()
    await chain.stop()
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  const agent = async (sql: Sql) => {
    const account = await openAccount(sql, roots, `bench-${randomBytes(4).toString('hex')}`)
    const order = { account: account.id, label: 'bench', scopes: ['pay'], pepper: secrets.pepper }
    const rate = { perSecond: 10_000, burst: 100_000_000 }
    return { ...account, key: await openApiKey(sql, { ...order, kind: 'test', rate }) }
  }
  const payer = async () => {
    const opened = await agent(main.sql)
    await fund(chain, opened.address, { usdcAtomic: 10n ** 12n })
    await main.sql`update private.accounts set asserted_daily_limit_usd_micros = 10 ^ 15,
      asserted_new_recipient_limit_usd_micros = 10 ^ 15,
      daily_spending_cap_usd_micros = 10 ^ 15 where id = ${opened.id}`
    return opened
  }
  return { ...main, directory, modules, chain, roots, rootKeys, serve, agent, payer, stop }
}

async function openGasPayers(
  sql: Sql,
  roots: Roots,
  chain: Chain,
  gasPayers: number,
): Promise<void> {
  await giveGas(sql)
  for (let opened = 0; opened < gasPayers; opened += 1) {
    await fundGasPayer(chain, await openGasPayer(sql, roots, { chainId: chain.chainId, nonce: 0 }))
  }
}

type Place = {
  serverUrl: string
  database: string
  directory: string
  modules: string
  chain: Chain
  rootKeys: string
  isOnNode: boolean
}

async function serveFunctions(place: Place) {
  const { serverUrl, database, modules, chain, rootKeys } = place
  const admin = postgres(serverUrl, { max: 1, onnotice() {} })
  await admin.unsafe(`create database ${database}`)
  await admin.end()
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  await migrate(url.href)
  const sql = postgres(url.href, { max: 2, onnotice() {} })
  // Trivial on purpose: the floor that an operation with one call is compared with.
  await sql.unsafe(`create function api.bench_ping(credential text) returns table (pong boolean)
    language sql security definer set search_path = '' as 'select true';
    grant execute on function api.bench_ping to service_role;
    update private.growth_terms set bytes_at_once = 2000000000, bytes_a_day = 2000000000`)
  const { keys } = project
  const gateway = await startGateway({ databaseUrl: url.href, schema: 'api', keys })
  const { functions: port } = await choosePorts(0)
  const bindings = bindingsOf({ gatewayUrl: gateway.url, chain, rootKeys }, chain.rpcUrl)
  const log = (line: string) => console.error(line)
  const begin = () =>
    place.isOnNode
      ? startServeArm({
          port,
          directory: join(place.directory, database),
          databaseUrl: url.href,
          bindings,
        })
      : startWorkers({ port, modules, bindings, log })
  let workers = await begin()
  const restartWorkers = async () => {
    await workers.stop().catch(() => undefined)
    workers = await begin()
  }
  const stop = async () => {
    await workers.stop()
    await gateway.close()
    await sql.end({ timeout: 1 })
  }
  const served = { url: workers.url, databaseUrl: url.href, gatewayUrl: gateway.url }
  return { ...served, sql, restartWorkers, stop }
}

async function startServeArm(settings: {
  port: number
  directory: string
  databaseUrl: string
  bindings: object
}) {
  const script = fileURLToPath(new URL('serve-arm.ts', import.meta.url))
  const env = { ...process.env, SERVE_ARM: JSON.stringify(settings) }
  const child = fork(script, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  const said: unknown[] = await Promise.race([once(child, 'message'), ended])
  if (said[0] !== 'ready') throw new Error('the functions did not start on Node')
  const stop = async () => {
    child.disconnect()
    await ended
  }
  return { url: `http://127.0.0.1:${settings.port}`, stop }
}

/** Returns the bindings of the functions, which reach the chain through `rpcUrl`. */
export function bindingsOf(
  { gatewayUrl, chain, rootKeys }: Pick<BenchWorld, 'gatewayUrl' | 'chain' | 'rootKeys'>,
  rpcUrl: string,
) {
  return {
    ...localBindings({ ports: { functions: 0, gateway: 0 }, secrets: generated }, [
      { network: chain.network, rpcUrl },
    ]),
    SUPABASE_URL: gatewayUrl,
    CUSTODY_ROOT_KEYS: rootKeys,
    VAULT_ROOT_KEYS: rootKeys,
    // Nothing listens there, because nothing that is measured sends mail.
    MAIL_URL: 'smtp://127.0.0.1:9',
  }
}

/** Opens the account and its session. Returns the session's cookie. */
export async function openOwner(bench: BenchWorld): Promise<string> {
  const { id } = await bench.agent(bench.sql)
  const sid = randomBytes(32).toString('base64url')
  const digest = await credentialOf(sid, secrets.pepper)
  await bench.sql`insert into private.owners (account, email)
    values (${id}, ${`${id}@example.com`})`
  const expiresAt = new Date(Date.now() + 12 * 3_600_000)
  await bench.sql`with opened as (insert into private.credentials
      (account, kind, digest, label, shown, scopes, expires_at, burst, per_second)
    values (${id}, 'session', ${digest}, 'Bench', 'session', '{owner}', ${expiresAt}, 1000000, 10000)
    returning id)
    insert into private.sessions (credential, signed_in_with, ends_at, user_agent, client)
    select id, 'password', ${expiresAt}, 'bench/1.0', 'direct' from opened`
  await bench.sql`insert into private.activities (account, category, type, summary)
    select ${id}, 'account', 'bench', 'Entry ' || n || ' of the feed' from generate_series(1, 40) n`
  const world = worldFrom(bindingsOf(bench, bench.chain.rpcUrl))
  return `__Host-aoa_session=${await openSessionToken(world, { sid, account: id, expiresAt })}`
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const logRows = z.array(z.object({ topics: z.array(z.string()) }))

/** Returns the payees of all transfers in a range of blocks, each as often as it was paid. */
export async function paidIn({ rpcUrl, usdc }: Chain, first: number, last: number) {
  const [fromBlock, toBlock] = [first, last].map((block) => `0x${block.toString(16)}`)
  const filter = { address: usdc, topics: [transferTopic], fromBlock, toBlock }
  const [answer] = await callRpc(rpcUrl, [['eth_getLogs', filter]])
  return logRows.parse(answer).map(({ topics }) => `0x${(topics[2] ?? '').slice(26)}`)
}

/** Returns the number of the latest block. */
export async function headOf({ rpcUrl }: Chain): Promise<number> {
  const [head] = await callRpc(rpcUrl, [['eth_blockNumber']])
  return Number(z.string().parse(head))
}

/** Counts from now on how often each payee was paid, and notes when that was last seen. */
export async function watchPayees({ chain }: BenchWorld) {
  const seen = new Map<string, { times: number; at: number }>()
  let next = (await headOf(chain)) + 1
  const look = async () => {
    const head = await headOf(chain)
    if (head < next) return
    const first = next
    next = head + 1
    const paid = await paidIn(chain, first, head)
    const at = performance.now()
    for (const payee of paid) seen.set(payee, { times: (seen.get(payee)?.times ?? 0) + 1, at })
  }
  return { seen, look }
}

/** Address that the payments go to. */
export const payee = `0x${'a'.repeat(40)}`
/** Address of USDC on Base Sepolia. */
export const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

/** Keyed hash of an API key, by which the database knows the caller. */
export type Caller = { credential: string }

/** Opens a caller that has no limit below a billion USD. */
export async function callerOf(world: BenchWorld, sql: Sql): Promise<Caller> {
  const { id, key } = await world.agent(sql)
  await sql`update private.accounts set asserted_daily_limit_usd_micros = 10 ^ 15,
    asserted_new_recipient_limit_usd_micros = 10 ^ 15,
    daily_spending_cap_usd_micros = 10 ^ 15 where id = ${id}`
  return { credential: await credentialOf(key, secrets.pepper) }
}

/** Enters a payment of one cent and returns its id. */
export async function begin(sql: Sql, { credential }: Caller): Promise<string> {
  const [row] = await sql`select * from api.begin_payment(${credential}, 'x402', 'bench', 84532,
    ${token}, '10000', '10000', '{}', 3600, ${payee})`
  return paymentWithFactsRow.parse(row).payment_row.id
}

/** Reads the facts, decides and reserves. Throws if the payment is not authorized. */
export async function reserve(sql: Sql, { credential }: Caller, payment: string): Promise<void> {
  const [row] = await sql`
    select * from api.payment_facts(${credential}, ${payment}, 'x402', 'bench')`
  const entered = paymentWithFactsRow.parse(row)
  const decision = decide(await factsOf(entered, true))
  if (decision.verdict !== 'allow') throw new Error(`not allowed: ${decision.verdict}`)
  const [answer] = await sql`select outcome from api.custody_authorize(${credential}, ${payment},
    ${decision.consentLevel}, ${entered.facts.version}, '1000000000000', 0,
    extract(epoch from private.clock())::bigint + 600, 45, seen_block => 1, cost_wei => '1')`
  if (answer?.['outcome'] !== 'authorized') throw new Error(String(answer?.['outcome']))
}

const agent = new Agent({ keepAlive: true })

/** Answer of a page, with the milliseconds until its first byte. */
export type Asked = { status: number; body: string; firstByteMilliseconds: number }

/** Requests a page with this cookie, on the host `localhost`. */
export function askPage(url: string, cookie: string): Promise<Asked> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { host: 'localhost', cookie } }, (answer) => {
      const firstByteMilliseconds = performance.now() - began
      const { statusCode: status = 0 } = answer
      text(answer).then((body) => resolve({ status, body, firstByteMilliseconds }), reject)
    }).on('error', reject)
  })
}
