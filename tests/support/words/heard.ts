/** Checks that a stranger's words appear only in the allowed parts of the product's output. */
import { expect } from 'vitest'
import type { Shown } from '../browserless.ts'
import type { Answer } from '../world.ts'
import { canary } from './said.ts'

const said = new RegExp(canary, 'i')
const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
const hidden = /(?![\t\n])\p{Cc}|[\u202e\u200b\u2028]|\u{e0041}/u

/** Checks that nothing failed and that text in the service's own name does not contain the words. */
export function hold(...answers: readonly (Pick<Answer, 'body'> & { status?: number })[]): void {
  for (const { status = 200, body } of answers) {
    // Errors that a stranger causes on a connection are reported as 502 and 504.
    expect([500, 503], JSON.stringify(body)).not.toContain(status)
    const { response: _ofStranger, ...own } = body
    const told = textsIn(own, true)
    expect(told.find((text) => said.test(text))).toBeUndefined()
    expect(textsIn(own, false).find((text) => hidden.test(text) || halves.test(text))).toBe(
      undefined,
    )
  }
}

/** Returns all texts and field names of an answer, with or without the content of `untrusted`. */
function textsIn(value: unknown, isOwn: boolean): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inside]: [string, unknown]) =>
    isOwn && name === 'untrusted' ? [name] : [name, ...textsIn(inside, isOwn)],
  )
}

/** Checks that a page shows the words as text: no hidden characters, no markup and no links. */
export function holdPage({ status, html, path }: Shown): void {
  expect(status, path).toBeLessThan(500)
  expect(hidden.test(html) || halves.test(html), path).toBe(false)
  expect(html).not.toMatch(/<\/p><b>/)
  const targets = [...html.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, target]) => target)
  expect(targets.filter((target) => /e\.vil/.test(target ?? ''))).toEqual([])
}

/** Checks that a table for the owner contains no formula. */
export function holdTable({ status, html }: Shown): void {
  expect(status).toBe(200)
  expect(hidden.test(html.replaceAll('\r\n', '\n')) || halves.test(html)).toBe(false)
  // Quotes within a cell are written twice.
  const cells = [...html.matchAll(/(?:^|,|\r\n)"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell)
  expect(cells.filter((cell) => /^\s*[=+@-]/.test(cell))).toEqual([])
}

/** Checks that each log entry is one visible line. */
export function holdLog(log: readonly object[]): void {
  for (const entry of log) expect(JSON.stringify(entry)).not.toMatch(/\n/)
}
