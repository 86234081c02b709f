/** A service or a local world, started as an operator starts it, and its owner's first steps. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import * as z from 'zod'

export const startTimeoutMilliseconds = 90_000

export type Run = {
  output(): string
  pid: number
  exit: Promise<number | null>
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts a program of scripts/ in a process group of its own, and waits until it is ready. */
export async function startProgram(
  name: 'serve' | 'start' | 'upgrade',
  flags: string[],
): Promise<Run> {
  const script = fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url))
  const { DATABASE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [script, ...flags], { env, detached: true, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const exit = once(child, 'exit').then(([code]) => z.number().nullable().parse(code))
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(`it ended at once:\n${output}`)
    return output.includes('ready on')
  }
  await vi.waitUntil(isReady, { timeout: startTimeoutMilliseconds, interval: 20 })
  const pid = z.number().parse(child.pid)
  const end = (signal: NodeJS.Signals) => {
    process.kill(-pid, signal)
    return exit
  }
  return { output: () => output, pid, exit, end }
}

/** Starts the service. */
export function serve(...flags: string[]): Promise<Run> {
  return startProgram('serve', flags)
}

/** Opens the first account by the link that was printed. Returns its key. */
export function register(run: Run): Promise<string> {
  const [link = ''] = /http:\/\/localhost:\d+\/web\/register\/\S+/.exec(run.output()) ?? []
  return registerBy(link, 'kestrel')
}

/** Opens an account by a link, as its owner does without scripts. Returns its key. */
export async function registerBy(link: string, alias: string): Promise<string> {
  const page = await fetch(link)
  const cookies = page.headers.getSetCookie().map((line) => line.split(';')[0])
  const html = await page.text()
  const hidden = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const fields = hidden.map(([, name = '', value = '']): [string, string] => [name, value])
  const own = { alias, password: 'four quiet words at home' }
  const opened = await fetch(link, {
    method: 'POST',
    headers: { cookie: cookies.join('; '), origin: new URL(link).origin },
    body: new URLSearchParams({ ...Object.fromEntries(fields), ...own }),
  })
  const shown = await opened.text()
  const [key] = /aoa_live_\w{36}/.exec(shown) ?? []
  if (key === undefined) throw new Error(`no key on the page: ${shown.replaceAll(/<[^>]*>/g, ' ')}`)
  return key
}

/** Sends a request with a key to a function of the service. */
export async function callService(
  base: string,
  key: string,
  path: string,
  {
    body,
    headers,
  }: { body?: object | undefined; headers?: Record<string, string> | undefined } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${base}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: z.looseObject({}).parse(await answer.json()) }
}
