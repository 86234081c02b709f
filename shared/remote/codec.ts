/**
 * Calls and their answers as text. JSON carries everything that functions tell each other but bytes: those are an
 * object with one member `$`, and an object of a caller that has such a member is written as a list of its members.
 */
import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../base64.ts'

const bytes = z.strictObject({ $: z.string() })
const members = z.strictObject({ $$: z.array(z.tuple([z.string(), z.unknown()])) })

/** Writes a value. Members that are undefined are left out. */
export function encodeValue(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Uint8Array) return { $: encodeBase64(part) }
    const isMarked = isComposite(part) && ('$' in part || '$$' in part)
    return isMarked ? { $$: Object.entries(part) } : part
  })
}

/** Reads what `encodeValue` wrote. Throws for any other text. */
export function decodeValue(text: string): unknown {
  return JSON.parse(text, (_, part: unknown) => {
    if (!isComposite(part)) return part
    if ('$' in part) return decodeBase64(bytes.parse(part).$)
    return '$$' in part ? Object.fromEntries(members.parse(part).$$) : part
  })
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
