/** The programs that verify a file, run as a third party runs them: a process with its own files. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEnd } from './ending.ts'

export function openVerifier(name: 'verify-proof' | 'verify-receipt') {
  const script = fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), `aoa-${name}-`))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))

  /** Writes a file and returns its path; content that is not text is written as JSON. */
  function fileOf(content: unknown): string {
    const file = join(folder, `${crypto.randomUUID()}.json`)
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }

  /** Runs the program and returns its exit code and output. */
  async function verify(...args: string[]): Promise<{ code: number | null; text: string }> {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
    }
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, text }
  }

  return { fileOf, verify }
}
