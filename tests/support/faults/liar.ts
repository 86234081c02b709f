/** An endpoint that lies about some of what its node says, and tells the truth about the rest. */
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionResult,
  numberToHex,
  toFunctionSelector,
} from 'viem'
import * as z from 'zod'
import { listen } from '../../../scripts/local/listen.ts'
import { multicallAbi } from '../../../shared/chains/evm/abi.ts'
import { hexSchema } from '../../../shared/chains/hex.ts'
import { atEnd } from '../ending.ts'

/** Changes a request before it reaches the node, or the answer before it leaves. */
export type Lie = {
  asked?: (body: string) => string
  told?: (body: string, asked: string) => string
}

export type Liar = { url: string; tell(...lies: Lie[]): void }

export async function startLiar(nodeUrl: string): Promise<Liar> {
  let lies: Lie[] = []
  const { url, close } = await listen(async (request) => {
    const said = await request.text()
    const asked = lies.reduce((body, { asked: change }) => change?.(body) ?? body, said)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(nodeUrl, { method: 'POST', headers, body: asked })
    const truth = await answer.text()
    return new Response(
      lies.reduce((body, { told: change }) => change?.(body, said) ?? body, truth),
      { status: answer.status, headers },
    )
  })
  atEnd(close)
  return { url, tell: (...told) => void (lies = told) }
}

const nearSeconds = 10_000_000n
const words = /[0-9a-f]{64}/g

/** Every time that is told, in a block or by a contract, is so much later. */
export function laterBy(seconds: number): Lie {
  const now = BigInt(Math.floor(Date.now() / 1000))
  const isTime = (value: bigint) => value > now - nearSeconds && value < now + nearSeconds
  const later = (text: string) => {
    const value = BigInt(`0x${text}`)
    return isTime(value) ? (value + BigInt(seconds)).toString(16).padStart(text.length, '0') : text
  }
  return {
    told: (body) =>
      body
        .replace(/(?<="timestamp":"0x)[0-9a-f]+/g, later)
        .replace(/(?<="result":"0x)[0-9a-f]+/g, (data) => data.replace(words, later)),
  }
}

/** Nothing has happened since that block, which is final. */
export function stoppedAt(block: unknown): Lie {
  return {
    asked: (body) => body.replace(/"(latest|safe|finalized|pending)"/g, JSON.stringify(block)),
  }
}

/** The tip that blocks took is another one. */
export function tipping(wei: bigint): Lie {
  const tip = `0x${wei.toString(16)}`
  return {
    told: (body) => body.replace(/"reward":\[.*?\]\]/g, `"reward":[["${tip}"]]`),
  }
}

const batchSchema = z.array(z.looseObject({ id: z.unknown() }))
const snapshotSchema = z.object({
  method: z.literal('eth_call'),
  params: z.tuple([z.object({ data: hexSchema })], z.unknown()),
})
const resultSchema = z.object({ result: hexSchema })

/** Inside a multicall every call of this function answers this word. */
export function answering(signature: string, word: bigint): Lie {
  const selector = toFunctionSelector(signature)
  const said = { success: true, returnData: numberToHex(word, { size: 32 }) }
  const change = (asked: unknown, told: Record<string, unknown>) => {
    const call = snapshotSchema.safeParse(asked)
    const answer = resultSchema.safeParse(told)
    if (!call.success || !answer.success) return told
    const asking = decodeFunctionData({ abi: multicallAbi, data: call.data.params[0].data })
    const inner = asking.functionName === 'aggregate3' ? asking.args[0] : []
    const results = decodeFunctionResult({
      abi: multicallAbi,
      functionName: 'aggregate3',
      data: answer.data.result,
    })
    const result = results.map((one, at) => (inner[at]?.callData.startsWith(selector) ? said : one))
    return {
      ...told,
      result: encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result }),
    }
  }
  return {
    told: (body, asked) => {
      const calls = batchSchema.parse([JSON.parse(asked)].flat())
      const answers = batchSchema.parse([JSON.parse(body)].flat())
      const callOf = (id: unknown) => calls.find((call) => call.id === id)
      return JSON.stringify(answers.map((one) => change(callOf(one.id), one)))
    },
  }
}
