import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { functionFolders } from '../../scripts/build/functions.ts'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { readConfig } from '../../shared/env.ts'

/** Value of a deployment whose operations also run at Supabase. */
const atSupabase = { REMOTE_CALLS_PUBLIC_KEYS: '{"keys":[]}' }
const functions = await readFunctions(atSupabase)
/** Functions that another function or the clock calls, and that no outside caller reaches. */
const internal = ['custody', 'housekeeping', 'mail-reader', 'mailer', 'vault']

/** Secrets of operations that need more than the caller's token; some of them send mail to the owner. */
const telling = ['API_KEY_PEPPER', 'OUTBOX_KEY']
const ownSecrets: Readonly<Record<string, string[]>> = {
  'account-freeze': telling,
  'account-webhook-create': telling,
  'confirm-registration-code': ['OTP_PEPPER'],
  'consent-receipt': ['API_KEY_PEPPER', 'RECEIPT_PRIVATE_KEY'],
  'create-account': ['API_KEY_PEPPER', 'PASSWORD_PEPPER'],
  'defi-order-create': telling,
  housekeeping: ['OUTBOX_KEY'],
  mcp: ['API_KEY_PEPPER'],
  oauth: telling,
  'payment-mandate-create': telling,
  'request-signup-verification': ['OTP_PEPPER', 'OUTBOX_KEY'],
  'wallet-custodial-transfer': telling,
  'x402-payment-execute': telling,
  'x402-payment-prepare': telling,
  web: [
    'API_KEY_PEPPER',
    'OTP_PEPPER',
    'PASSWORD_PEPPER',
    'OUTBOX_KEY',
    'SESSION_PRIVATE_KEY',
    'RECEIPT_PRIVATE_KEY',
    'TURNSTILE_SECRET_KEY',
  ],
}

/** Functions that ask chains themselves. */
const onChain = [
  'create-account',
  'create-hosted-action',
  'defi-order-create',
  'defi-vaults-list',
  'get-identity',
  'get-wallet-balances',
  'housekeeping',
  'payment-mandate-create',
  'resolve-transfer-recipient',
  'sandbox',
  'transfer-status',
  'wallet-custodial-transfer',
  'web',
  'x402-payment-execute',
  'x402-payment-prepare',
]

/** Returns the secrets that a function's code reads from its bindings. */
function secretsOf(folder: string): string[] {
  return [...keysOf(folder), ...(onChain.includes(folder) ? ['CHAIN_RPC_URLS'] : [])]
}

function keysOf(folder: string): string[] {
  if (['not-found', 'mail-reader', 'sandbox'].includes(folder)) return []
  if (folder === 'mailer') {
    const keys = ['OUTBOX_KEY', 'MAIL_TOKEN', 'DKIM_PRIVATE_KEY', 'VAPID_PRIVATE_KEY']
    return ['SUPABASE_SERVICE_KEY', ...keys]
  }
  if (folder === 'custody') return ['CUSTODY_DATABASE_KEY', 'CUSTODY_ROOT_KEYS']
  if (folder === 'vault') return ['VAULT_DATABASE_KEY', 'VAULT_ROOT_KEYS', 'OUTBOX_KEY']
  if (folder === 'inbound-mail') return ['INBOUND_MAIL_SECRET']
  const own = ownSecrets[folder]
  if (own) return ['SUPABASE_SERVICE_KEY', ...own]
  const contract = contracts.find((one) => one.folder === folder)
  const readsTokens = contract !== undefined && contract.access !== 'public'
  return ['SUPABASE_SERVICE_KEY', ...(readsTokens ? ['API_KEY_PEPPER'] : [])]
}

test('every function folder is described, and every description has a folder', () => {
  expect(functions.map(({ folder }) => folder)).toEqual(functionFolders().toSorted())
})

test('the function that takes calls from another platform exists only where the deployment says so', async () => {
  const names = async (values: Record<string, string>) =>
    (await plannedWorkers(values, 'few')).map(({ name }) => name)

  expect(await names({})).not.toContain('aoa-remote-calls')
  const others = (await names(atSupabase)).filter((name) => name !== 'aoa-remote-calls')
  expect(others).toEqual(await names({}))
})

test.each(functions)('$folder is named by its folder', ({ folder, name }) => {
  expect(name).toBe(`aoa-${folder}`)
})

test('where each function has a worker of its own, the worker is that function', async () => {
  const workers = await plannedWorkers(atSupabase, 'each')
  const alone = new Map(workers.map((worker) => [worker.name, worker]))

  expect(alone.size).toBe(functions.length)
  workers.forEach(({ services }, at) => {
    const before = workers.slice(0, at).map(({ name }) => name)
    expect(before).toEqual(expect.arrayContaining(services.map(({ service }) => service)))
  })
  for (const { prefixes, ...one } of functions) {
    const { folder, secrets, services, ...same } = one
    const worker = alone.get(one.name)
    expect(worker).toMatchObject({ ...same, module: folder, folders: [folder], services })
    expect(worker?.prefixes).toEqual(prefixes)
    expect(worker?.secrets).toEqual(secrets.toSorted())
  }
})

