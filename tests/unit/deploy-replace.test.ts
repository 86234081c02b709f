/** `npm run deploy -- --replace`: each step leaves a value that a neighbouring step also reads. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { heldSecrets, openSecrets, secretsPath } from '../../scripts/deploy/keys.ts'
import { replaceSecret } from '../../scripts/deploy/replace.ts'

const folder = mkdtempSync(join(tmpdir(), 'aoa-replace-'))
afterAll(() => rmSync(folder, { recursive: true }))
const passphrase = 'correct horse battery'

test.each(['OTP_PEPPER', 'OUTBOX_KEY', 'PASSWORD_PEPPER'])(
  '%s is replaced in three steps, over deployments between them',
  async (name) => {
    const file = join(folder, `${name}.toml`)
    const deploy = async () =>
      (await openSecrets(file, passphrase, async () => false, true)).secrets
    const before = await deploy()
    const old = before[name] ?? ''
    const bound: string[] = []
    const told: string[] = []
    for (let step = 0; step < 3; step += 1) {
      told.push(await replaceSecret(file, passphrase, name))
      bound.push((await deploy())[name] ?? '')
    }
    const [added = '', switched = '', after = ''] = bound

    expect(added).toBe(`${old} ${after}`)
    expect(switched).toBe(`${after} ${old}`)
    expect(after).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    expect(told.map((line) => line.slice(0, 6))).toEqual(['1 of 3', '2 of 3', '3 of 3'])
    expect({ ...(await heldSecrets(file, passphrase)), [name]: old }).toEqual(before)
  },
)

test('a secret without an overlap, and a deployment without secrets, are left as they are', async () => {
  const file = join(folder, 'kept.toml')
  await openSecrets(file, passphrase, async () => false)
  const before = readFileSync(secretsPath(file))

  await expect(replaceSecret(file, passphrase, 'API_KEY_PEPPER')).rejects.toThrow('no overlap')
  await expect(replaceSecret(join(folder, 'none.toml'), passphrase, 'OTP_PEPPER')).rejects.toThrow(
    'run npm run deploy first',
  )
  expect(readFileSync(secretsPath(file)).equals(before)).toBe(true)
})
