/** Writes files that appear under their names whole or not at all. */
import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'

/** Replaces a file; files that are beside it already are never written to. */
export function writeWhole(path: string, text: string, mode: number): void {
  const next = `${path}.${randomUUID()}`
  writeFileSync(next, text, { mode, flag: 'wx', flush: true })
  renameSync(next, path)
}
