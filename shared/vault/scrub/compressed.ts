/**
 * Compressed data that was written as text, in base64 or hexadecimal digits: it has to be opened to
 * be looked through. What does not open is no compressed data and stays.
 */
import { decodeBytes } from '../../base64.ts'
import { isDigitOfCode } from './bytes.ts'
import { compressedRun } from './compressed-starts.ts'
import type { Range } from './range.ts'
import type { Search } from './search.ts'

const runsMax = 16
const bytesMax = 1024 * 1024
/** Whole groups of base64 and of hexadecimal digits. */
const partDigits = 4_096

/** Which runs that begin at these places open to something in which the search finds anything. */
export async function compressedRanges(
  bytes: Uint8Array,
  starts: readonly number[],
  search: Search,
): Promise<Range[]> {
  const runs: { start: number; run: string }[] = []
  let behind = 0
  for (const start of starts) {
    const run = start < behind ? undefined : runAt(bytes, start)
    if (run === undefined) continue
    runs.push({ start, run })
    behind = start + run.length
  }
  const ranges = await Promise.all(
    runs.map(async ({ start, run }, place) => {
      // More than anybody sends in good faith; nobody looked into these.
      const isHidden = place >= runsMax || (await holds(run, search))
      return isHidden ? [{ start, end: start + run.length }] : []
    }),
  )
  return ranges.flat()
}

function runAt(bytes: Uint8Array, start: number): string | undefined {
  // The expression needs this much to know a beginning; only then is the end looked for.
  if (runIn(bytes.subarray(start, start + 24)) === undefined) return undefined
  let end = start
  while (isDigitOfCode(bytes[end]) || bytes[end] === 0x3d) end += 1
  return runIn(bytes.subarray(start, end))
}

/** One character a byte, so that places stay the same. */
const latin1 = new TextDecoder('latin1')

function runIn(bytes: Uint8Array): string | undefined {
  compressedRun.lastIndex = 0
  return compressedRun.exec(latin1.decode(bytes))?.[0]
}

async function holds(run: string, search: Search): Promise<boolean> {
  const isHex = /^(?:1f|78)/i.test(run) && /^[0-9a-f]+$/i.test(run)
  const digits = run.replace(/=+$/, '')
  const parts = isHex ? partsOf(run, fromHex) : partsOf(digits, fromBase64)
  const opened = await inflated(parts, isHex ? run.startsWith('1') : digits.startsWith('H'))
  return opened.length >= bytesMax || search(opened).ranges.length > 0
}

function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function fromBase64(digits: string): Uint8Array {
  return decodeBytes(digits.length % 4 === 1 ? digits.slice(0, -1) : digits) ?? new Uint8Array()
}

/** Read part by part: most of what looks like compressed data is none, which the first part shows. */
function partsOf(digits: string, read: (part: string) => Uint8Array): ReadableStream<unknown> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= digits.length) return controller.close()
      controller.enqueue(read(digits.slice(at, at + partDigits)))
      at += partDigits
    },
  })
}

/** As much as opens, up to 1 MB; a damaged end does not hide what stood before it. */
async function inflated(parts: ReadableStream<unknown>, isGzip: boolean): Promise<Uint8Array> {
  const reader = parts.pipeThrough(new DecompressionStream(isGzip ? 'gzip' : 'deflate')).getReader()
  const opened: number[] = []
  try {
    while (opened.length < bytesMax) {
      const next = await reader.read()
      if (next.done || !(next.value instanceof Uint8Array)) break
      for (const byte of next.value) opened.push(byte)
    }
  } catch {
    // What opened until here is looked through.
  }
  await reader.cancel().catch(() => undefined)
  return Uint8Array.from(opened)
}
