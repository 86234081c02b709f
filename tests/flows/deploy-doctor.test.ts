/** The doctor of a deployment names what is missing, with what to do, before anything is made. */
import { existsSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { type Deployment, deploy, isWell } from '../../scripts/deploy/run.ts'
import { createDatabase } from '../support/database.ts'
import { openDeployment } from '../support/deploy/deployment.ts'

let opened: Awaited<ReturnType<typeof openDeployment>>
beforeAll(async () => {
  opened = await openDeployment()
})

/** Runs a deployment and returns its wrong findings. Nothing may have been made. */
async function findings(differs: Partial<Deployment> = {}): Promise<string[]> {
  const lines: string[] = []
  const code = await deploy({ ...opened.given, ...differs, say: (line) => lines.push(line) })
  expect(code).toBe(1)
  expect(lines.at(-1)).toMatch(/^[0-9]+ to put right; nothing was changed$/)
  expect(existsSync(`${opened.file}.secrets`)).toBe(false)
  expect([opened.supabase.changes, opened.account.changes]).toEqual([[], []])
  return lines.filter((line) => line.startsWith('  WRONG ')).map((line) => line.slice(8))
}

test.each(['Workers Scripts: Edit', 'Workers Routes: Edit', 'DNS: Read', 'Zone: Read'])(
  'the missing right %s of the token of Cloudflare is named',
  async (right) => {
    opened.cloudflare.rights.delete(right)

    const found = await findings()

    opened.cloudflare.rights.add(right)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(right)
  },
)

test.each([
  'data_api_config_read',
  'data_api_config_write',
  'auth_signing_keys_read',
  'auth_signing_keys_write',
  'api_gateway_keys_read',
  'api_gateway_keys_write',
  'project_admin_read',
  'database_read',
])('the missing right %s of the token of Supabase is named', async (right) => {
  opened.supabase.rights.delete(right)

  const found = await findings()

  opened.supabase.rights.add(right)
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(right)
})

test('the right to set the rule for mail is needed where a deployment sets it, and only there', async () => {
  const settings = { ...opened.given.settings, mailDomain: 'example.com' }
  const records = opened.cloudflare.records
  opened.cloudflare.records = records.map((one) =>
    one.type === 'MX' ? { ...one, name: 'example.com' } : one,
  )
  opened.cloudflare.rights.delete('Email Routing Rules: Edit')

  const found = await findings({ settings })

  opened.cloudflare.records = records
  expect(found).toEqual([expect.stringContaining('Email Routing Rules: Edit')])
})

test('several missing rights are named at once', async () => {
  const rights = ['Workers Scripts: Edit', 'DNS: Read']
  for (const right of rights) opened.cloudflare.rights.delete(right)
  opened.supabase.rights.delete('auth_signing_keys_write')

  const found = await findings()

  for (const right of rights) opened.cloudflare.rights.add(right)
  opened.supabase.rights.add('auth_signing_keys_write')
  expect(found).toHaveLength(3)
})

test('tokens that are none are named, and nothing else of their platform', async () => {
  const { cloudflare, supabase } = opened.given
  const found = await findings({
    cloudflare: { ...cloudflare, token: 'wrong' },
    supabase: { ...supabase, token: 'wrong' },
  })

  expect(found).toHaveLength(2)
  expect(found[0]).toContain('CLOUDFLARE_API_TOKEN is not an active token')
  expect(found[1]).toContain('SUPABASE_ACCESS_TOKEN is not valid')
})

test('the free plan and a zone of another account are named', async () => {
  const { plans, zone, accountId } = opened.cloudflare
  plans.splice(0, plans.length, { id: 'zone_free', is_contract: false })
  zone.accountId = 'e'.repeat(32)

  const found = await findings()

  plans.splice(0, plans.length, { id: 'workers_paid', is_contract: false })
  zone.accountId = accountId
  expect(found[0]).toContain(`is in the account ${'e'.repeat(32)}: correct account_id`)
  expect(found[1]).toContain('Workers are on the free plan')
  expect(found).toHaveLength(2)
})

test.each([
  ['no record', [], 'has no record: add AAAA api.example.com 100::, proxied'],
  ['a record without proxy', [{ proxied: false }], 'is not proxied'],
] as const)('%s of the host is named', async (_, records, sentence) => {
  const [own, ...others] = opened.cloudflare.records
  if (!own) throw new Error('the zone has no record')
  opened.cloudflare.records = [...records.map((one) => ({ ...own, ...one })), ...others]

  const found = await findings()

  opened.cloudflare.records = [own, ...others]
  expect(found).toEqual([expect.stringContaining(sentence)])
})

test.each([
  ['none', [], 'has no MX records: enable Email Routing'],
  ['those of another', ['mx.elsewhere.example'], 'goes to mx.elsewhere.example'],
])('MX records: %s', async (_, servers, sentence) => {
  const { records } = opened.cloudflare
  const mail = servers.map((content) => ({
    type: 'MX',
    name: 'agents.example.com',
    content,
    proxied: false,
  }))
  opened.cloudflare.records = [...records.filter(({ type }) => type !== 'MX'), ...mail]

  const found = await findings()

  opened.cloudflare.records = records
  expect(found).toEqual([expect.stringContaining(sentence)])
})

test.each([
  ['postgres://u:hidden@db.example:5432/postgres', 'does not demand TLS: add ?sslmode=require'],
  ['postgres://u:hidden@db.example:6543/postgres?sslmode=require', 'transaction pooler'],
  ['mysql://u:hidden@db.example/x', 'is not an address such as'],
  ['postgres://u:hidden@127.0.0.1:1/postgres', 'cannot be reached (ECONNREFUSED)'],
])('the database %s is named', async (databaseUrl, sentence) => {
  const credentials = { ...opened.given.credentials, databaseUrl }

  const found = await findings({ credentials })

  expect(found).toEqual([expect.stringContaining(sentence)])
  expect(found.join()).not.toContain('hidden')
})

test('a login that may not create roles is named', async () => {
  const url = new URL(opened.database.url)
  const { default: postgres } = await import('postgres')
  const sql = postgres(url.href, { max: 1, onnotice() {} })
  const name = `weak_${url.pathname.slice(1)}`
  await sql.unsafe(`create role ${name} login password 'weak'`)
  url.username = name
  url.password = 'weak'

  const found = await findings({
    credentials: { ...opened.given.credentials, databaseUrl: url.href },
  })

  await sql.unsafe(`drop role ${name}`)
  await sql.end()
  expect(found).toEqual([expect.stringContaining('may not create roles')])
})

test('the database of another project is named, whatever its address looks like', async () => {
  const other = await createDatabase('template1')
  const credentials = { ...opened.given.credentials, databaseUrl: other.url }

  const found = await findings({ credentials })

  await other.drop()
  expect(found).toEqual([
    'DATABASE_URL is another database than that of abcdefghijklmnopqrst: correct one of them',
  ])
})

test('a project that is paused is named', async () => {
  opened.supabase.status = 'INACTIVE'

  const found = await findings()

  opened.supabase.status = 'ACTIVE_HEALTHY'
  expect(found).toEqual([expect.stringContaining('is INACTIVE: restore it')])
})

test('a token of the account, and a plan that is not shown, stop nothing', async () => {
  opened.cloudflare.isOfAccount = true
  opened.cloudflare.rights.delete('Email Routing Rules: Edit')
  opened.cloudflare.rights.delete('Billing: Read')
  const lines: string[] = []

  const code = await deploy({ ...opened.given, say: (line) => lines.push(line) })

  expect(code).toBe(0)
  expect(lines).toContainEqual(expect.stringContaining('look  the plan of Workers is not shown'))
})

test('tokens that end within 60 days are told, and stop nothing', async () => {
  const dayMilliseconds = 86_400_000
  opened.cloudflare.expiresOn = new Date(Date.now() + 30 * dayMilliseconds).toISOString()
  const lines: string[] = []
  const say = (line: string) => lines.push(line)
  expect(await deploy(opened.given)).toBe(0)
  const now = () => new Date(Date.now() + 306 * dayMilliseconds)

  expect(await isWell({ ...opened.given, now, say })).toBe(true)
  const warned = lines.filter((line) => line.includes('renew before'))
  lines.length = 0
  delete opened.cloudflare.expiresOn
  expect(await isWell({ ...opened.given, say })).toBe(true)

  expect(warned).toEqual([
    expect.stringMatching(/^ {2}look {2}CLOUDFLARE_API_TOKEN ends on 20/),
    expect.stringMatching(/^ {2}look {2}the last token of the database ends on 20/),
  ])
  expect(lines.join('\n')).not.toContain('renew before')
})
