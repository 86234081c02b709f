/** An endpoint that lies about some of what its node says, and tells the truth about the rest. */
import * as z from 'zod'
import { listen } from '../../../scripts/local/listen.ts'
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

const call = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) })
const answer = z.looseObject({ id: z.unknown(), result: z.unknown() })
const oneOrMany = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), item.transform((one) => [one])])

/** What a method answers is changed, or refused with an error where the change throws. */
export function saying(
  method: string,
  change: (result: unknown, params: readonly unknown[]) => unknown,
): Lie {
  return {
    told: (body, asked) => {
      const calls = oneOrMany(call).parse(JSON.parse(asked))
      const answers = oneOrMany(answer)
        .parse(JSON.parse(body))
        .map((one) => {
          const about = calls.find(({ id }) => id === one.id)
          return about?.method === method
            ? changed(one, () => change(one.result, about.params))
            : one
        })
      return JSON.stringify(asked.startsWith('[') ? answers : answers[0])
    },
  }
}

function changed(one: object & { id?: unknown }, result: () => unknown): object {
  try {
    return { ...one, result: result() }
  } catch (error) {
    return { jsonrpc: '2.0', id: one.id, error: { code: -32000, message: String(error) } }
  }
}

/** So many more transactions of every address are mined, or fewer. */
export function counting(more: number): Lie {
  return saying('eth_getTransactionCount', (count) => {
    return `0x${Math.max(Number(count) + more, 0).toString(16)}`
  })
}

/** Nothing is answered to any call. */
export const silent: Lie = { told: () => 'out of service' }

/** The latest block is final already. */
export const finalAtOnce: Lie = {
  asked: (body) => body.replace(/"(safe|finalized)"/g, '"latest"'),
}
