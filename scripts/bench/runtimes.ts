/** The processes of the runtime, as the kernel shows them (proc(5), Linux). */
import { readdirSync, readFileSync } from 'node:fs'

/** Returns the ids of the workerd processes below `parent`. */
export function runtimesOf(parent: number): number[] {
  const below = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => statusOf(pid))
    .filter((status) => status.parent === parent)
  return below.flatMap(({ pid, name }) => [
    ...(name.startsWith('workerd') ? [pid] : []),
    ...runtimesOf(pid),
  ])
}

/** Sums the resident memory of those processes. */
export function residentBytes(parent: number): number {
  const sizes = runtimesOf(parent).flatMap((pid) => statusOf(String(pid)))
  return sizes.reduce((sum, { residentKilobytes }) => sum + residentKilobytes * 1_024, 0)
}

function statusOf(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(text)?.[1] ?? ''
    return [
      {
        pid: Number(pid),
        name: field('Name'),
        parent: Number(field('PPid')),
        residentKilobytes: Number(field('VmRSS')),
      },
    ]
  } catch {
    return []
  }
}
