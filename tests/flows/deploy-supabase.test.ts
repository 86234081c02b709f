/** `npm run deploy -- --target supabase`: what is written and said, and what has to be there before. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import {
  demandTarget,
  sayEdgePlan,
  secretLines,
  writeTarget,
} from '../../scripts/deploy/edge/run.ts'
import { openSecrets } from '../../scripts/deploy/keys.ts'
import { deploy } from '../../scripts/deploy/run.ts'
import { openDeployment } from '../support/deploy/deployment.ts'

const folders = [...new Set(contracts.map(({ folder }) => folder))].toSorted()
const taking = () => Promise.resolve(new Response(null, { status: 401 }))

test('functions, settings and values are written without a secret, and secrets go to a pipe alone', async () => {
  const { given, folder, lines, supabase } = await openDeployment({ supabase_functions: 'true' })
  await deploy(given)
  const { settings, passphrase } = given
  const changes = supabase.changes.length

  const code = await writeTarget({ ...given, fetch: taking, outdir: folder })
  const secrets = await secretLines(settings, passphrase)

  const written = join(folder, 'supabase')
  const config = parse(readFileSync(join(written, 'config.toml'), 'utf8'))
  const values = readFileSync(join(written, 'public.env'), 'utf8')
  const texts = [values, ...folders.map((name) => moduleOf(written, name))]
  expect(code).toBe(0)
  expect(readdirSync(join(written, 'functions')).toSorted()).toEqual(folders)
  expect(config).toMatchObject({
    project_id: settings.project,
    functions: { 'vault-use': { verify_jwt: false, entrypoint: './functions/vault-use/index.js' } },
  })
  expect(values).toContain("AOA_BASE_URL='https://api.example.com'\n")
  expect(values).toMatch(/^AOA_SUPABASE_API_KEY='sb_publishable_/m)
  expect(values).toMatch(/^AOA_RECEIPT_PUBLIC_KEYS='{"keys":\[{/m)
  expect(secrets).not.toMatch(/ROOT_KEYS|CUSTODY_|VAULT_|SESSION_|MAIL_TOKEN/)
  const pairs = [...secrets.matchAll(/^(AOA_[A-Z_]+)='(.+)'$/gm)]
  expect(pairs.length).toBe(secrets.trim().split('\n').length)
  for (const [, name = '', value = ''] of pairs) {
    expect(values).toContain(`# ${name}\n`)
    for (const text of [...texts, lines.join()]) expect(text.includes(value), name).toBe(false)
  }
  expect(supabase.changes.length).toBe(changes)
  expect(/calls:\[\]\}\);\s*$/.test(moduleOf(written, 'vault-list'))).toBe(true)
  const needing = folders.filter((name) => /cloudflare:|"node:/.test(moduleOf(written, name)))
  expect(needing).toEqual([])
})

const moduleOf = (written: string, name: string) =>
  readFileSync(join(written, 'functions', name, 'index.js'), 'utf8')

test('the workers take calls only where the settings say so', async () => {
  const without = await openDeployment()
  const opened = await openDeployment({ supabase_functions: 'true' })

  await deploy(without.given)
  await deploy(opened.given)

  const scripts = opened.account.account.scripts
  const held = JSON.stringify(scripts.get('aoa-remote-calls')?.versions[0]?.bindings)
  expect(without.account.account.scripts.has('aoa-remote-calls')).toBe(false)
  expect(held).toMatch(/kty.{5}OKP/)
  expect(JSON.stringify([...scripts])).not.toContain('REMOTE_CALLS_PRIVATE_KEY')
  expect(() => demandTarget('supabase', without.given.settings)).toThrow(
    'set supabase_functions = true and run npm run deploy',
  )
  expect(() => demandTarget('vercel', opened.given.settings)).toThrow(
    '--target has to be supabase, not vercel',
  )
})

test('before a deployment it says that one has to come first', async () => {
  const { given, folder } = await openDeployment({ supabase_functions: 'true' })
  const writing = { ...given, outdir: folder }

  await expect(writeTarget(writing)).rejects.toThrow('run npm run deploy first')
  await deploy(given)
  await expect(writeTarget(writing)).rejects.toThrow(
    'https://api.example.com/remote-calls answers 404, so no worker takes calls',
  )
  expect(readdirSync(folder)).not.toContain('supabase')
})

test('a plan says what each function would be given, and writes nothing', async () => {
  const { given, folder, lines } = await openDeployment({ supabase_functions: 'true' })

  sayEdgePlan(given.settings, given.say)

  const said = lines.join('\n')
  expect(said).toContain('x402-payment-execute\n  calls at https://api.example.com/remote-calls: ')
  expect(said).toContain('CUSTODY, MAILER')
  for (const name of folders) expect(lines).toContain(name)
  expect(readdirSync(folder)).toEqual(['deploy.toml'])
})

test('a key of calls that was turned off and on again is another one', async () => {
  const { file, given } = await openDeployment()
  const keyOf = async (runsAtSupabase: boolean) => {
    const { secrets } = await openSecrets(file, given.passphrase, async () => false, runsAtSupabase)
    return secrets['REMOTE_CALLS_PRIVATE_KEY']
  }

  const [first, same, none, other] = [
    await keyOf(true),
    await keyOf(true),
    await keyOf(false),
    await keyOf(true),
  ]

  expect([same, none]).toEqual([first, undefined])
  expect(other).not.toBe(first)
})
