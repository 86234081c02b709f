/** Output of the program: tables and progress on a terminal, JSON where it was asked for. */
import { columns } from '../program/columns.ts'
import { askPerson } from '../program/prompt.ts'

/** A row of a table, by the names of its columns. */
export type Row = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Output of the program. Answers go to standard output, everything else to standard error. */
export type Screen = {
  isJson: boolean
  /** True if a person can be asked. */
  isInteractive: boolean
  /** Shows an answer: as it is in JSON, or as lines. */
  show: (answer: unknown, lines: () => string) => void
  /** Says something beside the answer. */
  say: (line: string) => void
  /** Writes bytes of a resource. */
  write: (bytes: Uint8Array) => Promise<void>
  /** Asks a question; true for yes. */
  confirm: (question: string) => Promise<boolean>
}

/** Opens the screen of this process. */
export function openScreen(isJson: boolean, signal: AbortSignal): Screen {
  const isInteractive = process.stdin.isTTY && process.stderr.isTTY
  return {
    isJson,
    isInteractive,
    show: (answer, lines) => console.log(isJson ? JSON.stringify(answer, null, 2) : lines()),
    say: (line) => console.error(line),
    write: (bytes) =>
      new Promise((resolve, reject) =>
        process.stdout.write(bytes, (error) => (error ? reject(error) : resolve())),
      ),
    async confirm(question) {
      if (!isInteractive) return false
      return /^y(es)?$/i.test(await askPerson(`${question} [y/N] `, signal, process.stderr))
    },
  }
}

/** Lays rows out as columns, with a sentence in place of no rows. */
export function table(rows: readonly Row[], none: string): string {
  const [first] = rows
  if (!first) return none
  const names = Object.keys(first)
  return columns([names, ...rows.map((row) => names.map((name) => cell(row[name])))])
}

/** Lays facts out as lines of a name and a value. */
export function facts(list: readonly (readonly [string, Row[string]])[]): string {
  const width = Math.max(...list.map(([name]) => name.length))
  return list.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n')
}

/** Returns a value as it is printed: control characters of foreign texts could rewrite what stands on a terminal. */
export function cell(value: Row[string]): string {
  return String(value ?? '').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
}
