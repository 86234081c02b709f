/**
 * Answers that a client must bound, distrust or read as "unknown". All take the same exchange, so each
 * can be given before payment, instead of settling, or after settling.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { encode } from './terms.ts'

/** One request with all that an answer to it may need. */
export type Exchange = {
  request: IncomingMessage
  response: ServerResponse
  /** Status of an honest answer: 402 before payment, 200 after it. */
  status: number
  /** Headers that an honest answer of this phase would carry. */
  headers: Record<string, string>
  /** Origin that the payer was never told of. */
  elsewhereUrl: string
  /** Repeats the honest challenge. */
  challenge: () => void
  /** Says that no answer comes, or that it never ends. */
  silent: (once: 'received' | 'begun') => void
}

const dribbleMilliseconds = 100
const hugeBytes = 50 * 1024 * 1024
const bombBytes = 64 * 1024 * 1024
const falseHash = `0x${'ab'.repeat(32)}`

/** Answers by the last part of the path. */
export const answers: Readonly<Record<string, (exchange: Exchange) => void>> = {
  ok: (exchange) => send(exchange, exchange.status, { paid: true }),
  'no-receipt': (exchange) => send({ ...exchange, headers: {} }, exchange.status, { paid: true }),
  'status-500': (exchange) => send(exchange, 500, { error: 'internal error' }),
  'challenge-again': (exchange) => exchange.challenge(),
  'false-hash': (exchange) => sendReceipt(exchange, { success: true, transaction: falseHash }),
  'false-failure': (exchange) => sendReceipt(exchange, { success: false, transaction: '' }),
  'false-pending': (exchange) =>
    sendReceipt(exchange, {
      success: false,
      transaction: falseHash,
      errorReason: 'settlement_pending',
    }),
  'malformed-receipt': (exchange) =>
    send({ ...exchange, headers: { 'payment-response': '%%%' } }, exchange.status, { paid: true }),
  'close-socket': ({ request }) => void request.socket.destroy(),
  'half-a-body': (exchange) => sendHalf(exchange),
  'never-answers': (exchange) => exchange.silent('received'),
  dribble: (exchange) => dribble(exchange),
  'huge-body': (exchange) => void stream(exchange, hugeBytes, false),
  'gzip-bomb': (exchange) => void stream(exchange, bombBytes, true),
  'redirect-elsewhere': (exchange) =>
    redirect(exchange, `${exchange.elsewhereUrl}/elsewhere${exchange.request.url ?? ''}`),
  'redirect-same-origin': (exchange) =>
    redirect(exchange, `/elsewhere${exchange.request.url ?? ''}`),
  'redirect-self': (exchange) => redirect(exchange, exchange.request.url ?? '/'),
  'redirect-private': (exchange) => redirect(exchange, 'http://169.254.169.254/latest/meta-data/'),
}

function send({ response, headers }: Exchange, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

type Receipt = { success: boolean; transaction: string; errorReason?: string }

function sendReceipt(exchange: Exchange, receipt: Receipt) {
  const text = JSON.stringify({ ...receipt, network: 'eip155:84532' })
  const headers = { 'payment-response': encode(text) }
  send({ ...exchange, headers }, receipt.success ? 200 : 402, {})
}

function sendHalf({ request, response, status, headers }: Exchange): void {
  response.writeHead(status, { ...headers, 'content-length': '1000' })
  response.write('{"paid":', () => request.socket.destroy())
}

function dribble({ response, status, headers, silent }: Exchange): void {
  silent('begun')
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  const timer = setInterval(() => response.write(' '), dribbleMilliseconds)
  response.once('close', () => clearInterval(timer))
}

function redirect({ response }: Exchange, location: string): void {
  // 307 keeps method and body (RFC 9110, section 15.4.8), so it leaks the most.
  response.writeHead(307, { location })
  response.end()
}

async function stream({ response, status, headers }: Exchange, bytes: number, gzip: boolean) {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    ...(gzip && { 'content-encoding': 'gzip' }),
  })
  const source = Readable.from(spaces(bytes))
  // The reader is expected to hang up. That ends the stream and is not an error here.
  await (gzip ? pipeline(source, createGzip(), response) : pipeline(source, response)).catch(
    () => {},
  )
}

function* spaces(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk
}
