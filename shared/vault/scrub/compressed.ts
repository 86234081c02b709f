/**
 * Compressed data that was written as text, in base64 or hexadecimal digits: it has to be opened to
 * be looked through. What does not open is no compressed data and stays.
 */
import { decodeBytes } from '../../base64.ts'
import { isDigitOfCode } from './bytes.ts'
import { compressedHead } from './compressed-starts.ts'
import type { Range } from './range.ts'
import type { Search } from './search.ts'

const runsMax = 16
const bytesMax = 1024 * 1024
/** Whole groups of base64 and of hexadecimal digits. */
const partDigits = 4_096

type Part = Uint8Array<ArrayBuffer>

/** Digits from `start` to `end`, behind which up to two signs of padding may stand. */
type Run = { start: number; end: number; isHex: boolean; isGzip: boolean }

/** Which runs that begin at these places open to something in which the search finds anything. */
export async function compressedRanges(
  bytes: Uint8Array,
  starts: readonly number[],
  search: Search,
): Promise<Range[]> {
  const runs: Run[] = []
  for (const start of starts) {
    const run = start < (runs.at(-1)?.end ?? 0) ? undefined : runAt(bytes, start)
    if (run !== undefined) runs.push(run)
  }
  const ranges = await Promise.all(
    runs.map(async (run, place) => {
      // More than anybody sends in good faith; nobody looked into these.
      const isHidden = place >= runsMax || (await holds(bytes, run, search))
      return isHidden ? [{ start: run.start, end: behindPadding(bytes, run.end) }] : []
    }),
  )
  return ranges.flat()
}

const isHexDigit = tableOf((byte) => /[0-9a-fA-F]/.test(String.fromCharCode(byte)))
const isBase64Digit = tableOf(isDigitOfCode)

function tableOf(is: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (is(byte) ? 1 : 0))
}

function runAt(bytes: Uint8Array, start: number): Run | undefined {
  const head = String.fromCharCode(...bytes.subarray(start, start + 6))
  if (!compressedHead.test(head)) return undefined
  const isHex = head.startsWith('1') || head.startsWith('7')
  const isDigit = isHex ? isHexDigit : isBase64Digit
  let end = start
  while (isDigit[bytes[end] ?? 0] === 1) end += 1
  const isLong = end - start >= (isHex ? 20 : 11)
  return isLong ? { start, end, isHex, isGzip: head.startsWith(isHex ? '1' : 'H') } : undefined
}

function behindPadding(bytes: Uint8Array, end: number): number {
  if (bytes[end] !== 0x3d) return end
  return bytes[end + 1] === 0x3d ? end + 2 : end + 1
}

async function holds(bytes: Uint8Array, run: Run, search: Search): Promise<boolean> {
  const opened = await inflated(partsOf(bytes, run), run.isGzip)
  return opened.length >= bytesMax || search(opened).ranges.length > 0
}

/** Read part by part: most of what looks like compressed data is none, which the first part shows. */
function* partsOf(bytes: Uint8Array, { start, end, isHex }: Run): Generator<Part> {
  for (let at = start; at < end; at += partDigits) {
    const digits = latin1.decode(bytes.subarray(at, Math.min(at + partDigits, end)))
    yield isHex ? fromHex(digits) : fromBase64(digits)
  }
}

const latin1 = new TextDecoder('latin1')

function fromHex(digits: string): Part {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function fromBase64(digits: string): Part {
  return decodeBytes(digits.length % 4 === 1 ? digits.slice(0, -1) : digits) ?? new Uint8Array()
}

/** As much as opens, up to 1 MB; a damaged end does not hide what stood before it. */
async function inflated(parts: Iterable<Part>, isGzip: boolean): Promise<Uint8Array> {
  const { readable, writable } = new DecompressionStream(isGzip ? 'gzip' : 'deflate')
  // It ends by itself when nobody reads on, and what it fails with shows in what is read.
  write(parts, writable).catch(() => undefined)
  const reader: ReadableStreamDefaultReader<unknown> = readable.getReader()
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

/** One after the other, so that none is made of what follows a part that does not open. */
async function write(parts: Iterable<Part>, writable: WritableStream<Part>): Promise<void> {
  const writer = writable.getWriter()
  for (const part of parts) await writer.write(part)
  await writer.close()
}
