/**
 * Decodes the result of Multicall3, only in the layout that ABI encoders write: each part once, in order.
 * Overlapping offsets could name the same bytes for every result, so that a short answer takes gigabytes.
 * Here no byte is read twice, and any other layout is rejected.
 */
import type { Hex } from '../../hex.ts'

const wordDigits = 64
const wordBytes = 32

/**
 * Reads `(bool success, bytes returnData)[]` of `count` elements, in lower case. An element is undefined if
 * its call failed. Returns undefined if the data have any other layout.
 * https://docs.soliditylang.org/en/latest/abi-spec.html#formal-specification-of-the-encoding
 */
export function readResults(data: Hex, count: number): (Hex | undefined)[] | undefined {
  const words = (data.length - 2) / wordDigits
  // Offset of the list, and its length.
  if (numberAt(data, 0) !== wordBytes || numberAt(data, 1) !== count) return undefined
  const list = 2
  const results: (Hex | undefined)[] = []
  let next = list + count
  for (let index = 0; index < count; index += 1) {
    if (numberAt(data, list + index) !== (next - list) * wordBytes) return undefined
    const succeeds = numberAt(data, next)
    const length = numberAt(data, next + 2)
    if (succeeds === undefined || succeeds > 1 || length === undefined) return undefined
    if (numberAt(data, next + 1) !== 2 * wordBytes) return undefined
    const bytesAt = next + 3
    next = bytesAt + Math.ceil(length / wordBytes)
    if (next > words) return undefined
    results.push(succeeds === 1 ? bytesOf(data, bytesAt, length) : undefined)
  }
  return next === words ? results : undefined
}

/** Reads a word as an offset or length; undefined if it exceeds 32 bits or lies behind the end. */
function numberAt(data: Hex, word: number): number | undefined {
  const start = 2 + wordDigits * word
  const digits = data.slice(start, start + wordDigits)
  return /^0{56}[0-9a-f]{8}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

function bytesOf(data: Hex, word: number, length: number): Hex {
  const start = 2 + wordDigits * word
  return `0x${data.slice(start, start + 2 * length)}`
}
