/**
 * Bodies of unknown length. What announces a length may lie, so bytes are counted as they come, and the
 * rest of a body that is too long is never taken in.
 */

/** All bytes of a stream; undefined when there are more, of which no more are read. */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = stream?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > bytesMax) {
      await reader.cancel()
      return undefined
    }
    chunks.push(new Uint8Array(value))
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}
