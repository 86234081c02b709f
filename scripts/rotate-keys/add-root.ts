/** Adds a new root to the local world, which knows it and seals with it from the next start on. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { readRoots } from '../../shared/sealing/roots.ts'
import { writePrivate } from '../local/secrets.ts'

const rootsText = z.record(z.string(), z.union([z.string(), z.int()]))
const schema = z.looseObject({ vault_roots: rootsText, custody_roots: rootsText })

/** Adds a version to the roots of vault and custody. Returns the lines to print. */
export function addRoots(file: string): string[] {
  const secrets = schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  const [vault, custody] = [withNewRoot(secrets.vault_roots), withNewRoot(secrets.custody_roots)]
  writePrivate(file, { ...secrets, vault_roots: vault.roots, custody_roots: custody.roots })
  return [
    `${file}: version ${vault.added} of the vault's root and version ${custody.added} of custody's`,
    'Stop the local world, start it again so that its functions know them, then run this once more.',
  ]
}

/** Lets the old version go on sealing, because the running functions do not know the new one. */
function withNewRoot(roots: z.output<typeof rootsText>) {
  // The purpose has no influence on versions, so one reading of the text serves both.
  const { versions, sealingVersion } = readRoots(JSON.stringify(roots), 'vault')
  const added = Math.max(...versions) + 1
  const secret = randomBytes(32).toString('base64')
  return { added, roots: { ...roots, [added]: secret, sealing: sealingVersion } }
}
