/**
 * The whole product on loopback: database, gateway, two chains, an x402 facilitator with a merchant, and
 * every function in its worker. All that it opens and earns is kept in one directory, so that the next
 * start continues from there.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { readRoots } from '../../shared/sealing/roots.ts'
import { worldFrom } from '../../shared/world.ts'
import { migrate } from '../migrate.ts'
import { bindingsOf, dkimRecordOf } from './bindings.ts'
import { startFacilitator } from './chain/facilitator.ts'
import type { LocalChainId } from './chain/fund.ts'
import { readyGasPayers } from './chain/gas-payers.ts'
import { merchantPayTo, startMerchant } from './chain/merchants.ts'
import { offerVaults } from './chain/yield.ts'
import { type Chain, startChain } from './chain.ts'
import {
  fillingOf,
  fillWallet,
  holdsWallets,
  ownedAccount,
  ownedKeys,
  ownerEmail,
  readyOwner,
} from './demo-owner.ts'
import { describeWorld } from './describe-world.ts'
import { startGateway } from './gateway.ts'
import { inboundOf } from './inbound.ts'
import { startLastingPostgres } from './lasting-postgres.ts'
import type { LocalWorld } from './local-world.ts'
import { startMailCatcher } from './mail.ts'
import { buildFor, type Host, openFunctions } from './open-functions.ts'
import { createEndings, type Endings, together } from './process/endings.ts'
import { choosePorts, type Ports } from './process/ports.ts'
import { projectOfSecrets, readSecrets, type Secrets, writePrivate } from './secrets.ts'

const blockTimeSeconds = 2

/** Settings of a local world. */
export type WorldOptions = {
  /** Port of the functions; 0 lets the system choose every port. */
  port: number
  /** Directory that keeps everything between runs. */
  directory: string
  /** Runs the functions on Node, as `npm run serve` does, and not in the workers of Miniflare. */
  isOnNode?: boolean
  /** Seconds between two runs of a schedule; a minute, as on a platform, if absent. */
  scheduleSeconds?: number | undefined
  /** Runs the functions in another way. */
  host?: Host
  /** Bindings of functions, in addition to those of the world. */
  bindings?: Readonly<Record<string, string>>
  /** Signal that aborts the start. */
  signal: AbortSignal
  /** Receives progress and warnings, one line at a time. */
  say: (line: string) => void
}

type Start = WorldOptions & { ports: Ports; secrets: Secrets; fresh: boolean; endings: Endings }

/** Times that ports are chosen, if another process takes one before it is listened on. */
const choicesMax = 3

/** Starts everything. If it fails or is aborted, nothing is left running. */
export async function openLocalWorld(options: WorldOptions): Promise<LocalWorld> {
  for (let choice = 1; options.port === 0 && choice < choicesMax; choice += 1) {
    try {
      return await openOnPorts(options)
    } catch (error) {
      if (!isPortTaken(error)) throw error
    }
  }
  return openOnPorts(options)
}

/** True if Node's or workerd's words say that a port was taken meanwhile. */
function isPortTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /EADDRINUSE|Address already in use/.test(error.message) || isPortTaken(error.cause)
}

async function openOnPorts(options: WorldOptions): Promise<LocalWorld> {
  options.signal.throwIfAborted()
  const ports = await choosePorts(options.port)
  const endings = createEndings(options.signal)
  // If this process is root, PostgreSQL may run as another user, who has to reach the directory.
  mkdirSync(options.directory, { recursive: true })
  chmodSync(options.directory, 0o711)
  const kept = readSecrets(join(options.directory, 'secrets.json'))
  const worldFile = join(options.directory, 'world.json')
  rmSync(worldFile, { force: true })
  try {
    const world = await assemble({ ...options, ...kept, ports, endings })
    const stop = async () => {
      rmSync(worldFile, { force: true })
      await endings.endAll()
    }
    writePrivate(worldFile, describeWorld(world))
    return { ...world, stop }
  } catch (error) {
    await endings.endAll()
    throw error
  }
}

