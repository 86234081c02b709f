/** An agent's key is worth nothing in the web app; the tests use the app's own routes and forms. */
import { expect, test } from 'vitest'
import { webFunction } from '../../functions/web/app.tsx'
import { pages } from '../../functions/web/index.ts'
import { formsIn, openBrowser, ownForm, type ShownForm, signedIn } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })
const agent = await world.agent('full', { usdc: 1_000 })
await world.db
  .sql`insert into private.owners (account, email) values (${agent.id}, 'o@example.com')`
const keys = [agent.key]
for (const scope of ['read', 'pay', 'vault'] as const) {
  keys.push((await agent.withKey(scope)).key)
}
const recipient = (await world.agent('read')).alias
const order = { recipient, chain: 'eip155:84532', token: 'USDC', amount: '500' }
const waiting = await agent.post('/wallet-custodial-transfer', order)
const { app } = webFunction(pages, () => world.world)
const own = app.routes.filter(({ path, method }) => method !== 'ALL' && !path.includes('*'))
const routes = own.map(({ path, method }) => {
  return { method, path: path.replace(/:\w+(\{[^}]*\})?/g, String(waiting.body['transfer_id'])) }
})

/** Returns headers that carry a key in every place where a credential could be looked for. */
function disguises(key: string): Record<string, string>[] {
  return [
    { authorization: `Bearer ${key}` },
    { cookie: `__Host-aoa_session=${key}` },
    { authorization: `Bearer ${key}`, cookie: `__Host-aoa_session=${key}` },
  ]
}

test.each(routes.filter(({ method }) => method === 'GET'))(
  'GET $path tells a key nothing of its account',
  async ({ path }) => {
    for (const headers of keys.flatMap(disguises)) {
      const answer = await openBrowser(world).send(path, { headers })
      for (const fact of [agent.id, agent.alias, agent.address]) {
        expect(answer.html).not.toContain(fact)
      }
    }
  },
)

/** Returns the forms on all pages of the owner, and bare forms of routes that no page shows. */
async function allForms(): Promise<ShownForm[]> {
  const owner = await signedIn(world, agent)
  const forms = routes
    .filter(({ method }) => method === 'POST')
    .map(({ path }): ShownForm => ({ target: path, given: {} }))
  for (const { path } of routes.filter(({ method }) => method === 'GET')) {
    const { html, status } = await owner.send(path)
    if (status === 200) forms.push(...formsIn(html).map(filledIn))
  }
  return forms
}

/** Fills a form in as an attacker would, with names and limits of their own. */
function filledIn({ target, given }: ShownForm): ShownForm {
  const fields = Object.entries(given).map(([name, value]) => {
    return [name, name.startsWith('usd_') ? '77' : value || 'Filled in'] as const
  })
  return { target, given: Object.fromEntries(fields) }
}

/** Returns every row of the account as text. */
async function everythingOf(account: string): Promise<string> {
  const tables = await world.db.sql`select table_name as name from information_schema.columns
    where table_schema = 'private' and column_name = 'account' order by 1`
  const rows = []
  for (const { name } of tables) {
    const table = world.db.sql(`private.${name}`)
    rows.push(
      await world.db.sql`select t::text from ${table} t where account = ${account} order by 1`,
    )
  }
  rows.push(await world.db.sql`select a::text from private.accounts a where id = ${account}`)
  return JSON.stringify(rows)
}

test('a key that sends any form of the owner changes nothing of the account', async () => {
  const forms = await allForms()
  const before = await everythingOf(agent.id)
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  const token = browser.cookies.get('__Host-aoa_form') ?? ''

  for (const { target, given } of forms) {
    for (const headers of keys.flatMap(disguises)) {
      const body = new URLSearchParams({ ...given, form: `${token}.${agent.id}` }).toString()
      const cookie = [`__Host-aoa_form=${token}`, headers['cookie'] ?? ''].join('; ')
      const type = 'application/x-www-form-urlencoded'
      await browser.send(target, {
        method: 'POST',
        body,
        headers: { ...headers, cookie, origin: 'http://localhost', 'content-type': type },
      })
    }
  }

  expect(await everythingOf(agent.id)).toBe(before)
})

test('the same forms from the browser of the owner do change it', async () => {
  const form = /\/(freeze|limits|keys)$/
  const type = 'application/x-www-form-urlencoded'

  for (const { target, given } of (await allForms()).filter((one) => form.test(one.target))) {
    const owner = await signedIn(world, agent)
    await owner.visit('/web/login')
    const token = ownForm(owner)
    const body = new URLSearchParams({ ...given, form: token }).toString()
    const headers = { origin: 'http://localhost', 'content-type': type }
    await owner.send(target, { method: 'POST', body, headers })
  }

  const changes = await world.db.sql`select distinct type from private.activities
    where account = ${agent.id} and category = 'security'`
  expect(changes.length).toBeGreaterThanOrEqual(3)
})
