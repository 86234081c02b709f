/** Secrets of every field, entered in every possible way, appear in no place where they must not. */
import { beforeAll, expect, test } from 'vitest'
import { canary, everyRow, heldIn, seedCanary } from '../support/canaries.ts'
import { functionsIn } from '../support/functions.ts'
import { answering, serverThat } from '../support/http.ts'
import { ownerOf } from '../support/owner.ts'
import { letRead, owned, site } from '../support/vault.ts'
import { approveDestination } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const tests = await start()
const secrets: Record<string, string> = {
  seed: seedCanary(),
  otherSeed: seedCanary(),
}
const names =
  'password notes field changed ownerTyped ownerNotes refusedSite refusedWith refusedType protected ' +
  'conflict frozen used'
for (const name of names.split(' ')) secrets[name] = canary()

/** Texts sent to the database, answers of operations, and answers that may hold secrets. */
const asked: string[] = []
const answered: string[] = []
const read: string[] = []

const { world } = tests.worker({
  fetch: async (...request) => {
    const { url, headers, body } = new Request(...request)
    const isDatabase = url.startsWith(tests.db.gatewayUrl)
    const text = await new Response(body).text()
    if (isDatabase) asked.push(url, JSON.stringify([...headers]), text)
    return fetch(...request)
  },
})
const functions = functionsIn(world)

async function ask(key: string, path: string, body?: unknown, into = answered) {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': `${answered.length}`,
  }
  const answer = await functions
    .get(path.split(/[/?]/)[1] ?? '')
    ?.fetch(new Request(new URL(path, 'http://aoa'), { ...init, headers }))
  const text = (await answer?.text()) ?? ''
  into.push(`${answer?.status} ${JSON.stringify([...(answer?.headers ?? [])])} ${text}`)
  return text
}

const idIn = (text: string) => /"credential_id":"([^"]+)"/.exec(text)?.[1] ?? ''
const agent = await tests.agent('full')
const other = await agent.withKey('pay')
const login = { site, username: 'me' }

async function keep() {
  const { password, notes, field, changed, seed, otherSeed } = secrets
  const whole = { ...login, password, notes, totp_secret: seed, fields: { pin: field } }
  const id = idIn(await ask(agent.key, '/user-site-credentials', whole))
  await ask(agent.key, '/vault-store', { ...login, password: changed, totp_secret: otherSeed })
  await ask(agent.key, '/vault-generate', { credential_id: id })
  return id
}

async function beRefused(id: string) {
  const { refusedSite, refusedWith, refusedType, conflict } = secrets
  await ask(agent.key, '/vault-store', {
    site: `https://me:${refusedSite}@shop.example.com`,
    password: refusedSite,
  })
  await ask(agent.key, '/vault-store', { ...login, totp_secret: refusedWith })
  await ask(agent.key, '/vault-store', { ...login, password: [refusedType], fields: refusedType })
  await ask(agent.key, '/vault-store', { ...login, password: conflict, version: 9 })
  await ask(other.key, '/user-site-credentials', { ...login, password: secrets['protected'] })
  await ask(other.key, '/vault-delete', { credential_id: id })
}

async function use(id: string) {
  const shop = await serverThat((response, received) =>
    answering(200, { 'content-type': 'text/plain' }, received.body)(response, received),
  )
  const own = { site: new URL(shop.url).origin, username: 'me', password: secrets['used'] }
  const used = idIn(await ask(agent.key, '/vault-store', own))
  const inject = [{ where: 'form_field', name: 'p', secret: 'password' }]
  const request = { method: 'POST', path: '/', inject }
  await approveDestination(tests, used, { name: 'p' })
  await ask(agent.key, '/vault-use', { credential_id: used, ...request })
  expect(shop.received.map(({ body }) => new URLSearchParams(body.toString()).get('p'))).toEqual([
    secrets['used'],
  ])
  await ask(agent.key, '/vault-totp', { credential_id: id })
}

async function readAsAllowed(id: string) {
  const path = `/user-site-credentials?credential_id=${id}`
  await ask(other.key, path)
  await letRead(tests, agent, 'full')
  const { credential } = await ownerOf(tests, agent)
  const { ownerTyped: password, ownerNotes: notes } = secrets
  const entry = { ...login, username: 'owner', password, notes }
  const typed = await world.vault?.store({ credential, entry })
  answered.push(JSON.stringify(typed))
  await ask(agent.key, path, undefined, read)
  await ask(agent.key, path.replace(id, idIn(JSON.stringify(typed))), undefined, read)
}

async function lookAround() {
  for (const path of ['/vault-list', '/user-site-credentials', '/wallet-activity-list?limit=50']) {
    await ask(agent.key, path)
  }
}

beforeAll(async () => {
  await owned(tests, agent)
  const id = await keep()
  await beRefused(id)
  await use(id)
  await readAsAllowed(id)
  await lookAround()
  await ask(agent.key, '/account-freeze', {})
  await ask(agent.key, '/vault-store', { ...login, password: secrets['frozen'] })
})

test('who may read is told them, so they are where they were put', () => {
  const there = heldIn(secrets, read.join())

  expect(there).toEqual(['notes', 'field', 'changed', 'ownerTyped', 'ownerNotes'])
  expect(answered.filter((text) => text.startsWith('200')).length).toBeGreaterThan(9)
})

test('no row of the database holds any', async () => {
  const rows = await everyRow(tests.db)

  expect(rows).toContain('credential_replaced')
  expect(heldIn(secrets, rows)).toEqual([])
})

test('the database is told none', () => {
  expect(asked.join()).toContain('vault_commit_store')
  expect(heldIn(secrets, asked.join())).toEqual([])
})

test('no answer, refusal, list or feed holds any', () => {
  const refusals = answered.filter((text) => !text.startsWith('200'))

  expect(refusals.length).toBeGreaterThanOrEqual(8)
  expect(heldIn(secrets, answered.join())).toEqual([])
})

test('no mail to the owner holds any', async () => {
  const [owner] = await tests.db.sql<{ email: string }[]>`select email from private.owners`
  const mails = JSON.stringify(await tests.mails(owner?.email ?? ''))

  expect(mails).toContain('was used at a new site')
  expect(heldIn(secrets, mails)).toEqual([])
})

test('no log holds any, when an entry does not open or the database is gone', async () => {
  const { sql } = tests.db
  await sql`update private.accounts set frozen_at = null where id = ${agent.id}`
  await sql`update private.vault_entries set version = version + 1`
  await ask(agent.key, '/vault-store', { ...login, password: secrets['password'] })
  await tests.db.stopGateway()
  await ask(agent.key, '/vault-store', { ...login, password: secrets['password'] })
  await ask(agent.key, '/vault-generate', login)

  expect(tests.log.length).toBeGreaterThan(1)
  expect(heldIn(secrets, JSON.stringify([tests.log, answered]))).toEqual([])
})
