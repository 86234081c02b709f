/** An endpoint that lies about some of its node's answers and tells the truth about the rest. */
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionResult,
  numberToHex,
  toFunctionSelector,
} from 'viem'
import * as z from 'zod'
import { listen } from '../../../scripts/local/process/listen.ts'
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

/** Makes every time in a block or from a contract later by this many seconds. */
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

/** Shows this block as the latest and final one; nothing has happened since. */
export function stoppedAt(block: unknown): Lie {
  return {
    asked: (body) => body.replace(/"(latest|safe|finalized|pending)"/g, JSON.stringify(block)),
  }
}

/** Hides the states of blocks before the latest, the final one included. */
export function forgetting(): Lie {
  const past = /("method":"eth_call","params":\[\{[^}]*\}),"(?:finalized|safe|0x[0-9a-f]+)"/g
  return { asked: (body) => body.replace(past, '$1,"0xffffffff"') }
}

/** Answers every call of this method with an error. */
export function refusingCalls(method: string): Lie {
  return { asked: (body) => body.replaceAll(`"${method}"`, '"eth_unknown"') }
}

/** Answers nothing at all. */
export function silent(): Lie {
  return { told: () => '' }
}

/** Reports another tip as the one that blocks accept. */
export function tipping(wei: bigint): Lie {
  const tip = `0x${wei.toString(16)}`
  return {
    told: (body) => body.replace(/"reward":\[.*?\]\]/g, `"reward":[["${tip}"]]`),
  }
}

const call = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) })
const answer = z.looseObject({ id: z.unknown(), result: z.unknown().optional() })
const oneOrMany = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), item.transform((one) => [one])])

/** Changes the results of a method. Where the change throws, the answer is an error. */
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
          return about?.method === method && !('error' in one)
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

/** Reports this many more, or fewer, mined transactions of every address. */
export function counting(more: number): Lie {
  return saying('eth_getTransactionCount', (count) => {
    return `0x${Math.max(Number(count) + more, 0).toString(16)}`
  })
}

/** Shows the latest block as final already. */
export const finalAtOnce: Lie = {
  asked: (body) => body.replace(/"(safe|finalized)"/g, '"latest"'),
}

const logs = z.array(z.looseObject({ topics: z.array(z.string()) }))
type Log = z.output<typeof logs>[number]
const filter = z.object({ fromBlock: z.string().optional(), toBlock: z.string().optional() })

/** Hides logs with this first topic. */
export function hiding(topic: string): Lie {
  return saying('eth_getLogs', (read) => logs.parse(read).filter((log) => log.topics[0] !== topic))
}

/** Adds this log to its block. */
export function inventing(log: Log & { blockNumber: string }): Lie {
  return saying('eth_getLogs', (read, params) => {
    const { fromBlock = '0x0', toBlock = '0x0' } = z.tuple([filter]).parse(params)[0]
    const [from, at, to] = [fromBlock, log.blockNumber, toBlock].map(Number)
    const isAsked =
      from !== undefined && at !== undefined && to !== undefined && from <= at && at <= to
    return isAsked ? [log, ...logs.parse(read)] : read
  })
}

const block = z.looseObject({ number: z.string() })
const tagged = z.tuple([z.string(), z.boolean()])

/** Moves the tip and final block ahead by this many blocks, without any transfer up to them. */
export function aheadBy(blocks: number): Lie {
  const asked = (body: string) => body.replace(/"(fromBlock|toBlock)":"0x[0-9a-f]+"/g, '"$1":"0x0"')
  const heads = saying('eth_getBlockByNumber', (read, params) => {
    const [tag] = tagged.parse(params)
    const told = block.safeParse(read)
    if (!told.success) return { number: tag, hash: `0x${'b'.repeat(64)}`, timestamp: '0x1' }
    if (tag.startsWith('0x')) return read
    return { ...told.data, number: `0x${(Number(told.data.number) + blocks).toString(16)}` }
  })
  return { asked, ...heads }
}

const snapshotSchema = z.tuple([z.object({ data: hexSchema })], z.unknown())

/** Answers every call of this function inside a multicall with this word. */
export function answering(signature: string, word: bigint): Lie {
  const selector = toFunctionSelector(signature)
  const said = { success: true, returnData: numberToHex(word, { size: 32 }) }
  return saying('eth_call', (read, params) => {
    const call = snapshotSchema.safeParse(params)
    const answer = hexSchema.safeParse(read)
    if (!call.success || !answer.success) return read
    const asking = decodeFunctionData({ abi: multicallAbi, data: call.data[0].data })
    const inner = asking.functionName === 'aggregate3' ? asking.args[0] : []
    const [abi, functionName] = [multicallAbi, 'aggregate3'] as const
    const results = decodeFunctionResult({ abi, functionName, data: answer.data })
    const result = results.map((one, at) => (inner[at]?.callData.startsWith(selector) ? said : one))
    return encodeFunctionResult({ abi, functionName, result })
  })
}
