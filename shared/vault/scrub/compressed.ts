/**
 * Compressed data that was written as text, in base64 or hexadecimal digits: it has to be opened to
 * be looked through. What does not open is no compressed data and stays.
 */
import { decodeBytes } from '../../base64.ts'
import type { Range } from './range.ts'
import type { Search } from './search.ts'

const runsMax = 16
const bytesMax = 1024 * 1024

/** Runs that begin with the header of gzip (RFC 1952) or zlib (RFC 1950, any level). */
const base64Run = /(?:H4sI|eJ[w-z]|eN[o-r]|eF[4-7]|eA[E-H])[\w+/-]{8,}={0,2}/g
const hexRun = /(?:1f8b08|78(?:01|5e|9c|da))[0-9a-f]{16,}/gi

/** Ranges of UTF-8 that open to something in which the search finds anything. */
export async function compressedRanges(text: string, search: Search): Promise<Range[]> {
  const runs = [...text.matchAll(base64Run), ...text.matchAll(hexRun)]
  const ranges = await Promise.all(
    runs.map(async ({ 0: run, index }, place) => {
      // More than anybody sends in good faith; nobody looked into these.
      const isHidden = place >= runsMax || (await holds(run, search))
      if (!isHidden) return []
      const start = new TextEncoder().encode(text.slice(0, index)).length
      return [{ start, end: start + run.length }]
    }),
  )
  return ranges.flat()
}

async function holds(run: string, search: Search): Promise<boolean> {
  const isHex = /^(?:1f|78)/i.test(run) && /^[0-9a-f]+$/i.test(run)
  const digits = run.replace(/=+$/, '')
  const bytes = isHex
    ? Uint8Array.from(run.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : decodeBytes(digits.length % 4 === 1 ? digits.slice(0, -1) : digits)
  if (bytes === undefined) return false
  const opened = await inflated(bytes)
  return opened.length >= bytesMax || search(opened).length > 0
}

/** As much as opens, up to 1 MB; a damaged end does not hide what stood before it. */
async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const format = bytes[0] === 0x1f ? 'gzip' : 'deflate'
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader()
  const opened: number[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || opened.length >= bytesMax) break
      for (const byte of value) opened.push(byte)
    }
  } catch {
    // What opened until here is looked through.
  }
  await reader.cancel().catch(() => undefined)
  return Uint8Array.from(opened)
}
