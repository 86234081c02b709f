/** The command that takes the words of curl, and pays where the answer is 402. */
import {
  closeSync,
  createWriteStream,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { buy, buying, buyingHelp, readHeaderLines, writeBought } from './buying.ts'
import { type Call, type Command, needed, UsageError } from './command.ts'
import { exitCodes } from './exit-codes.ts'

/** Options of curl that mean the same here. */
const known = {
  request: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd', multiple: true },
  'data-raw': { type: 'string', multiple: true },
  'data-binary': { type: 'string', multiple: true },
  json: { type: 'string', multiple: true },
  user: { type: 'string', short: 'u' },
  'user-agent': { type: 'string', short: 'A' },
  url: { type: 'string' },
  output: { type: 'string', short: 'o' },
  include: { type: 'boolean', short: 'i' },
  location: { type: 'boolean', short: 'L' },
  fail: { type: 'boolean', short: 'f' },
  silent: { type: 'boolean', short: 's' },
  'show-error': { type: 'boolean', short: 'S' },
  compressed: { type: 'boolean' },
} as const

const curl: Command = {
  usage: '[--max-usd 1] -- <words of curl>',
  summary: 'send a request written for curl, and pay for it where it answers 402',
  options: buying,
  help: `${buyingHelp}

After -- it knows -X, -H, -d, --data-raw, --data-binary, --json, -u, -A, -o, -i, -L, -f, -s, -S, --compressed and
--url, with the meanings that they have for curl.`,
  examples: [
    `aoa curl --max-usd 0.25 -- -sS https://shop.example/ask --json '{"q": 1}' -o answer.json`,
  ],
  async run(call) {
    const { values, positionals, tokens } = wordsOfCurl(call.words)
    const url = values.url ?? needed({ words: positionals }, 0, 'the address')
    const request = requestOf(values, bodyOf(tokens))
    // Before anything is paid for: a file that cannot be written buys nothing.
    const output = openOutput(call, values.output)
    const answer = await buy(call, url.includes('://') ? url : `http://${url}`, request).catch(
      (error: unknown) => {
        output.leave()
        throw error
      },
    )
    if (typeof answer === 'number') {
      output.leave()
      return answer
    }
    if (values.fail && !answer.ok) {
      output.leave()
      call.screen.say(`the server answered ${answer.status}`)
      return exitCodes.failed
    }
    const out = output.begin()
    if (values.include) await writeHead(out, answer)
    return (await writeBought(call, answer, out)) ?? 0
  },
}

type Output = {
  /** Returns the stream, whose file is empty now. */
  begin: () => WritableStream<Uint8Array>
  /** Leaves a file as it was. */
  leave: () => void
}

/** Opens the file of -o; without one, the answer goes to standard output. */
function openOutput({ screen }: Pick<Call, 'screen'>, path = '-'): Output {
  if (path === '-') {
    const write = (bytes: Uint8Array) => screen.write(bytes)
    return { begin: () => new WritableStream({ write }), leave() {} }
  }
  const isNew = !existsSync(path)
  const file = openSync(path, 'a')
  return {
    begin() {
      ftruncateSync(file)
      return Writable.toWeb(createWriteStream(path, { fd: file }))
    },
    leave() {
      closeSync(file)
      if (isNew) rmSync(path)
    },
  }
}

function wordsOfCurl(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: known, allowPositionals: true, tokens: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

type Words = ReturnType<typeof wordsOfCurl>['values']

function requestOf(values: Words, body: RequestInit['body']): RequestInit {
  const headers = readHeaderLines(values.header ?? [])
  const suppose = (name: string, value: string | undefined) => {
    if (value !== undefined && !headers.has(name)) headers.set(name, value)
  }
  suppose('user-agent', values['user-agent'])
  suppose('authorization', values.user && `Basic ${btoa(values.user)}`)
  if (values.json !== undefined) suppose('accept', 'application/json')
  if (body != null) {
    suppose('content-type', values.json === undefined ? form : 'application/json')
  }
  return {
    method: values.request ?? (body == null ? 'GET' : 'POST'),
    headers,
    redirect: values.location ? 'follow' : 'manual',
    ...(body != null && { body }),
  }
}

const form = 'application/x-www-form-urlencoded'

type Tokens = ReturnType<typeof wordsOfCurl>['tokens']

/** Returns the body: all parts in their order, joined by &, and those of --json by nothing, as curl does. */
function bodyOf(tokens: Tokens): Uint8Array<ArrayBuffer> | undefined {
  const parts = tokens.flatMap((token) => {
    if (token.kind !== 'option' || typeof token.value !== 'string') return []
    const bytes = bytesAdded(token.name, token.value)
    return bytes ? [{ bytes, joint: token.name === 'json' ? '' : '&' }] : []
  })
  if (parts.length === 0) return undefined
  const joined = parts.flatMap(({ bytes, joint }, at) => (at === 0 ? [bytes] : [joint, bytes]))
  return new Uint8Array(Buffer.concat(joined.map((part) => Buffer.from(part))))
}

/** Returns the bytes that an option adds to the body. Files of -d lose their line ends. */
function bytesAdded(option: string, value: string): string | Buffer | undefined {
  switch (option) {
    case 'data-raw':
      return value
    case 'data':
      return value.startsWith('@')
        ? readInput(value)
            .toString()
            .replaceAll(/[\r\n]/g, '')
        : value
    case 'data-binary':
    case 'json':
      return value.startsWith('@') ? readInput(value) : value
    default:
      return undefined
  }
}

function readInput(name: string): Buffer {
  return readFileSync(name === '@-' ? 0 : name.slice(1))
}

async function writeHead(out: WritableStream<Uint8Array>, answer: Response): Promise<void> {
  const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${answer.status} ${answer.statusText}`.trim(), ...lines, '', ''].join(
    '\r\n',
  )
  const writer = out.getWriter()
  await writer.write(new TextEncoder().encode(head))
  writer.releaseLock()
}

/** Command by name. */
export const curlCommands = { curl }
