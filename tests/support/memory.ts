/**
 * Keeps the files that a run writes in memory, where there is room. Every test file has a copy of a
 * database, and copying its hundreds of small files takes ten times as long on a disk.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
const freeBytesMin = 4 * 2 ** 30
/** Age after which files are left over from a killed run; no run takes that long. */
const leftAfterMilliseconds = 6 * 3_600_000

/** Makes memory the place for temporary files of this process and all that it starts. */
export function keepInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return
  const place = join(memory, 'aoa-tests')
  mkdirSync(place, { recursive: true })
  // PostgreSQL runs as another user if this process runs as root.
  chmodSync(place, 0o1777)
  for (const name of readdirSync(place)) clearOld(join(place, name))
  process.env['TMPDIR'] = place
}

function hasRoom(): boolean {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= freeBytesMin
}

function clearOld(path: string): void {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  if (age > leftAfterMilliseconds) rmSync(path, { recursive: true, force: true })
}
