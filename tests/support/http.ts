/**
 * Small HTTP servers on loopback that answer as a test specifies, remember what they were sent, and end
 * with the test file.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import * as z from 'zod'
import type { Outside } from '../../shared/egress/safe-fetch.ts'
import { type Deadlines, openDeadlines } from './deadlines.ts'
import { atEnd } from './ending.ts'

export type Received = {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}
export type Answering = (response: ServerResponse, received: Received) => void
export type TestServer = { url: string; received: Received[]; closedEarly: () => number }

/** Starts a server that gives every request the same answer. */
export async function serverThat(answer: Answering): Promise<TestServer> {
  const received: Received[] = []
  let closedEarly = 0
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    response.on('close', () => {
      if (!response.writableFinished) closedEarly += 1
    })
    const { method = '', url = '', headers } = request
    const entry = { method, url, headers, body: await buffer(request) }
    received.push(entry)
    answer(response, entry)
  }
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = z.object({ port: z.int() }).parse(server.address())
  return { url: `http://127.0.0.1:${port}/`, received, closedEarly: () => closedEarly }
}

export type WatchedOutside = Outside & { deadlines: number[]; fetched: string[] } & Expiring
type Expiring = Pick<Deadlines, 'expire'>

/** Returns the real network with its deadlines recorded; each passes when the test says so. */
export function outside({ allowLoopback = true } = {}): WatchedOutside {
  const { deadline, watch, expire } = openDeadlines()
  const deadlines: number[] = []
  const fetched: string[] = []
  return {
    config: { allowLoopback },
    deadlines,
    fetched,
    deadline(milliseconds) {
      deadlines.push(milliseconds)
      return deadline(milliseconds)
    },
    fetch: watch((input, init) => {
      fetched.push(input instanceof Request ? input.url : input.toString())
      return fetch(input, init)
    }),
    expire,
  }
}

/** Answers at once with this status, these headers and this body. */
export function answering(
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
): Answering {
  return (response) => void response.writeHead(status, headers).end(body)
}

/** Accepts the request and never answers. */
export const silence: Answering = () => {}

/** Lets the deadline of the request pass: once it was received, or once this answer has begun. */
export function expiring(
  { expire }: Expiring,
  once: 'received' | 'begun' = 'received',
  answer: Answering = silence,
): Answering {
  return (response, received) => {
    const { method, url, headers, body } = received
    const sent = body.length > 0 ? { body: body.toString() } : {}
    expire({ method, url: `http://${headers.host}${url}`, headers, ...sent }, once)
    answer(response, received)
  }
}

/** Sends headers and then one byte at a time, without end. */
export const drip: Answering = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain' })
  const timer = setInterval(() => response.write('.'), 20)
  response.on('close', () => clearInterval(timer))
}

/** Sends zeros as fast as the client reads them. */
export function zeros(bytes: number): Answering {
  return (response) => pour(response.writeHead(200), bytes)
}

/** Sends the same zeros gzipped, which are a thousand times smaller on the wire. */
export function gzipBomb(bytes: number): Answering {
  return (response) => {
    const zip = createGzip()
    zip.on('error', () => {})
    response.on('close', () => zip.destroy())
    zip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }))
    pour(zip, bytes)
  }
}

type Sink = Pick<NodeJS.WritableStream, 'write' | 'end' | 'once'> & { destroyed?: boolean }

function pour(sink: Sink, bytes: number) {
  const chunk = Buffer.alloc(65_536)
  for (let left = bytes; left > 0; left -= chunk.length) {
    if (sink.destroyed) return
    if (!sink.write(chunk)) {
      sink.once('drain', () => pour(sink, left - chunk.length))
      return
    }
  }
  sink.end()
}
