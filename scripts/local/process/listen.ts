/**
 * Serves a fetch handler on a loopback port. Closing ends idle and busy connections alike, so that a client
 * that never finishes its request cannot hold up a shutdown.
 */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import * as z from 'zod'

/** A running server. */
export type Listening = { url: string; port: number; close: () => Promise<void> }

type FetchHandler = (request: Request) => Response | Promise<Response>

const boundAddress = z.object({ port: z.int().positive() })

/** Serves web-standard requests. Port 0 takes a free one. The error for a taken port names it. */
export function listen(handler: FetchHandler, port = 0): Promise<Listening> {
  const listener = getRequestListener(handler)
  return listenRaw((request, response) => void listener(request, response), port)
}

/** Serves requests for handlers that need the socket itself; otherwise like `listen`. */
export async function listenRaw(listener: RequestListener, port = 0): Promise<Listening> {
  const server = createServer(listener)
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(`could not listen on port ${port}`, { cause: error })
  }
  const bound = boundAddress.parse(server.address()).port
  const close = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${bound}`, port: bound, close }
}
