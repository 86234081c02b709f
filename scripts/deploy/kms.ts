/** Puts the root keys of custody, among the secrets of a deployment, under a key management service. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { parseJson } from '../../shared/base64.ts'
import { type KmsKey, kmsKeySchema, openSecret, sealSecret } from '../../shared/kms.ts'
import type { Outside } from '../program/outside.ts'
import { secretsFile } from './keys.ts'
import { readSealed, writeSealed } from './sealed-json.ts'

const binding = 'CUSTODY_ROOT_KEYS'

/** Returns the key of this name with the credentials of the environment. Throws a sentence if something is missing. */
export function kmsKeyNamed(name: string, environment: NodeJS.ProcessEnv): KmsKey {
  const key = kmsKeySchema.safeParse({ key: name, ...credentialsFor(name, environment) })
  if (key.success) return key.data
  const [field] = key.error.issues[0]?.path ?? []
  throw new Error(
    field === 'key'
      ? `${name} is no key: give an ARN of AWS KMS, or projects/.../cryptoKeys/... of Google Cloud`
      : `the credentials for ${name} have no usable ${String(field)}`,
  )
}

const accountFields = z.object({
  client_email: z.unknown().optional(),
  private_key_id: z.unknown().optional(),
  private_key: z.unknown().optional(),
})

function credentialsFor(name: string, environment: NodeJS.ProcessEnv) {
  const need = (variable: string) => {
    const value = environment[variable]
    if (!value) throw new Error(`${variable} is missing: set it in the environment`)
    return value
  }
  if (name.startsWith('arn:')) {
    const [access_key_id, secret_access_key] = [
      need('AWS_ACCESS_KEY_ID'),
      need('AWS_SECRET_ACCESS_KEY'),
    ]
    return { kms: 'aws', access_key_id, secret_access_key }
  }
  const account = parseJson(readFileSync(need('GOOGLE_APPLICATION_CREDENTIALS'), 'utf8'))
  return { kms: 'google', ...accountFields.safeParse(account).data }
}

/** Has the service seal the root keys, whether they are in the clear or sealed by another key, and keeps them so. */
export async function sealCustodyRoots(
  settingsFile: string,
  passphrase: string,
  key: KmsKey,
  world: Outside,
): Promise<void> {
  const file = secretsFile(settingsFile, passphrase)
  const secrets = await readSealed(file)
  const text = secrets?.[binding]
  if (!secrets || text === undefined) {
    throw new Error(`${file.path} has no ${binding}: run npm run deploy first`)
  }
  const roots = await openSecret(world, binding, text)
  const sealed = await sealSecret(world, binding, roots, key)
  // What replaces the only copy is opened before it does.
  if ((await openSecret(world, binding, sealed)) !== roots) {
    throw new Error(`${key.key} does not open what it sealed; nothing was changed`)
  }
  await writeSealed(file, { ...secrets, [binding]: sealed })
}
