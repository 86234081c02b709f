/** Stands in front of the database's API and notes which calls pass, and which of them at once. */
import * as z from 'zod'
import { listen } from '../local/listen.ts'

export type Call = { name: string; args: Record<string, unknown> }

export type Recorder = {
  url: string
  /** What passed since it was asked last; calls that overlapped stand in one group. */
  take(): Call[][]
  close(): Promise<void>
}

const argsSchema = z.record(z.string(), z.unknown())

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