/** Routes of functions whose paths are fixed elsewhere. */
const ownRoutes: Readonly<Record<string, string[]>> = {
  discovery: [
    '/discovery',
    '/skill',
    '/openapi.json',
    '/tools.json',
    '/llms.txt',
    '/.well-known/agent',
    '/.well-known/skill',
    '/.well-known/tools.json',
  ],
  'not-found': ['/'],
  oauth: ['/oauth', '/.well-known/oauth-', '/.well-known/openid-configuration'],
}

test.each(functions)('$folder has the route of its folder, or none', ({ folder, prefixes }) => {
  const wanted = ownRoutes[folder] ?? [`/${folder}`]

  expect(prefixes).toEqual(internal.includes(folder) ? [] : wanted)
})

function boundTo(binding: string): string[] {
  const bound = functions.filter(({ services }) => services.some((one) => one.binding === binding))
  return bound.map(({ folder }) => folder)
}

test('only the functions that have something signed, cancelled or opened can reach custody', () => {
  const paying = ['defi-order-create', 'wallet-custodial-transfer', 'x402-payment-execute']

  expect(boundTo('CUSTODY').toSorted()).toEqual(
    [
      'account-freeze',
      'create-account',
      'housekeeping',
      'remote-calls',
      'web',
      ...paying,
    ].toSorted(),
  )
})

test('a function can wake the mailer just when it can put a mail into the outbox', () => {
  const sealing = functions.filter(({ secrets }) => secrets.includes('OUTBOX_KEY'))
  const folders = sealing.map(({ folder }) => folder).filter((folder) => folder !== 'mailer')

  // One passes on what functions at Supabase ask for, which put mails into the outbox there.
  expect(boundTo('MAILER')).toEqual([...folders, 'remote-calls'].toSorted())
})

test('the function that reads strangers’ mails holds nothing, reaches nobody and may work for seconds', () => {
  const taker = functions.find(({ folder }) => folder === 'inbound-mail')
  const reader = functions.find(({ folder }) => folder === 'mail-reader')

  expect(functions.filter(({ takesMail }) => takesMail)).toEqual([taker])
  expect(taker?.secrets).toEqual(['INBOUND_MAIL_SECRET'])
  expect(taker?.services).toEqual([
    { binding: 'MAIL_READER', service: 'aoa-mail-reader' },
    { binding: 'VAULT', service: 'aoa-vault' },
  ])
  expect([reader?.secrets, reader?.services, reader?.crons]).toEqual([[], [], []])
  expect([taker?.cpuMilliseconds, reader?.cpuMilliseconds]).toEqual([2_000, 5_000])
  expect(boundTo('MAIL_READER')).toEqual(['inbound-mail'])
})

test('the tools reach the function of each operation, and nothing else', () => {
  const folders = new Set(contracts.map(({ folder }) => folder))
  const mcp = functions.find(({ folder }) => folder === 'mcp')

  expect(mcp?.services.map(({ service }) => service)).toEqual(
    [...folders].toSorted().map((folder) => `aoa-${folder}`),
  )
})

test('a binding leads to the function of its name', () => {
  const wrong = functions
    .flatMap(({ services }) => services)
    .filter(
      ({ binding, service }) => service !== `aoa-${binding.toLowerCase().replaceAll('_', '-')}`,
    )

  expect(wrong).toEqual([])
})

test.each(functions)(
  '$folder is given the secrets that it needs, no more',
  ({ folder, secrets }) => {
    expect(secrets.toSorted()).toEqual(secretsOf(folder).toSorted())
  },
)

test.each(functions.filter(({ folder }) => folder !== 'not-found'))(
  '$folder can start with what it is given, in production',
  ({ vars, secrets }) => {
    const keys = Object.fromEntries(secrets.map((name) => [name, 'a secret of sixteen or more']))
    const given = { ...keys, CHAIN_RPC_URLS: '{}' }

    const config = readConfig({ ...vars, ...given })

    expect(config).toMatchObject({ ENVIRONMENT: 'production', allowLoopback: false })
  },
)

test('every function asks our own zone as a stranger does, and keeps secrets out of process.env', () => {
  for (const { compatibilityFlags } of functions) {
    expect(compatibilityFlags).toEqual([
      'global_fetch_strictly_public',
      'nodejs_compat_do_not_populate_process_env',
    ])
  }
})

test('housekeeping and the mailer alone run on a schedule', () => {
  const scheduled = functions.filter(({ crons }) => crons.length > 0)

  expect(scheduled.map(({ folder }) => folder)).toEqual(['housekeeping', 'mailer'])
})
