/**
 * The effects of an operation as the four hints of the Model Context Protocol. A client may show them and
 * use them to ask its user; nothing here grants or refuses anything.
 */
import type { Operation } from './operation.ts'

/** Hints about a tool (MCP 2026-07-28, `ToolAnnotations`). */
export type Annotations = {
  title: string
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** Returns the hints of one operation. */
export function annotationsOf({ id, mutates, effects = [] }: Operation): Annotations {
  const reads = !mutates && !effects.includes('repeatable') && !effects.includes('adding')
  return {
    title: titleFromId(id),
    readOnlyHint: reads,
    destructiveHint: effects.includes('destructive'),
    idempotentHint: reads || effects.includes('repeatable'),
    openWorldHint: effects.includes('outward'),
  }
}

/** Returns the id as words: `x402_payment_prepare` becomes `X402 payment prepare`. */
function titleFromId(id: string): string {
  const words = id.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
