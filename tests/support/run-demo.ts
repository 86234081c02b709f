/** The demo, as a user runs it against a world. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './tidy/files.ts'

/** Runs it against the world of this directory. Returns its output, or its error as text. */
export function runDemo(directory: string): Promise<{ stdout: string } | string> {
  const words = [join(root, 'scripts/demo.ts'), '--world', join(directory, 'world.json')]
  return promisify(execFile)(process.execPath, words).catch(String)
}
