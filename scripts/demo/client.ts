/** The typed client as the demo uses it, which prints each call, and the checks of the demo. */
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import { type AccountClient, AccountError, createClient } from '../client/index.ts'
import { callRpc } from '../local/chain/rpc.ts'

/** Opens a client that prints method, path and status of each call. */
export function openClient({ base_url }: WorldFile, apiKey?: string): AccountClient {
  const printing = async (url: string, init: RequestInit) => {
    const answer = await fetch(url, init)
    console.log(`  ${init.method} ${url.slice(base_url.length)} -> ${answer.status}`)
    return answer
  }
  return createClient({ baseUrl: base_url, apiKey, deviceId: 'demo', fetch: printing })
}

/** Returns the status and error code of a call that must be refused. */
export async function describeRefusal(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    if (error instanceof AccountError) return `${error.status} ${error.code}`
    throw error
  }
  return '200'
}

const looksMax = 50
const lookEveryMilliseconds = 200

/** Polls the status of a transfer until it is settled; throws if that takes more than 50 looks. */
export async function mustSettle(account: AccountClient, hash: string | undefined): Promise<void> {
  let shown = 'not asked'
  for (let look = 0; look < looksMax && shown !== 'settled'; look += 1) {
    if (look > 0) await new Promise((resolve) => setTimeout(resolve, lookEveryMilliseconds))
    shown = (await account.transferStatus({ tx_hash: hash })).status
  }
  mustBe('the status of the transfer', shown, 'settled')
}

/** Throws unless the two are the same as text. */
export function mustBe(what: string, found: unknown, expected: unknown): void {
  const [is, must] = [String(found), String(expected)]
  if (is !== must) throw new Error(`${what} is ${is} and must be ${must}`)
  console.log(`  ok: ${what} is ${is}`)
}

/** Returns the USDC of an address on the first chain, in atomic units. */
export async function usdcOf({ chains }: WorldFile, address: string): Promise<bigint> {
  const [chain] = chains
  if (!chain) throw new Error('the world has no chain')
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const [held] = await callRpc(chain.rpc_url, [['eth_call', { to: chain.usdc, data }, 'latest']])
  return BigInt(z.string().parse(held))
}

/** Makes one call of each kind and compares status and error code. */
export async function refusals(world: WorldFile): Promise<void> {
  console.log('\nWhat must be refused')
  const order = { recipient: world.shop.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  const reader = openClient(world, world.api_keys.read)
  const ofOldForm = openClient({ ...world, base_url: `${world.base_url}/v1` }, world.api_keys.read)
  const withoutToken = await describeRefusal(openClient(world).walletCustodialTransfer(order))
  const byReader = await describeRefusal(reader.walletCustodialTransfer(order))
  const oldForm = await describeRefusal(ofOldForm.getIdentity())
  const pageTooLong = await describeRefusal(reader.walletActivityList({ limit: '51' }))
  mustBe('a transfer without a token', withoutToken, '401 unauthorized')
  mustBe('a transfer with a read key', byReader, '403 insufficient_scope')
  mustBe('a path with a version in it', oldForm, '404 not_found')
  mustBe('a page of 51 items', pageTooLong, '400 invalid_request')
}

/** Schema of the file that a running world writes for other programs. */
export const worldFile = z.object({
  base_url: z.url(),
  web_url: z.url(),
  api_keys: z.object({ read: z.string(), pay: z.string(), full: z.string() }),
  owner: z.object({
    email: z.string(),
    password: z.string(),
    alias: z.string(),
    address: z.string(),
  }),
  shop: z.object({ alias: z.string(), address: z.string() }),
  payee: z.string(),
  chains: z.array(z.object({ id: z.int(), rpc_url: z.url(), usdc: z.string() })).min(1),
  merchant: z.object({ v1_url: z.url(), v2_url: z.url() }),
  mail: z.object({ outbox_url: z.url(), smtp_url: z.url() }),
})

/** Addresses and keys of a running world. */
export type WorldFile = z.output<typeof worldFile>

/** Reads the file. If it is missing, throws an error that says what to do. */
export function readWorldFile(file: string): WorldFile {
  if (!existsSync(file)) throw new Error(`${file} is missing: start the local world with npm start`)
  return worldFile.parse(JSON.parse(readFileSync(file, 'utf8')))
}
