/** Questions to the person at the terminal. */
import { createInterface, type Interface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Asks, and returns the answer without white space around it. Rejects if the signal aborts. */
export async function askPerson(
  question: string,
  signal?: AbortSignal,
  output: NodeJS.WritableStream = process.stdout,
): Promise<string> {
  const lines = createInterface({ input: process.stdin, output })
  interruptWith(lines)
  try {
    return (await lines.question(question, signal ? { signal } : {})).trim()
  } finally {
    lines.close()
  }
}

/** Asks for a secret, which the terminal does not show. */
export async function askHidden(question: string, signal?: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  interruptWith(lines)
  process.stdout.write(question)
  try {
    return (await lines.question('', signal ? { signal } : {})).trim()
  } finally {
    lines.close()
    process.stdout.write('\n')
  }
}

/** A terminal that is asked hands Ctrl-C to the question, where nobody would hear it. */
function interruptWith(lines: Interface): void {
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
}

/** Returns true if a person can be asked. */
export function isAttended(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}
