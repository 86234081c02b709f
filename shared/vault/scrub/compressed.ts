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
  if (!new RegExp(compressedRun).test(latin1(bytes.subarray(start, start + 24)))) return undefined
  let end = start
  while (isDigitOfCode(bytes[end]) || bytes[end] === 0x3d) end += 1
  return new RegExp(compressedRun).exec(latin1(bytes.subarray(start, end)))?.[0]
}

/** One character a byte, so that places stay the same. */
function latin1(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes)
}

async function holds(run: string, search: Search): Promise<boolean> {
  const isHex = /^(?:1f|78)/i.test(run) && /^[0-9a-f]+$/i.test(run)
  const digits = run.replace(/=+$/, '')
  const bytes = isHex
    ? Uint8Array.from(run.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : decodeBytes(digits.length % 4 === 1 ? digits.slice(0, -1) : digits)
  if (bytes === undefined) return false
  const opened = await inflated(bytes)
  return opened.length >= bytesMax || search(opened).ranges.length > 0
}

/** As much as opens, up to 1 MB; a damaged end does not hide what stood before it. */
async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const format = bytes[0] === 0x1f ? 'gzip' : 'deflate'
  const pipe: ReadableStream<unknown> = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream(format))
  const reader = pipe.getReader()
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
