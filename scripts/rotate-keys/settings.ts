/** Finds the database and the roots, in the environment or in the local world. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { openDatabase } from '../../shared/db/database.ts'
import { openSecret } from '../../shared/kms.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import { databaseBindings } from '../local/database-keys.ts'
import { projectOfSecrets } from '../local/secrets.ts'
import { outside } from '../program/outside.ts'
import { accountKeys, custodyKeys, type KeyRing } from './key-ring.ts'

/** Bindings of the functions that hold roots, in the form that these functions take. */
const bindings = z
  .object({
    SUPABASE_URL: z.url(),
    SUPABASE_API_KEY: z.string().min(1),
    VAULT_DATABASE_KEY: z.string().min(1).optional(),
    VAULT_ROOT_KEYS: z.string().optional(),
    CUSTODY_DATABASE_KEY: z.string().min(1).optional(),
    CUSTODY_ROOT_KEYS: z.string().optional(),
  })
  .refine(
    (given) =>
      (given.VAULT_DATABASE_KEY === undefined) === (given.VAULT_ROOT_KEYS === undefined) &&
      (given.CUSTODY_DATABASE_KEY === undefined) === (given.CUSTODY_ROOT_KEYS === undefined),
    'a database key and its root keys are given together',
  )

/** Address and keys of the database, with the roots. */
export type Settings = z.output<typeof bindings>

const worldFile = z.object({ supabase_url: z.url() })

const roots = z.record(z.string(), z.union([z.string(), z.int()]))
const secretsFile = z.object({
  database_api_key: z.string(),
  database_signing_key: z.string(),
  vault_roots: roots,
  custody_roots: roots,
})

/** Reads the environment, or the local world if the environment names no database. */
export function readRotationSettings(environment: NodeJS.ProcessEnv, directory: string): Settings {
  const given = environment['SUPABASE_URL'] ? environment : localSettings(directory)
  const read = bindings.safeParse(given)
  if (!read.success) throw new Error(z.prettifyError(read.error))
  return read.data
}

function localSettings(directory: string): Record<string, string> {
  const world = join(directory, 'world.json')
  if (!existsSync(world)) {
    throw new Error(
      `SUPABASE_URL is not set and ${world} is missing: start the local world with npm start`,
    )
  }
  const { supabase_url } = worldFile.parse(readJson(world))
  const secrets = secretsFile.parse(readJson(join(directory, 'secrets.json')))
  return {
    SUPABASE_URL: supabase_url,
    ...databaseBindings(projectOfSecrets(secrets)),
    VAULT_ROOT_KEYS: JSON.stringify(secrets.vault_roots),
    CUSTODY_ROOT_KEYS: JSON.stringify(secrets.custody_roots),
  }
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Keys that share roots, and the name of the binding that holds those roots. */
export type KeyCase = { binding: string; rings: readonly [KeyRing, ...KeyRing[]] }

/** Opens the keys that these settings reach. */
export async function openCases({
  SUPABASE_URL,
  SUPABASE_API_KEY,
  ...given
}: Settings): Promise<KeyCase[]> {
  const { VAULT_DATABASE_KEY, VAULT_ROOT_KEYS, CUSTODY_DATABASE_KEY, CUSTODY_ROOT_KEYS } = given
  const cases: KeyCase[] = []
  if (VAULT_DATABASE_KEY && VAULT_ROOT_KEYS) {
    const db = openDatabase({ SUPABASE_URL, SUPABASE_API_KEY, VAULT_DATABASE_KEY }, fetch)
    const [vault, mail] = [readRoots(VAULT_ROOT_KEYS, 'vault'), readRoots(VAULT_ROOT_KEYS, 'mail')]
    cases.push({
      binding: 'VAULT_ROOT_KEYS',
      rings: [accountKeys(db, vault), accountKeys(db, mail)],
    })
  }
  if (CUSTODY_DATABASE_KEY && CUSTODY_ROOT_KEYS) {
    const db = openDatabase({ SUPABASE_URL, SUPABASE_API_KEY, CUSTODY_DATABASE_KEY }, fetch)
    const text = await openSecret(outside, 'CUSTODY_ROOT_KEYS', CUSTODY_ROOT_KEYS)
    const custody = readRoots(text, 'custody')
    cases.push({ binding: 'CUSTODY_ROOT_KEYS', rings: [custodyKeys(db, custody)] })
  }
  return cases
}
