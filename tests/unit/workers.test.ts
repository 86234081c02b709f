import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { root } from '../support/tidy/files.ts'

const workers = await plannedWorkers({}, 'few')
const functions = await readFunctions()

function worker(module: string) {
  const found = workers.find((one) => one.module === module)
  if (!found) throw new Error(`there is no worker ${module}`)
  return found
}

function holdersOf(secret: string): string[] {
  return workers.filter(({ secrets }) => secrets.includes(secret)).map(({ module }) => module)
}

test('every function is in one worker, and what no group names is in app', () => {
  const folders = workers.flatMap((one) => one.folders)
  const { app, ...groups } = Object.fromEntries(workers.map((one) => [one.module, one.folders]))

  expect(folders.toSorted()).toEqual(functions.map(({ folder }) => folder))
  expect(groups).toEqual({
    custody: ['custody'],
    mail: ['inbound-mail', 'mailer'],
    'mail-reader': ['mail-reader'],
    schedules: ['housekeeping'],
    vault: ['vault'],
    web: ['web'],
  })
  expect(app).toEqual(expect.arrayContaining(['discovery', 'mcp', 'not-found', 'oauth']))
})

test('custody and the vault alone hold their roots, and the reader of strangers’ mails holds nothing', () => {
  const { vars, secrets, services, prefixes, crons } = worker('mail-reader')

  expect(holdersOf('CUSTODY_ROOT_KEYS')).toEqual(['custody'])
  expect(holdersOf('CUSTODY_DATABASE_KEY')).toEqual(['custody'])
  expect(holdersOf('VAULT_ROOT_KEYS')).toEqual(['vault'])
  expect(holdersOf('VAULT_DATABASE_KEY')).toEqual(['vault'])
  expect([secrets, services, prefixes, crons]).toEqual([[], [], [], []])
  expect(Object.keys(vars).filter((name) => /KEY|TOKEN|SECRET/.test(name))).toEqual([
    'SUPABASE_API_KEY',
  ])
})

test('the keys of sessions, notices and mail are each in the workers that use them', () => {
  expect(holdersOf('SESSION_PRIVATE_KEY')).toEqual(['web'])
  expect(holdersOf('TURNSTILE_SECRET_KEY')).toEqual(['web'])
  expect(holdersOf('RECEIPT_PRIVATE_KEY')).toEqual(['app', 'web'])
  for (const name of ['DKIM_PRIVATE_KEY', 'MAIL_TOKEN', 'VAPID_PRIVATE_KEY', 'INBOUND_MAIL_SECRET'])
    expect(holdersOf(name), name).toEqual(['mail'])
})

test('a worker has what its functions have, and no more', () => {
  for (const one of workers) {
    const inside = functions.filter(({ folder }) => one.folders.includes(folder))
    const names = inside.flatMap(({ vars }) => Object.keys(vars))

    expect(new Set(one.secrets)).toEqual(new Set(inside.flatMap(({ secrets }) => secrets)))
    expect(new Set(Object.keys(one.vars))).toEqual(new Set(names))
    expect(one.crons).toEqual([...new Set(inside.flatMap(({ crons }) => crons))])
    expect(one.takesMail).toBe(inside.some(({ takesMail }) => takesMail))
  }
})

test('a path leads to the worker of the function that it would lead to alone', () => {
  const alone = functions.flatMap(({ folder, prefixes }) =>
    prefixes.map((prefix) => ({ folder, prefix })),
  )
  const routes = workers.flatMap((one) => one.prefixes.map((prefix) => ({ one, prefix })))
  const longest = <Route extends { prefix: string }>(path: string, all: readonly Route[]) =>
    all
      .filter(({ prefix }) => path.startsWith(prefix))
      .toSorted((a, b) => b.prefix.length - a.prefix.length)[0]

  for (const { prefix } of alone) {
    for (const path of [prefix, `${prefix}x`, `${prefix}/x`]) {
      const folder = longest(path, alone)?.folder ?? ''
      expect(longest(path, routes)?.one.folders, path).toContain(folder)
    }
  }
  expect(workers.map(({ routes: of }) => of).filter((of) => of.length > 0)).toEqual([
    ['api.example.com/inbound-mail*'],
    ['api.example.com/*'],
    ['api.example.com/web*'],
  ])
})

test('a worker is uploaded after those that it calls, but for the vault, which mail calls too', () => {
  const before = workers.map(({ services }, at) =>
    services
      .map(({ service }) => service)
      .filter((service) => workers.findIndex(({ name }) => name === service) > at),
  )

  expect(workers.map(({ module }) => module)).toEqual([
    'custody',
    'mail-reader',
    'vault',
    'mail',
    'app',
    'schedules',
    'web',
  ])
  expect(before).toEqual([[], [], ['aoa-mail'], [], [], [], []])
})

test('a worker is bound to workers of the deployment, and never to itself', () => {
  const names = workers.map(({ name }) => name)

  for (const { name, services } of workers) {
    for (const { service } of services) {
      expect(names).toContain(service)
      expect(service).not.toBe(name)
    }
  }
  expect(worker('app').services).toEqual([
    { binding: 'CUSTODY', service: 'aoa-custody' },
    { binding: 'MAILER', service: 'aoa-mail' },
    { binding: 'VAULT', service: 'aoa-vault' },
  ])
})

test('values replace the vars of every worker that has them, and the host of its routes', async () => {
  const values = {
    BASE_URL: 'https://agents.example.org',
    MAIL_DOMAIN: 'in.example.org',
    OTHER: '1',
  }
  const planned = await plannedWorkers(values, 'few')

  for (const { vars } of planned) {
    expect(vars).toMatchObject({ BASE_URL: values.BASE_URL, MAIL_DOMAIN: values.MAIL_DOMAIN })
    expect(vars).not.toHaveProperty('OTHER')
  }
  expect(planned.flatMap(({ routes }) => routes)).toContain('agents.example.org/web*')
})

/** Prints each worker as wrangler reads it; what it warns of goes to the standard error. */
const reading = `const { unstable_readConfig: read } = await import('wrangler')
  const all = process.argv.slice(1).map((env) => read({ config: 'wrangler.toml', env }))
  console.log(JSON.stringify(all))`

test('wrangler reads each worker as it is planned, and warns of nothing', () => {
  const modules = workers.map(({ module }) => module)
  const given = ['--no-warnings', '--input-type=module', '-e', reading, ...modules]

  const { stdout, stderr } = spawnSync(process.execPath, given, { cwd: root, encoding: 'utf8' })

  const text = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  expect(Object.keys(parse(text)['env'] ?? {})).toEqual(modules)
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toMatchObject(
    workers.map((one) => ({
      name: one.name,
      no_bundle: true,
      find_additional_modules: false,
      workers_dev: false,
      preview_urls: false,
      observability: { enabled: true },
      compatibility_date: one.compatibilityDate,
      compatibility_flags: one.compatibilityFlags,
      vars: one.vars,
      services: one.services,
      ...(one.routes.length > 0 && { routes: one.routes }),
      triggers: one.crons.length > 0 ? { crons: one.crons } : {},
      ...(one.cpuMilliseconds && { limits: { cpu_ms: one.cpuMilliseconds } }),
    })),
  )
})
