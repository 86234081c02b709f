/**
 * Search in compressed data that is written as text, in base64 or hexadecimal digits, in lines or escaped.
 * It has to be inflated to be searched. Text that does not inflate is not compressed data and stays.
 */
import { compressedHead } from './compressed-starts.ts'
import {
  type Bytes,
  base64Digits,
  behindPadding,
  type DigitRun,
  digitsFrom,
  fromBase64,
  fromHex,
  hexDigits,
  longRuns,
} from './digit-runs.ts'
import type { Range } from './range.ts'
import type { Search, Work } from './search.ts'
import type { MakeReader } from './units.ts'

const runsMax = 16
/** Bytes that all runs of an answer together are inflated to. */
const bytesMax = 1024 * 1024
/** A whole number of groups, in base64 and in hexadecimal digits. */
const partDigits = 4_096

type Format = 'gzip' | 'deflate' | 'deflate-raw'

/** A run of digits, with up to two padding characters behind it. */
type Run = DigitRun & { isHex: boolean; format: Format }

/** Returns the runs at these places, and long runs without a header, that inflate to text with secrets. */
export async function compressedRanges(
  bytes: Uint8Array,
  starts: readonly number[],
  { search, work, makeReader }: { search: Search; work: Work; makeReader: MakeReader },
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
  // More runs than an honest answer has: they are removed without being inflated.
  const hidden: DigitRun[] = runs.slice(runsMax)
  const raw = { isHex: false, format: 'deflate-raw' } as const
  let room = bytesMax
  for (const run of [...runs.slice(0, runsMax), ...others.map((one) => ({ ...one, ...raw }))]) {
    const opened = await inflated(partsOf(run), run.format, room + 1)
    // A run that does not fit is removed without being searched.
    if (opened.length > room || search(opened, work).ranges.length > 0) hidden.push(run)
    room = Math.max(0, room - opened.length)
  }
  return hidden.map(({ start, end }) => ({ start, end: behindPadding(bytes, end) }))
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

/** Decodes in parts: most runs that look like compressed data are not, as the first part shows. */
function* partsOf({ digits, isHex }: Run): Generator<Bytes> {
  for (let at = 0; at < digits.length; at += partDigits) {
    const part = digits.slice(at, at + partDigits)
    yield isHex ? fromHex(part) : fromBase64(part)
  }
}

/** Inflates up to so many bytes; a damaged end does not hide the text before it. */
async function inflated(
  parts: Iterable<Bytes>,
  format: Format,
  lengthMax: number,
): Promise<Uint8Array> {
  const { readable, writable } = new DecompressionStream(format)
  // The stream ends when the reader is cancelled, and the reader sees its errors.
  write(parts, writable).catch(() => undefined)
  const reader: ReadableStreamDefaultReader<unknown> = readable.getReader()
  const opened: number[] = []
  try {
    while (opened.length < lengthMax) {
      const next = await reader.read()
      if (next.done || !(next.value instanceof Uint8Array)) break
      for (const byte of next.value) opened.push(byte)
    }
  } catch {
    // The bytes that were inflated before the error are searched.
  }
  await reader.cancel().catch(() => undefined)
  return Uint8Array.from(opened.slice(0, lengthMax))
}

/** Writes the parts one by one, so that no part is decoded after one that does not inflate. */
async function write(parts: Iterable<Bytes>, writable: WritableStream<Bytes>): Promise<void> {
  const writer = writable.getWriter()
  for (const part of parts) await writer.write(part)
  await writer.close()
}
