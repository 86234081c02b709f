/** A proxy in front of the database's API that records the calls, and which of them overlap. */
import * as z from 'zod'
import { listen } from '../local/listen.ts'

/** Name and arguments of one database function that was called. */
export type Call = { name: string; args: Record<string, unknown> }

/** A running proxy and what it has recorded. */
export type Recorder = {
  url: string
  /** Returns the calls since the last `take`; calls that overlapped are in one group. */
  take(): Call[][]
  close(): Promise<void>
}

const argsSchema = z.record(z.string(), z.unknown())

/** Starts the proxy on a free port. */
export async function startRecorder(gatewayUrl: string): Promise<Recorder> {
  let groups: Call[][] = []
  let open = 0
  const { url, close } = await listen(async (request) => {
    const { pathname } = new URL(request.url)
    const body = await request.text()
    const call = {
      name: pathname.split('/').at(-1) ?? '',
      args: argsSchema.parse(JSON.parse(body)),
    }
    if (open === 0) groups.push([])
    groups.at(-1)?.push(call)
    open += 1
    try {
      const { method, headers } = request
      const answer = await fetch(`${gatewayUrl}${pathname}`, { method, headers, body })
      const plain = { 'content-type': answer.headers.get('content-type') ?? 'application/json' }
      return new Response(await answer.text(), { status: answer.status, headers: plain })
    } finally {
      open -= 1
    }
  })
  const take = () => {
    const taken = groups
    groups = []
    return taken
  }
  return { url, take, close }
}
