/**
 * Processes of single functions, as bindings for the others. A process that ends is started again; calls
 * that it had not answered fail, and their callers treat that as a lost answer.
 */
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { bindingOf, type Reached } from '../../shared/remote/binding.ts'
import type { Birth, Http } from './child.ts'
import { childProgram } from './platform.ts'

const restartMilliseconds = 500
const startTimeoutMilliseconds = 30_000

/** A running process; its binding answers any method of the function's port. */
export type Child = { binding: object; stop: () => Promise<void> }

const childMessage = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ line: z.string() }),
  z.object({ id: z.int(), value: z.unknown().optional(), error: z.string().optional() }),
])
const answered = z.object({
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.instanceof(Uint8Array),
})

type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void }

/** Receivers of what a process reports: its ends, and the lines of its log. */
export type Listeners = { say: (line: string) => void; hear: (line: string) => void }

/** Starts the process. It answers calls when this resolves. */
export async function startChild(birth: Birth, { say, hear }: Listeners): Promise<Child> {
  const waiting = new Map<number, Waiting>()
  let [next, isStopping] = [0, false]
  let running = await spawn(birth, waiting, hear)
  const watch = async (): Promise<void> => {
    await running.ended
    for (const { reject } of waiting.values()) reject(new Error(`${birth.folder} ended`))
    waiting.clear()
    if (isStopping) return
    say(`${birth.folder} ended and is started again`)
    await pause(restartMilliseconds)
    if (isStopping) return
    running = await spawn(birth, waiting, hear).catch(() => running)
    if (isStopping && running.child.connected) running.child.disconnect()
    return watch()
  }
  const watching = watch()
  const call = (method: string, args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      const id = next++
      waiting.set(id, { resolve, reject })
      running.child.send({ id, method, args }, (error) => {
        if (!error) return
        waiting.delete(id)
        reject(error)
      })
    })
  const stop = async () => {
    isStopping = true
    if (running.child.connected) running.child.disconnect()
    await watching
  }
  const reached = { call, fetch: (request: Request) => fetchBy(call, request) }
  return { binding: bindingOf(() => reached), stop }
}

async function spawn(birth: Birth, waiting: Map<number, Waiting>, hear: Listeners['hear']) {
  const child = fork(join(birth.modules, childProgram), [birth.folder, birth.directory], {
    serialization: 'advanced',
    // The environment may hold the login of the database's owner.
    env: {},
    stdio: 'inherit',
  })
  const ready = Promise.withResolvers<void>()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.on('message', (message) => {
    const answer = childMessage.parse(message)
    if ('ready' in answer) return ready.resolve()
    if ('line' in answer) return hear(answer.line)
    const asker = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (answer.error === undefined) asker?.resolve(answer.value)
    else asker?.reject(new Error(answer.error))
  })
  child.send(birth)
  await withinStart(
    child,
    Promise.race([
      ready.promise,
      ended.then(() => Promise.reject(new Error(`${birth.folder} did not start`))),
    ]),
  )
  return { child, ended }
}

async function withinStart(child: ChildProcess, started: Promise<void>): Promise<void> {
  const timer = setTimeout(() => child.kill(), startTimeoutMilliseconds)
  await started.finally(() => clearTimeout(timer))
}

type Call = Reached['call']

async function fetchBy(call: Call, request: Request): Promise<Response> {
  const { url, method } = request
  const body = new Uint8Array(await request.arrayBuffer())
  const sent: Http = {
    url,
    method,
    headers: [...request.headers],
    ...(body.length > 0 && { body }),
  }
  const { status, headers, body: bytes } = answered.parse(await call('fetch', [sent]))
  return new Response(Buffer.from(bytes), { status, headers })
}
