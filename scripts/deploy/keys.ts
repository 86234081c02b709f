/**
 * The secrets that a deployment makes itself. They are made once, sealed under a passphrase beside the settings,
 * and never changed: wallets, logins, passwords and sessions depend on them, and no platform gives one back.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, rmSync } from 'node:fs'
import * as z from 'zod'
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
 * added are made too. Throws where `holdsKeys` says that the service has keys sealed by secrets that are not here.
 */
export async function openSecrets(
  settingsFile: string,
  passphrase: string,
  holdsKeys: () => Promise<boolean>,
): Promise<{ secrets: SecretTexts; isNew: boolean }> {
  const file: SealedJson<SecretTexts> = {
    path: secretsPath(settingsFile),
    kind: 'secrets',
    passphrase,
    schema: z.record(z.string(), z.string()),
  }
  if (!existsSync(file.path) && (await holdsKeys())) {
    throw new Error(
      `the database holds keys that other secrets sealed: bring the ${file.path} of that deployment here; new secrets would lose every wallet and login`,
    )
  }
  const isNew = !existsSync(file.path) && (await makeOnce(file))
  // New secrets are read back too: only a file that opens may hold the only copy.
  const secrets = await readSealed(file)
  if (!secrets) throw new Error(`${file.path} is gone; run this again`)
  if (isNew) return { secrets, isNew }
  const missing = Object.entries(newSecrets()).filter(([name]) => !(name in secrets))
  if (missing.length === 0) return { secrets, isNew }
  const whole = { ...secrets, ...Object.fromEntries(missing) }
  await writeSealed(file, whole)
  return { secrets: whole, isNew }
}

/** Makes the file. Of two runs at once, one does; the other would go on with secrets that nobody keeps. */
async function makeOnce(file: SealedJson<SecretTexts>): Promise<boolean> {
  const own = `${file.path}.${randomUUID()}`
  await writeSealed({ ...file, path: own }, newSecrets())
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

function newSecrets(): SecretTexts {
  const { custody, vault, app } = newFiles()
  // The outbox key is the same in two of them.
  const all = Object.entries({ ...custody, ...vault, ...app })
  return Object.fromEntries(all.filter(([name]) => !ofOneMachine.includes(name)))
}
