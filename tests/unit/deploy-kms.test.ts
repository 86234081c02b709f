/** `npm run deploy -- --kms`: the roots among the secrets of a deployment are sealed whole or stay as they were. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { heldSecrets, openSecrets, secretsPath } from '../../scripts/deploy/keys.ts'
import { kmsKeyNamed, sealCustodyRoots } from '../../scripts/deploy/kms.ts'
import { outside } from '../../scripts/program/outside.ts'
import { openSecret } from '../../shared/kms.ts'
import { openAwsKms, openGoogleKms } from '../support/fake-kms.ts'

const folder = mkdtempSync(join(tmpdir(), 'aoa-kms-'))
afterAll(() => rmSync(folder, { recursive: true }))
const passphrase = 'correct horse battery'
const binding = 'CUSTODY_ROOT_KEYS'
const none = () => Promise.reject(new TypeError('fetch failed'))

test('the roots are sealed by one service and then by another, and stay the same', async () => {
  const file = join(folder, 'moved.toml')
  const { secrets } = await openSecrets(file, passphrase, async () => false, true)
  const [aws, google] = [openAwsKms(() => outside.now()), openGoogleKms(() => outside.now())]
  const both = { ...outside, fetch: aws.over(google.over(none)) }

  await sealCustodyRoots(file, passphrase, aws.key, both)
  const first = await heldSecrets(file, passphrase)
  await sealCustodyRoots(file, passphrase, google.key, both)
  const second = await heldSecrets(file, passphrase)

  expect(first[binding]).toMatch(/^{"kms":"aws"/)
  expect(second[binding]).toMatch(/^{"kms":"google"/)
  expect(await openSecret(both, binding, second[binding] ?? '')).toBe(secrets[binding])
  expect({ ...second, [binding]: '' }).toEqual({ ...secrets, [binding]: '' })
})

test('a service that refuses leaves the file as it was', async () => {
  const file = join(folder, 'refused.toml')
  await openSecrets(file, passphrase, async () => false)
  const before = readFileSync(secretsPath(file))
  const aws = openAwsKms(() => outside.now())
  aws.refuses = 'AccessDeniedException'

  const sealing = sealCustodyRoots(file, passphrase, aws.key, { ...outside, fetch: aws.over(none) })

  await expect(sealing).rejects.toThrow()
  expect(readFileSync(secretsPath(file)).equals(before)).toBe(true)
})

test('before a first run there is nothing to seal', async () => {
  const { key } = openAwsKms(() => outside.now())

  await expect(
    sealCustodyRoots(join(folder, 'none.toml'), passphrase, key, outside),
  ).rejects.toThrow('has no CUSTODY_ROOT_KEYS: run npm run deploy first')
})

const arn = 'arn:aws:kms:eu-central-1:111122223333:key/1234'
const access = { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' }
const account = join(folder, 'account.json')
writeFileSync(account, JSON.stringify({ client_email: 'a@b.example', private_key_id: 'f00d' }))

test.each([
  [arn, {}, 'AWS_ACCESS_KEY_ID is missing'],
  ['arn:aws:s3:eu-central-1', access, 'is no key'],
  ['projects/a', {}, 'GOOGLE_APPLICATION_CREDENTIALS is missing'],
  ['projects/a', { GOOGLE_APPLICATION_CREDENTIALS: account }, 'is no key'],
  [
    'projects/a/locations/b/keyRings/c/cryptoKeys/d',
    { GOOGLE_APPLICATION_CREDENTIALS: account },
    'have no usable private_key',
  ],
])('%s with %j is refused: %s', (name, environment, told) => {
  expect(() => kmsKeyNamed(name, environment)).toThrow(told)
})

test('a key of AWS takes its credentials from the environment', () => {
  expect(kmsKeyNamed(arn, access)).toEqual({
    kms: 'aws',
    key: arn,
    access_key_id: access.AWS_ACCESS_KEY_ID,
    secret_access_key: access.AWS_SECRET_ACCESS_KEY,
  })
})
