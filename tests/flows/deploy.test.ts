/** A deployment from nothing, again, killed anywhere, refused and rolled back. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openSecrets } from '../../scripts/deploy/keys.ts'
import { sayPlan } from '../../scripts/deploy/preview.ts'
import { deploy } from '../../scripts/deploy/run.ts'
import { writeSealed } from '../../scripts/deploy/sealed-json.ts'
import { beforePath } from '../../scripts/deploy/upload/before.ts'
import { names, stateOf } from '../support/cloudflare/upload.ts'
import { openDeployment } from '../support/deploy/deployment.ts'

const isEmpty = () => Promise.resolve(false)

type Opened = Awaited<ReturnType<typeof openDeployment>>

/** Returns everything that a run leaves behind, with secrets as they are. */
async function leftBy({ database, account, supabase, file }: Opened) {
  const sql = postgres(database.url, { max: 1, onnotice() {} })
  const [row] = await sql`select to_regclass('private.gas_payers') is not null as is_migrated`
  const relayers = row?.['is_migrated']
    ? await sql<{ chain: string; address: string }[]>`
        select chain::text, address from private.gas_payers`
    : []
  await sql.end()
  const sealed = [`${file}.secrets`, `${file}.tokens`].map((path) =>
    existsSync(path) ? readFileSync(path, 'base64') : undefined,
  )
  const { keys, schemas, apiKeys } = supabase
  return structuredClone({
    relayers: [...relayers],
    sealed,
    workers: stateOf(account),
    keys,
    schemas,
    apiKeys,
  })
}

test('a run from nothing opens the service, and the next one changes nothing', async () => {
  const opened = await openDeployment()

  const first = await deploy(opened.given)
  const state = await leftBy(opened)
  const changes = [...opened.supabase.changes, ...opened.account.changes]
  const second = await deploy(opened.given)

  expect([first, second]).toEqual([0, 0])
  expect(opened.lines.join('\n')).toContain('ready: https://api.example.com/web/join')
  expect(await leftBy(opened)).toEqual(state)
  expect([...opened.supabase.changes, ...opened.account.changes]).toEqual(changes)
  expect(state.schemas).toBe('public,graphql_public,api')
  expect(state.relayers.map(({ chain }) => chain)).toEqual(['8453'])
  expect(state.workers.workers.map(({ name }) => name)).toEqual(names.toSorted())
  expect(existsSync(beforePath(opened.file))).toBe(false)
})

test('a run that is killed after any of its steps is continued to the same state', async () => {
  const opened = await openDeployment()
  let at = 1
  for (let isDone = false; !isDone; at += 1) {
    let said = 0
    const say = (line: string) => {
      // Findings of the doctor are not steps.
      if (!line.startsWith(' ')) said += 1
      if (said >= at) throw new Error('killed')
    }
    isDone = await deploy({ ...opened.given, say }).then(
      () => true,
      (error: Error) => {
        expect(error.message).toBe('killed')
        return false
      },
    )
  }

  const state = await leftBy(opened)
  expect(at).toBeGreaterThan(14)
  expect(state.relayers).toHaveLength(1)
  expect(state.keys.map(({ status }) => status)).toEqual(['previously_used', 'in_use'])
  expect(state.workers.workers.map(({ name }) => name)).toEqual(names.toSorted())
  expect(await deploy(opened.given)).toBe(0)
  expect(await leftBy(opened)).toEqual(state)
})

test('no line has a secret in it', async () => {
  const opened = await openDeployment()

  await deploy(opened.given)
  await sayPlan(opened.given)

  const said = opened.lines.join('\n')
  const values = JSON.stringify(stateOf(opened.account))
  const { databaseUrl, ...credentials } = opened.given.credentials
  const secrets = [
    ...Object.values(credentials).filter((one) => one !== 'none'),
    new URL(databaseUrl).password,
    opened.given.passphrase,
    'key-of-one',
    ...[...values.matchAll(/[A-Za-z0-9+/_-]{32,}/g)].map(([value]) => value),
  ].filter((one) => one !== '')
  expect(secrets.length).toBeGreaterThan(10)
  for (const secret of secrets) expect(said).not.toContain(secret)
})

test('a plan changes nothing, and says what each worker may reach', async () => {
  const opened = await openDeployment()
  const before = await leftBy(opened)

  await sayPlan(opened.given)

  expect(await leftBy(opened)).toEqual(before)
  expect(opened.supabase.changes).toEqual([])
  const said = opened.lines.join('\n')
  for (const change of [
    'would make ',
    'would apply the migration ',
    'would expose the schema api',
    'would open a relayer on eip155:8453',
    'would import a signing key',
    'would make a publishable key',
    'would upload aoa-custody, which is new',
    'Let the catch-all rule of agents.example.com send to the worker aoa-mail',
  ]) {
    expect(said).toContain(change)
  }
  expect(said).toContain(
    [
      'aoa-custody',
      '  functions: custody',
      '  called by: none',
      '  calls: none',
      '  hosts in its vars: api.example.com, abcdefghijklmnopqrst.supabase.co',
      '  secrets: CUSTODY_DATABASE_KEY, CUSTODY_ROOT_KEYS',
    ].join('\n'),
  )
})

test('a plan after a run names only what may still differ', async () => {
  const opened = await openDeployment({ mail_domain: '"example.com"' })
  expect(await deploy(opened.given)).toBe(0)
  opened.lines.length = 0

  await sayPlan(opened.given)

  expect(opened.lines.filter((line) => line.startsWith('would '))).toEqual([
    'would mint the three tokens anew if they end within 90 days',
    ...names.map((name) => `would upload ${name} if it differs`),
  ])
})

