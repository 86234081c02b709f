/**
 * Bodies of unknown length, from senders that may lie or fall silent. What announces a length is not
 * believed: bytes are counted as they come, and the rest of a body that is too long is never taken in.
 */
import { fail, Rejection } from '../contract/errors.ts'

/** Why a body is not taken: it is over the limit, or it broke off or was framed wrongly on its way. */
export type BodyProblem = 'too_long' | 'broken'

/** All bytes of a stream, or why there are none. */
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

/** The request with its body at hand. A body that does not come whole is a mistake of the sender. */
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
