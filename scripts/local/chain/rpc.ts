/**
 * JSON-RPC to a local chain: one batch of independent calls, or one transaction from an account that anvil
 * holds. It knows nothing of tokens, and sends again only what the chain did not take.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, type Hex, isHex } from 'viem'
import * as z from 'zod'

const callTimeoutMilliseconds = 15_000
const minedTimeoutMilliseconds = 30_000
const pollMilliseconds = 5

const answers = z.array(
  z.object({
    id: z.int(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
)

const hash = z.custom<Hex>((value) => isHex(value))
const receiptSchema = z.nullable(z.object({ status: z.string() }))

/** Method and parameters of one call. */
export type RpcCall = readonly [method: string, ...params: unknown[]]

/** Returns the results in the order of `calls`. Throws the first error of any of them, with its method. */
export async function callRpc(rpcUrl: string, calls: readonly RpcCall[]): Promise<unknown[]> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params })),
    ),
    signal: AbortSignal.timeout(callTimeoutMilliseconds),
  })
  const byId = new Map(answers.parse(await response.json()).map((answer) => [answer.id, answer]))
  return calls.map(([method], id) => {
    const answer = byId.get(id)
    if (!answer || answer.error) throw new Error(`${method}: ${answer?.error?.message ?? 'lost'}`)
    return answer.result
  })
}

// Anvil gives two transactions that arrive together the same nonce, so each waits for the one before. If one of
// another process was faster, anvil refuses the nonce that it gave, and the transaction is sent again.
const submissionsMax = 5
const submissions = new Map<string, Promise<unknown>>()

/** Sends from an account that the chain holds and waits until it is mined. Throws if it reverts. */
export async function transact(rpcUrl: string, from: Address, to: Address, data: Hex) {
  const submit = () => submitOnce(rpcUrl, { from, to, data }, submissionsMax)
  const submitted = (submissions.get(rpcUrl) ?? Promise.resolve()).then(submit, submit)
  submissions.set(rpcUrl, submitted)
  const transactionHash = hash.parse((await submitted)[0])
  const status = await waitForStatus(rpcUrl, transactionHash)
  if (status !== '0x1') throw new Error(`reverted: ${transactionHash}`)
  return transactionHash
}

async function submitOnce(rpcUrl: string, call: object, triesLeft: number): Promise<unknown[]> {
  try {
    return await callRpc(rpcUrl, [['eth_sendTransaction', call]])
  } catch (error) {
    if (triesLeft > 1 && String(error).includes('nonce too low')) {
      return submitOnce(rpcUrl, call, triesLeft - 1)
    }
    throw error
  }
}

async function waitForStatus(rpcUrl: string, transactionHash: Hex): Promise<string> {
  const deadline = Date.now() + minedTimeoutMilliseconds
  while (Date.now() < deadline) {
    const [receipt] = await callRpc(rpcUrl, [['eth_getTransactionReceipt', transactionHash]])
    const status = receiptSchema.parse(receipt)?.status
    if (status) return status
    await sleep(pollMilliseconds)
  }
  throw new Error(`not mined within ${minedTimeoutMilliseconds} ms: ${transactionHash}`)
}
