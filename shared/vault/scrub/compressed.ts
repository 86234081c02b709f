/**
 * Compressed data that was written as text, in base64 or hexadecimal digits, in lines or escaped: it
 * has to be opened to be looked through. What does not open is no compressed data and stays.
 */
import { decodeBytes } from '../../base64.ts'
import { compressedHead } from './compressed-starts.ts'
import { base64Digits, type DigitRun, digitsFrom, hexDigits, longRuns } from './digit-runs.ts'
import type { Range } from './range.ts'
import type { Search } from './search.ts'
import type { MakeReader } from './units.ts'

const runsMax = 16
const bytesMax = 1024 * 1024
/** Whole groups of base64 and of hexadecimal digits. */
const partDigits = 4_096

type Part = Uint8Array<ArrayBuffer>

type Format = 'gzip' | 'deflate' | 'deflate-raw'

/** Digits behind which up to two signs of padding may stand. */
type Run = DigitRun & { isHex: boolean; format: Format }

/** Which runs that begin at these places open to something in which the search finds anything. */
export async function compressedRanges(
  bytes: Uint8Array,
  starts: readonly number[],
  { search, makeReader }: { search: Search; makeReader: MakeReader },
): Promise<Range[]> {
  const read = makeReader(bytes)
  const runs: Run[] = []
  for (const start of starts) {
    const run = start < (runs.at(-1)?.end ?? 0) ? undefined : runAt(bytes, start, read)
    if (run !== undefined) runs.push(run)
  }
  const others = longRuns(bytes, read).filter(({ start, end }) =>
    runs.every((run) => run.end <= start || end <= run.start),
  )
  const ranges = await Promise.all([
    ...runs.map(async (run, place) => {
      // More than anybody sends in good faith; nobody looked into these.
      const isHidden = place >= runsMax || (await holds(run, search))
      return isHidden ? [{ start: run.start, end: behindPadding(bytes, run.end) }] : []
    }),
    ...others.map(async (run) => {
      const isHidden = await holds({ ...run, isHex: false, format: 'deflate-raw' }, search)
      return isHidden ? [{ start: run.start, end: behindPadding(bytes, run.end) }] : []
    }),
  ])
  return ranges.flat()
}

function runAt(bytes: Uint8Array, start: number, read: ReturnType<MakeReader>): Run | undefined {
  const head = String.fromCharCode(...bytes.subarray(start, start + 6))
  if (!compressedHead.test(head)) return undefined
  const isHex = head.startsWith('1') || head.startsWith('7')
  const run = digitsFrom(bytes, start, { table: isHex ? hexDigits : base64Digits, read })
  const isLong = run.digits.length >= (isHex ? 20 : 11)
  const format = head.startsWith(isHex ? '1' : 'H') ? 'gzip' : 'deflate'
  return isLong ? { ...run, isHex, format } : undefined
}

function behindPadding(bytes: Uint8Array, end: number): number {
  if (bytes[end] !== 0x3d) return end
  return bytes[end + 1] === 0x3d ? end + 2 : end + 1
}

async function holds(run: Run, search: Search): Promise<boolean> {
  const opened = await inflated(partsOf(run), run.format)
  return opened.length >= bytesMax || search(opened).ranges.length > 0
}

/** Read part by part: most of what looks like compressed data is none, which the first part shows. */
function* partsOf({ digits, isHex }: Run): Generator<Part> {
  for (let at = 0; at < digits.length; at += partDigits) {
    const part = digits.slice(at, at + partDigits)
    yield isHex ? fromHex(part) : fromBase64(part)
  }
}

function fromHex(digits: string): Part {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function fromBase64(digits: string): Part {
  return decodeBytes(digits.length % 4 === 1 ? digits.slice(0, -1) : digits) ?? new Uint8Array()
}

/** As much as opens, up to 1 MB; a damaged end does not hide what stood before it. */
async function inflated(parts: Iterable<Part>, format: Format): Promise<Uint8Array> {
  const { readable, writable } = new DecompressionStream(format)
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
