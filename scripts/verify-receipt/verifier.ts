/** The common parts of the programs that verify a file: reading it and reporting the result. */
import { readFileSync } from 'node:fs'

/** A fact that was checked; `fault` says why it does not hold. */
export type Check = { name: string; fault?: string }

const fileBytesMax = 1_048_576
const faultLengthMax = 200

/** Reads a file. Throws an error that names the file and its fault. */
export function readFile<Content>(file: string, read: (text: string) => Content): Content {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length > fileBytesMax) throw new Error('too large')
    return read(text)
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Prints one line a check, and `shown` if all of them hold. Returns the exit code. */
export function conclude(checks: readonly Check[], shown: () => string): number {
  for (const { name, fault } of checks) {
    const wrong = fault?.slice(0, faultLengthMax)
    console.log(wrong === undefined ? `ok    ${name}` : `FAIL  ${name}: ${wrong}`)
  }
  const isProven = checks.every(({ fault }) => fault === undefined)
  console.log(`\n${isProven ? shown() : 'This proves nothing.'}`)
  return isProven ? 0 : 1
}