test('a service that does not answer well is rolled back, and the next run uploads it again', async () => {
  const opened = await openDeployment()
  opened.service.reasons = ['custody_unreachable']

  const red = await deploy(opened.given)
  const left = opened.account.account.scripts.size
  opened.service.reasons = []
  const green = await deploy(opened.given)

  expect([red, green]).toEqual([1, 0])
  expect(left).toBe(0)
  const said = opened.lines.join('\n')
  expect(said).toContain(
    'WRONG the capabilities (/.well-known/agent-card.json) custody is not live',
  )
  expect(said).toContain('rolled back')
})

test('a service that takes a while is waited for', async () => {
  const opened = await openDeployment()
  opened.service.down.add('/web/join')
  opened.service.reasons = ['health_not_watched']
  let pauses = 0
  const pause = async (milliseconds: number) => {
    await opened.given.pause(milliseconds)
    if (milliseconds === 5_000 && (pauses += 1) === 3) {
      opened.service.down.clear()
      opened.service.reasons = []
    }
  }

  expect(await deploy({ ...opened.given, pause })).toBe(0)
  expect(pauses).toBe(3)
})

test('nothing goes on before a copy of the secrets is kept elsewhere', async () => {
  const opened = await openDeployment()

  const refused = await deploy({ ...opened.given, confirmEscrow: async () => false })

  expect(refused).toBe(1)
  expect(opened.lines.at(-1)).toContain('then run this again with --escrowed')
  expect(opened.supabase.changes).toEqual([])
  expect(opened.account.changes).toEqual([])
})

test('secrets under another passphrase are not replaced', async () => {
  const opened = await openDeployment()
  await deploy(opened.given)
  const before = readFileSync(`${opened.file}.secrets`)

  const other = deploy({ ...opened.given, passphrase: 'another passphrase' })

  await expect(other).rejects.toThrow('the passphrase is another one')
  expect(readFileSync(`${opened.file}.secrets`).equals(before)).toBe(true)
  writeFileSync(`${opened.file}.secrets`, before.subarray(0, 200))
  await expect(deploy(opened.given)).rejects.toThrow('the file is damaged')
})

test('of two runs at once, one makes the secrets, and both go on with them', async () => {
  const { file, folder, given } = await openDeployment()

  const both = await Promise.all([1, 2].map(() => openSecrets(file, given.passphrase, isEmpty)))

  expect(both[0]?.secrets).toEqual(both[1]?.secrets)
  expect(both.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect(readdirSync(folder).toSorted()).toEqual(['deploy.toml', 'deploy.toml.secrets'])
})

test('an interrupted run uploads nothing more', async () => {
  const opened = await openDeployment()
  const stopping = new AbortController()
  const { signal } = stopping
  const say = (line: string) => {
    if (line === 'aoa-mail-reader: uploading') stopping.abort()
  }
  const cloudflare = { ...opened.given.cloudflare, signal }

  await expect(deploy({ ...opened.given, cloudflare, say, signal })).rejects.toThrow('aborted')

  expect([...opened.account.account.scripts.keys()]).toEqual(['aoa-custody'])
  expect(opened.service.asked).toBe(0)
})

test('mail of the zone goes to the worker, unless it goes elsewhere already', async () => {
  const opened = await openDeployment({ mail_domain: '"example.com"' })
  const rule = (type: 'worker' | 'forward', value: string) => ({
    enabled: true,
    matchers: [{ type: 'all' as const }] satisfies [{ type: 'all' }],
    actions: [{ type, value: [value] }],
  })

  await deploy(opened.given)
  const first = opened.cloudflare.catchAll
  opened.cloudflare.catchAll = rule('forward', 'ann@people.example')
  await deploy(opened.given)

  expect(first).toEqual(rule('worker', 'aoa-mail'))
  expect(opened.cloudflare.catchAll).toEqual(rule('forward', 'ann@people.example'))
  expect(opened.lines).toContainEqual(
    expect.stringMatching(/^Let the catch-all rule of example.com/),
  )
})

test('mail of a subdomain is handed over by its operator', async () => {
  const opened = await openDeployment()

  await deploy(opened.given)

  expect(opened.cloudflare.catchAll.enabled).toBe(false)
  expect(opened.lines).toContain(
    'Let the catch-all rule of agents.example.com send to the worker aoa-mail (dashboard, Email Routing)',
  )
})

test('lost secrets are not made anew for a service that has keys', async () => {
  const opened = await openDeployment()
  await deploy(opened.given)
  rmSync(`${opened.file}.secrets`)
  const before = await leftBy(opened)

  await expect(deploy(opened.given)).rejects.toThrow('bring the')

  expect(await leftBy(opened)).toEqual(before)
})

test('a secret that a newer version needs is made, and the others stay', async () => {
  const { file, given } = await openDeployment()
  const { secrets } = await openSecrets(file, given.passphrase, isEmpty)
  const { OTP_PEPPER: _, ...older } = secrets
  const path = `${file}.secrets`
  const schema = z.record(z.string(), z.string())
  await writeSealed({ path, kind: 'secrets', passphrase: given.passphrase, schema }, older)

  const { secrets: whole } = await openSecrets(file, given.passphrase, isEmpty)
  const again = await openSecrets(file, given.passphrase, isEmpty)

  expect(whole).toMatchObject(older)
  expect(whole['OTP_PEPPER']).toMatch(/^.{44}$/)
  expect(again.secrets).toEqual(whole)
})
