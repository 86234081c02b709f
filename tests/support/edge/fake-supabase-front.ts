/**
 * A fake of the front of Supabase Edge Functions, with real Deno behind it: each function is a process of its own,
 * with network and environment and nothing else, and starts at its first request. As there, a request arrives with
 * the function's name as path, a client's own cf-connecting-ip is replaced and its x-forwarded-for is kept, and HTML
 * becomes plain text. No JWT is verified: the written settings must say so for each function, or it is not served.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'smol-toml'
import * as z from 'zod'
import { root } from '../tidy/files.ts'

const configSchema = z.object({
  project_id: z.string().regex(/^[a-z]{20}$/),
  functions: z.record(
    z.string(),
    z.strictObject({ verify_jwt: z.literal(false), entrypoint: z.string() }),
  ),
})
/** The program itself: the one in .bin is a parent that leaves it behind when it is killed. */
const deno = join(root, 'node_modules/@deno/linux-x64-glibc/deno')

export type Front = {
  /** Names of the functions. */
  names: string[]
  /** Answers a request for `/functions/v1/<name>`. */
  answer(request: Request): Promise<Response>
  stop(): Promise<void>
}

/** Serves the folder that the CLI would deploy, with the values of env files. It refuses names as the platform does. */
export function openFront(
  directory: string,
  envFiles: readonly string[],
  log: (line: string) => void,
): Front {
  const config = join(directory, 'config.toml')
  const { functions } = configSchema.parse(parse(readFileSync(config, 'utf8')))
  const secrets = Object.assign({}, ...envFiles.map(valuesIn)) as Record<string, string>
  const reserved = Object.keys(secrets).find((name) => name.startsWith('SUPABASE_'))
  if (reserved) throw new Error(`Env name cannot start with SUPABASE_, skipping: ${reserved}`)
  const cache = mkdtempSync(join(tmpdir(), 'aoa-deno-'))
  const children: ChildProcess[] = []
  const started = new Map<string, Promise<string>>()
  const addressOf = (name: string) => {
    const entrypoint = join(dirname(config), functions[name]?.entrypoint ?? '')
    const environment = { ...secrets, DENO_DIR: cache }
    const known = started.get(name) ?? startDeno({ entrypoint, environment, children, log })
    started.set(name, known)
    return known
  }
  return {
    names: Object.keys(functions),
    async answer(request) {
      const { pathname, search } = new URL(request.url)
      const [, name = '', rest = ''] = /^\/functions\/v1\/([\w-]+)(\/.*)?$/.exec(pathname) ?? []
      if (!functions[name]) return Response.json({ code: 'NOT_FOUND' }, { status: 404 })
      const headers = new Headers(request.headers)
      headers.set('cf-connecting-ip', '127.0.0.1')
      headers.append('x-forwarded-for', '127.0.0.1')
      const body = request.method === 'GET' ? undefined : await request.arrayBuffer()
      const { method, signal } = request
      const url = `${await addressOf(name)}/${name}${rest}${search}`
      const answer = await fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(body && { body }),
      })
      return withoutHtml(answer)
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL')
      rmSync(cache, { recursive: true, force: true })
    },
  }
}

/** Reads lines NAME='value', as godotenv does; it takes a value in single quotes as it is. */
function valuesIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([A-Z_]+)='([^']*)'$/.exec(line) ?? []
      if (name === undefined || value === undefined) throw new Error(`no value: ${line}`)
      return [name, value]
    }),
  )
}

function withoutHtml(answer: Response): Response {
  const headers = new Headers(answer.headers)
  headers.delete('content-encoding')
  if (headers.get('content-type')?.startsWith('text/html'))
    headers.set('content-type', 'text/plain')
  return new Response(answer.body, { status: answer.status, headers })
}

type Starting = {
  entrypoint: string
  environment: Record<string, string>
  children: ChildProcess[]
  log: (line: string) => void
}

/** Starts a function on a free port of loopback. Returns its address. */
async function startDeno({ entrypoint, environment, children, log }: Starting): Promise<string> {
  const flags = ['--allow-net', '--allow-env', '--no-prompt', '--no-remote', '--no-npm']
  const child = spawn(deno, ['run', ...flags, entrypoint], {
    env: { ...environment, NO_COLOR: '1', DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let said = ''
  const listening = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      log(chunk.toString().trimEnd())
      const [address] = /http:\/\/127\.0\.0\.1:[0-9]+/.exec(said) ?? []
      if (address) listening.resolve(address)
    })
  }
  child.once('exit', () => listening.reject(new Error(`Deno ended: ${said}`)))
  return listening.promise
}
