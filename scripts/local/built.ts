/** Builds the functions again only if they would become others, since a build takes seconds. */
import { existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { buildFunctions, functionFolders } from '../build/functions.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Files that a build depends on, besides those that it bundles. */
const others = ['scripts/build/functions.ts', 'package-lock.json', 'tsconfig.json']

const metafileSchema = z.object({ inputs: z.record(z.string(), z.unknown()) })

/** Builds all functions into a directory, unless it holds what the present files would give. */
export async function bringUpToDate(
  outdir: string,
  beside?: Readonly<Record<string, string>>,
): Promise<void> {
  if (isUpToDate(outdir)) return
  const began = new Date()
  // Chunks of an earlier build have other names.
  rmSync(outdir, { recursive: true, force: true })
  await buildFunctions(outdir, functionFolders(), beside)
  // A file that changed during the build is newer than the build.
  utimesSync(join(outdir, 'metafile.json'), began, began)
}

/** Returns true if a directory holds every function, built after the last change of any file in it. */
export function isUpToDate(outdir: string): boolean {
  const metafile = join(outdir, 'metafile.json')
  if (!existsSync(metafile)) return false
  const isBuilt = functionFolders().every((folder) => existsSync(join(outdir, `${folder}.mjs`)))
  const builtAt = statSync(metafile).mtimeMs
  const { inputs } = metafileSchema.parse(JSON.parse(readFileSync(metafile, 'utf8')))
  const isOlder = (path: string) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found !== undefined && found.mtimeMs < builtAt
  }
  return isBuilt && [...Object.keys(inputs), ...others].every(isOlder)
}
