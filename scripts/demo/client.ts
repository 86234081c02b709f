/** The typed client as the demo uses it, which prints each call, and the checks of the demo. */
import * as z from 'zod'
import { type AccountClient, AccountError, createClient } from '../client/index.ts'
import { callRpc } from '../local/rpc.ts'
import type { WorldFile } from './world-file.ts'

/** Opens a client that prints method, path and status of each call. */
export function openAccount({ base_url }: WorldFile, apiKey?: string): AccountClient {
  const printing = async (url: string, init: RequestInit) => {
    const answer = await fetch(url, init)
    console.log(`  ${init.method} ${url.slice(base_url.length)} -> ${answer.status}`)
    return answer
  }
  return createClient({ baseUrl: base_url, apiKey, deviceId: 'demo', fetch: printing })
}

/** Returns the status and error code of a call that must be refused. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
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