async function assemble(start: Start): Promise<Omit<LocalWorld, 'stop'>> {
  const { endings, ports, say } = start
  const [database, functions] = await together([openDatabase(start), buildFor(start)])
  const opening = { ...start, databaseUrl: database.url }
  const [mail, , baseSepolia, arbitrumSepolia] = await together([
    endings.keep(startMailCatcher(ports, inboundOf(start)), (catcher) => catcher.close()),
    openGateway(opening),
    openChain(start, 84532, ports.baseSepolia),
    openChain(start, 421614, ports.arbitrumSepolia),
  ])
  const chains = [baseSepolia, arbitrumSepolia] as const
  const [YIELD_VAULTS, facilitator] = await together([
    offerVaults(baseSepolia),
    endings.keep(startFacilitator({ chains }), ({ close }) => close()),
  ])
  const own = {
    ...bindingsOf(start, chains),
    YIELD_VAULTS,
    MAIL_URL: mail.smtpUrl,
    SANDBOX_PAY_TO: merchantPayTo,
    SANDBOX_FACILITATOR_URL: facilitator.url,
  }
  const bindings = { ...own, ...start.bindings }
  const [{ url }, merchant, owned] = await together([
    openFunctions(start, { functions, bindings, database }),
    openMerchant(start, facilitator.url, chains),
    provision({ ...opening, bindings }, chains),
  ])
  say('functions listening')
  const dkim = dkimRecordOf(start.secrets)
  const { SUPABASE_URL: supabaseUrl } = bindings
  const { lost } = database
  return {
    url,
    supabaseUrl,
    databaseUrl: database.url,
    ...owned,
    chains,
    merchant,
    mail,
    dkim,
    lost,
  }
}

async function openDatabase({ directory, fresh, endings, signal, say }: Start) {
  const starting = startLastingPostgres({ directory, signal, say })
  const server = await endings.keep(starting, ({ stop }) => stop())
  const applied = await migrate(server.url).catch((error: unknown) => {
    throw new Error(`${String(error)} (if another version made the database: ${reset})`)
  })
  if (fresh) await requireNoWallets(server.url, join(directory, 'secrets.json'))
  say(`database ready${applied.length > 0 ? `, ${applied.length} migrations applied` : ''}`)
  return server
}

/** Refuses a database whose wallets no root can open any more. */
async function requireNoWallets(databaseUrl: string, secretsFile: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  try {
    if (!(await holdsWallets(sql))) return
    throw new Error(`the database holds wallets, but ${secretsFile} was lost: ${reset}`)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function openGateway({ databaseUrl, ports, secrets, endings }: Opening): Promise<void> {
  const { keys } = projectOfSecrets(secrets)
  const starting = startGateway({ databaseUrl, port: ports.gateway, schema: 'api', keys })
  await endings.keep(starting, (gateway) => gateway.close())
}

async function openChain(start: Start, chainId: LocalChainId, port: number): Promise<Chain> {
  const stateFile = join(start.directory, `chain-${chainId}.json`)
  const pace = { blockTimeSeconds, mineAtOnce: true }
  const starting = startChain({ chainId, port, stateFile, ...pace })
  const chain = await start.endings.keep(starting, ({ stop }) => stop())
  start.say(`chain ${chainId} ready`)
  return chain
}

async function openMerchant(
  start: Start,
  facilitatorUrl: string,
  chains: readonly [Chain, ...Chain[]],
) {
  const { endings, ports } = start
  const starting = startMerchant({ facilitatorUrl, chains, port: ports.merchant })
  const merchant = await endings.keep(starting, ({ close }) => close())
  start.say('x402 facilitator and merchant ready')
  return merchant
}

type Opening = Start & { databaseUrl: string }

type Provisioning = Opening & { bindings: Record<string, string> }

async function provision(opening: Provisioning, chains: readonly Chain[]) {
  const { databaseUrl, bindings, secrets, directory, say } = opening
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  const secretsFile = join(directory, 'secrets.json')
  try {
    writePrivate(secretsFile, secrets)
    const roots = readRoots(JSON.stringify(secrets.custody_roots), 'custody')
    const owner = await ownedAccount(sql, roots, 'demo')
    const shop = await ownedAccount(sql, roots, 'shop')
    const apiKeys = await ownedKeys(sql, owner, secrets)
    await readyOwner(sql, worldFrom(bindings), owner, secrets.owner_password)
    writePrivate(secretsFile, { ...secrets, api_keys: apiKeys })
    for (const chain of chains) {
      const filled = await fillWallet(chain, owner)
      if (filled) say(`chain ${chain.chainId}: ${fillingOf(chain)} minted to demo's wallet`)
      const { reopened, orphaned } = await readyGasPayers(sql, roots, chain)
      if (reopened + orphaned > 0) say(explainRepair(chain, reopened, orphaned))
    }
    const person = { ...owner, email: ownerEmail, password: secrets.owner_password }
    return { owner: person, shop, apiKeys, payee: secrets.payee }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const reset = 'begin anew with npm start -- --reset'

function explainRepair({ chainId }: Chain, reopened: number, orphaned: number): string {
  const lost = `chain ${chainId} was not saved when it last ended and is older than the database`
  const done = `${reopened} transactions are sent again, ${orphaned} settled payments lost their block`
  return `${lost}: ${done}. If something looks wrong, ${reset}`
}
