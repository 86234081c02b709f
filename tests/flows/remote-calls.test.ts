/** The function that takes calls from another platform, in workerd, with bindings to workers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { startWorkers, type Workers } from '../../scripts/local/workers.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { portsOf, privateKey, publicKeys } from '../support/edge/door.ts'
import { randomUUID } from '../support/seed.ts'
import { pepper, start } from '../support/world.ts'

const world = await start()
const folders = ['remote-calls', 'custody', 'vault', 'mailer']
const bindings = {
  ...world.bindings.product,
  ...world.bindings.custody,
  ...world.bindings.vault,
  REMOTE_CALLS_PUBLIC_KEYS: publicKeys,
}
const lines: string[] = []
let workers: Workers
beforeAll(async () => {
  const modules = mkdtempSync(join(tmpdir(), 'aoa-remote-'))
  afterAll(() => rmSync(modules, { recursive: true, force: true }))
  await buildFunctions(modules, folders)
  const { functions: port } = await choosePorts(0)
  const BASE_URL = `http://127.0.0.1:${port}`
  const functions = (await readFunctions(bindings))
    .filter(({ folder }) => folders.includes(folder))
    .map((one) => ({ ...one, crons: [] }))
  workers = await startWorkers({
    functions,
    port,
    modules,
    bindings: { ...bindings, BASE_URL },
    log: (line) => lines.push(line),
  })
  afterAll(() => workers.stop())
}, 60_000)

function ports() {
  const config = {
    ...world.world.config,
    BASE_URL: workers.url,
    REMOTE_CALLS_PRIVATE_KEY: privateKey,
  }
  return portsOf({ ...world.world, config, now: () => new Date(), fetch })
}

test('values, refusals and errors come back as from the workers themselves', async () => {
  const { vault, custody, mailer } = ports()
  const credential = await credentialOf((await world.agent('pay')).key, pepper)
  const site = 'https://shop.example.com'
  const password = 'a password of mine'

  const stored = await vault.store({ credential, entry: { site, username: 'me', password } })
  const refused = await vault.totp({ credential, entry: randomUUID() })
  const relayed = custody.relay({
    chainId: 1,
    maxFeePerGas: 'no number',
    maxPriorityFeePerGas: '1',
    dataFeeWei: '0',
    gasPayers: [],
  })

  expect(stored).toMatchObject({ username: 'me', version: 1 })
  expect(refused).toMatchObject({ refusal: 'credential_not_found' })
  await expect(relayed).rejects.toThrow()
  await expect(mailer.ready()).rejects.toThrow('MAILER.ready was answered 401')
})

test('without a signature there is nothing, at its own address as elsewhere', async () => {
  const answers = await Promise.all(
    ['', '/', '/vault', '/x?to=VAULT'].map((rest) =>
      fetch(`${workers.url}/remote-calls${rest}`, { method: 'POST', body: '{}' }),
    ),
  )

  for (const answer of answers) expect([answer.status, await answer.text()]).toEqual([401, ''])
})

test('where nobody chose it, the function does not exist', async () => {
  const folders = (await readFunctions()).map(({ folder }) => folder)

  expect(folders).not.toContain('remote-calls')
})
