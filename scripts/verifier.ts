/** What the programs have in common that verify a file: how they read it, and how they tell of it. */
import { readFileSync } from 'node:fs'

/** What was checked, and what is wrong where it does not hold. */
export type Check = { name: string; fault?: string }

const fileBytesMax = 1_048_576
const faultLengthMax = 200

/** What a file holds; throws with its name and what is wrong with it. */
export function readFile<Content>(file: string, read: (text: string) => Content): Content {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length > fileBytesMax) throw new Error('too large')
    return read(text)
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Prints a line a check, and what is shown if all of them hold; answers the code to end with. */
export function conclude(checks: readonly Check[], shown: () => string): number {
  for (const { name, fault } of checks) {
    const wrong = fault?.slice(0, faultLengthMax)
    console.log(wrong === undefined ? `ok    ${name}` : `FAIL  ${name}: ${wrong}`)
  }
  const isProven = checks.every(({ fault }) => fault === undefined)
  console.log(`\n${isProven ? shown() : 'This proves nothing.'}`)
  return isProven ? 0 : 1
}
