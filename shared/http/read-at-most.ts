/**
 * Bodies of unknown length, from senders that may lie or stall. An announced length is not trusted: bytes
 * are counted as they arrive, and the rest of a body that is too long is not read.
 */
import { fail, Rejection } from '../contract/errors.ts'

/** Reason to refuse a body: longer than the limit, or cut off or framed wrongly on the way. */
export type BodyProblem = 'too_long' | 'broken'

/** Reads all bytes of a stream, or returns why that failed. */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | BodyProblem> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = stream?.getReader()
  while (reader) {
    const next = await reader.read().catch(() => 'broken' as const)
    if (next === 'broken') return next
    if (next.done) break
    length += next.value.length
    if (length > bytesMax) {
      await reader.cancel()
      return 'too_long'
    }
    chunks.push(new Uint8Array(next.value))
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Returns the request with its body read; throws a Rejection if the body is too long or incomplete. */
export async function wholeRequest(request: Request, bytesMax: number): Promise<Request> {
  if (request.body === null) return request
  const body = await readAtMost(request.body, bytesMax)
  if (body === 'too_long') {
    throw new Rejection(fail('payload_too_large', { details: { bytes_max: bytesMax } }))
  }
  if (body === 'broken') {
    throw new Rejection(fail('invalid_request', { message: 'The body did not come whole.' }))
  }
  const { url, method, headers } = request
  return new Request(url, { method, headers, body })
}
