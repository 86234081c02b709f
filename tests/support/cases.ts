/**
 * The share of its cases that a test takes: in `npm test` an excerpt, which is the same each time, and all
 * in `npm run test:long`.
 */
const isLong = process.env['FORM'] === 'long'

/** Returns a number for `npm test`, or the larger one for the long form. */
export function inForm(short: number, long: number): number {
  return isLong ? long : short
}

/** Returns how many random cases a test takes: one in ten in `npm test`. */
export function casesOf(all: number): number {
  return inForm(Math.ceil(all / 10), all)
}

/** Returns `count` cases from the whole length of a list, the first among them, or all in the long form. */
export function excerptOf<Case>(cases: readonly Case[], count: number): readonly Case[] {
  if (isLong || cases.length <= count) return cases
  return Array.from({ length: count }, (_, at) =>
    cases.slice(Math.floor((at * cases.length) / count)).slice(0, 1),
  ).flat()
}
