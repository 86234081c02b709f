/** The command that takes the words of curl, and pays where the answer is 402. */
import { createWriteStream, readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { buy, buying, buyingHelp, readHeaderLines } from './buying.ts'
import { type Command, needed, UsageError } from './command.ts'

/** Options of curl that mean the same here. */
const known = {
  request: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd', multiple: true },
  'data-raw': { type: 'string', multiple: true },
  'data-binary': { type: 'string', multiple: true },
  json: { type: 'string' },
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
    const { values, positionals } = wordsOfCurl(call.words)
    const url = values.url ?? needed({ words: positionals }, 0, 'the address')
    const answer = await buy(call, url.includes('://') ? url : `http://${url}`, requestOf(values))
    if (typeof answer === 'number') return answer
    if (values.fail && !answer.ok) {
      call.screen.say(`the server answered ${answer.status}`)
      return 1
    }
    const out =
      values.output === undefined || values.output === '-'
        ? new WritableStream({ write: (bytes: Uint8Array) => call.screen.write(bytes) })
        : Writable.toWeb(createWriteStream(values.output))
    if (values.include) await writeHead(out, answer)
    if (answer.body) await answer.body.pipeTo(out)
    else await out.close()
    return 0
  },
}

function wordsOfCurl(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: known, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

type Words = ReturnType<typeof wordsOfCurl>['values']

function requestOf(values: Words): RequestInit {
  const headers = readHeaderLines(values.header ?? [])
  const body = bodyOf(values)
  const suppose = (name: string, value: string | undefined) => {
    if (value !== undefined && !headers.has(name)) headers.set(name, value)
  }
  suppose('user-agent', values['user-agent'])
  suppose('authorization', values.user && `Basic ${btoa(values.user)}`)
  if (values.json !== undefined) suppose('accept', 'application/json')
  if (body !== undefined) {
    suppose('content-type', values.json === undefined ? form : 'application/json')
  }
  return {
    method: values.request ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    redirect: values.location ? 'follow' : 'manual',
    ...(body !== undefined && { body }),
  }
}

const form = 'application/x-www-form-urlencoded'

/** Returns the body; `@file` is read, and a line break in a file of -d is dropped, as curl does. */
function bodyOf(values: Words): string | undefined {
  const parts = [
    ...(values.data ?? []).map((part) =>
      fileOr(part).replaceAll(part.startsWith('@') ? /[\r\n]/g : /$^/g, ''),
    ),
    ...(values['data-raw'] ?? []),
    ...(values['data-binary'] ?? []).map(fileOr),
  ]
  if (values.json !== undefined) parts.push(fileOr(values.json))
  return parts.length === 0 ? undefined : parts.join('&')
}

function fileOr(part: string): string {
  if (!part.startsWith('@')) return part
  return readFileSync(part === '@-' ? 0 : part.slice(1), 'utf8')
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
