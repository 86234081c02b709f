/**
 * The secrets that a deployment makes itself. They are made once, sealed under a passphrase beside the settings,
 * and never changed: wallets, logins, passwords and sessions depend on them, and no platform gives one back.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, rmSync } from 'node:fs'
import * as z from 'zod'
import { createSessionKeys } from '../local/secrets.ts'
import { newFiles, type SecretTexts } from '../serve/new-secrets.ts'
import { readSealed, type SealedJson, writeSealed } from './sealed-json.ts'

/** Passwords of logins and of pages that a service of one machine has. */
const ofOneMachine = ['DATABASE_PASSWORD', 'STATUS_TOKEN']

/** Returns the path of the file, which has to be kept elsewhere as well. */
export function secretsPath(settingsFile: string): string {
  return `${settingsFile}.secrets`
}

/**
 * Returns the secrets by the names of their bindings, and whether this call made them. Names that a newer version
 * added are made too. The key of calls goes once nothing runs at Supabase, so turning that off and on replaces it. Throws where `holdsKeys` says that the service has keys sealed by secrets that are not here.
 */
export async function openSecrets(
  settingsFile: string,
  passphrase: string,
  holdsKeys: () => Promise<boolean>,
  runsAtSupabase = false,
): Promise<{ secrets: SecretTexts; isNew: boolean }> {
  const file = secretsFile(settingsFile, passphrase)
  if (!existsSync(file.path) && (await holdsKeys())) {
    throw new Error(
      `the database holds keys that other secrets sealed: bring the ${file.path} of that deployment here; new secrets would lose every wallet and login`,
    )
  }
  const isNew = !existsSync(file.path) && (await makeOnce(file, runsAtSupabase))
  // New secrets are read back too: only a file that opens may hold the only copy.
  const secrets = await readSealed(file)
  if (!secrets) throw new Error(`${file.path} is gone; run this again`)
  if (isNew) return { secrets, isNew }
  const kept = Object.entries(secrets).filter(([name]) => runsAtSupabase || !isOfCalls(name))
  const whole = { ...newSecrets(runsAtSupabase), ...Object.fromEntries(kept) }
  if (Object.keys(whole).toSorted().join() === Object.keys(secrets).toSorted().join())
    return { secrets, isNew }
  await writeSealed(file, whole)
  return { secrets: whole, isNew }
}

/** Returns the secrets of a deployment that has run with this version. Throws one sentence for any other. */
export async function heldSecrets(settingsFile: string, passphrase: string): Promise<SecretTexts> {
  const file = secretsFile(settingsFile, passphrase)
  const secrets = await readSealed(file)
  const missing = Object.keys(newSecrets(true)).find((name) => secrets?.[name] === undefined)
  if (secrets && missing === undefined) return secrets
  throw new Error(`${file.path} has no ${missing}: run npm run deploy first`)
}

/** Describes the file of the secrets. */
export function secretsFile(settingsFile: string, passphrase: string): SealedJson<SecretTexts> {
  const schema = z.record(z.string(), z.string())
  return { path: secretsPath(settingsFile), kind: 'secrets', passphrase, schema }
}

/** Makes the file. Of two runs at once, one does; the other would go on with secrets that nobody keeps. */
async function makeOnce(file: SealedJson<SecretTexts>, runsAtSupabase: boolean): Promise<boolean> {
  const own = `${file.path}.${randomUUID()}`
  await writeSealed({ ...file, path: own }, newSecrets(runsAtSupabase))
  try {
    linkSync(own, file.path)
    return true
  } catch (error) {
    if (existsSync(file.path)) return false
    throw error
  } finally {
    rmSync(own)
  }
}

const isOfCalls = (name: string) => name.startsWith('REMOTE_CALLS_')

function newSecrets(runsAtSupabase: boolean): SecretTexts {
  const { custody, vault, app } = newFiles()
  // The outbox key is the same in two of them.
  const remote = createSessionKeys()
  const remoteCalls = {
    REMOTE_CALLS_PRIVATE_KEY: remote.privateKey,
    REMOTE_CALLS_PUBLIC_KEYS: remote.publicKeys,
  }
  const all = Object.entries({
    ...custody,
    ...vault,
    ...app,
    ...(runsAtSupabase && remoteCalls),
  })
  return Object.fromEntries(all.filter(([name]) => !ofOneMachine.includes(name)))
}
