/** A small client of the interface for the demo: it prints each call and checks what it must. */
import * as z from 'zod'
import { callRpc } from '../local/rpc.ts'
import type { WorldFile } from './world-file.ts'

export type Client = {
  get<Body>(path: string, body: z.ZodType<Body>): Promise<Body>
  post<Body>(path: string, request: unknown, body: z.ZodType<Body>): Promise<Body>
  /** The status and error code of a call that must be refused. */
  refused(path: string, init?: RequestInit): Promise<string>
}

const refusal = z.object({ error: z.string(), message: z.string() })

export function openClient({ base_url }: WorldFile, key?: string): Client {
  const auth: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { ...auth, 'user-agent': 'demo/1.0', 'content-type': 'application/json' }
    const answer = await fetch(`${base_url}${path}`, { ...init, headers })
    console.log(`  ${init.method ?? 'GET'} ${path} -> ${answer.status}`)
    return { status: answer.status, body: await answer.json() }
  }
  const succeed = async <Body>(path: string, init: RequestInit, body: z.ZodType<Body>) => {
    const answer = await call(path, init)
    if (answer.status !== 200) {
      const { error, message } = refusal.parse(answer.body)
      throw new Error(`${path} answered ${answer.status} ${error}: ${message}`)
    }
    return body.parse(answer.body)
  }
  return {
    get: (path, body) => succeed(path, {}, body),
    post: (path, request, body) =>
      succeed(path, { method: 'POST', body: JSON.stringify(request) }, body),
    async refused(path, init) {
      const { status, body } = await call(path, init)
      return `${status} ${refusal.parse(body).error}`
    },
  }
}

const proof = z.object({ status: z.string(), finality: z.string() })
const looksMax = 50
const lookEveryMilliseconds = 200

/** Asks for the proof of a payment until the chain has it in a block. */
export async function mustSettle(agent: Client, hash: string | undefined): Promise<void> {
  let shown = { status: 'not asked', finality: '' }
  for (let look = 0; look < looksMax && shown.status !== 'settled'; look += 1) {
    if (look > 0) await new Promise((resolve) => setTimeout(resolve, lookEveryMilliseconds))
    shown = await agent.post('/transfer-status', { tx_hash: hash }, proof)
  }
  mustBe('the status of the transfer', shown.status, 'settled')
}

/** Throws unless the two are the same. */
export function mustBe(what: string, found: unknown, expected: unknown): void {
  const [is, must] = [String(found), String(expected)]
  if (is !== must) throw new Error(`${what} is ${is} and must be ${must}`)
  console.log(`  ok: ${what} is ${is}`)
}

/** Atomic USDC of an address on the first chain. */
export async function usdcOf({ chains }: WorldFile, address: string): Promise<bigint> {
  const [chain] = chains
  if (!chain) throw new Error('the world has no chain')
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const [held] = await callRpc(chain.rpc_url, [['eth_call', { to: chain.usdc, data }, 'latest']])
  return BigInt(z.string().parse(held))
}
