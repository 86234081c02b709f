/** Commands of the program, and their input. */
import type { ParseArgsConfig } from 'node:util'
import type { Account } from '../client/index.ts'
import type { Screen } from './screen.ts'

/** Values of options by name. */
export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** Input of a command. */
export type Call = {
  words: readonly string[]
  values: Values
  screen: Screen
  env: Readonly<Record<string, string | undefined>>
  fetch: typeof fetch
  now: () => number
  /** Waits, or rejects at Ctrl-C. */
  pause: (milliseconds: number) => Promise<void>
  signal: AbortSignal
  /** Returns the client of whoever is logged in; throws LoginNeeded. */
  account: () => Account
}

/** A command; its answer is the exit code. */
export type Command = {
  /** Words after the name, as `--help` shows them. */
  usage: string
  summary: string
  options?: NonNullable<ParseArgsConfig['options']>
  /** Lines about the options. */
  help?: string
  examples: readonly string[]
  run: (call: Call) => Promise<number>
}

/** Error of how the program was called, with one sentence that says what to do. */
export class UsageError extends Error {}

/** Returns a word that the command needs. */
export function needed({ words }: Pick<Call, 'words'>, at: number, what: string): string {
  const word = words[at]
  if (word === undefined || word === '') throw new UsageError(`${what} is missing`)
  return word
}

/** Returns an option that is text. */
export function textOption({ values }: Pick<Call, 'values'>, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns all values of an option that may be given several times. */
export function textOptions({ values }: Pick<Call, 'values'>, name: string): string[] {
  const given: unknown = values[name]
  return Array.isArray(given) ? given.map(String) : []
}
