/**
 * Where a run keeps what it writes: in memory, where there is room. Every test file has a copy of a
 * database, and to copy those hundreds of small files takes ten times as long on a disk.
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
/** No run takes that long: what is older was left by one that was killed. */
const leftAfterMilliseconds = 6 * 3_600_000

/** Makes it the place for temporary files of this process and all that it starts. */
export function keepInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return
  const place = join(memory, 'aoa-tests')
  mkdirSync(place, { recursive: true })
  // PostgreSQL runs as another user where this runs as root.
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
