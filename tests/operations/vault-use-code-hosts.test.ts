/** A mailed code goes to one host, in a login that the owner confirmed, whatever an agent has elsewhere. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import type { Letter } from '../support/inbound.ts'
import { openMailbox } from '../support/mailbox.ts'
import { ownerOf } from '../support/owner.ts'
import { loginOf } from '../support/vault.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const { sql } = world.db

/** Uses a code at a destination that the owner approved, so that only the rules for codes can refuse it. */
async function use(agent: Agent, credential_id: string, handle: string) {
  await approveDestination(world, credential_id, { secret: 'mail', name: 'text', path: '/notes' })
  return agent.post('/vault-use', {
    credential_id,
    method: 'POST',
    path: '/notes',
    inject: [{ where: 'form_field', name: 'text', secret: `mail.${handle}` }],
  })
}

/** Returns the mailbox of an agent that received a code in an authenticated mail. */
async function sent(letter: Partial<Letter>, authenticated?: string) {
  const box = await openMailbox(world)
  const { from = 'no-reply@accounts.tried-shop.com', text = 'Your code is 604918.' } = letter
  const proof = authenticated ?? from.slice(from.indexOf('@') + 1)
  await box.receive({ subject: 'Your sign-in code', ...letter, from, text, authenticated: proof })
  const { codes } = await box.newest()
  const code = codes.find(({ kind }) => kind === 'code')
  if (!code) throw new Error('no code was found')
  return { agent: box.agent, code }
}

/** Answer when the code was released: no server answers at these hosts. */
const released = { status: 502, body: { error: 'site_unavailable' } }
const refused = { status: 403, body: { error: 'code_not_for_site' } }

async function isUsed({ handle }: { handle: string }) {
  const [row] = await sql`select used_at from private.mail_codes where handle = ${handle}`
  return row?.['used_at'] !== null
}

test('the code of a mail is used at the host that it is from', async () => {
  const { agent, code } = await sent({})
  const entry = await entryOf(world, agent, {
    site: 'https://accounts.tried-shop.com',
    password: 'p',
  })

  const used = await use(agent, entry, code.handle)

  expect(code.hosts).toEqual(['accounts.tried-shop.com'])
  expect(used).toMatchObject(released)
})

test.each([
  'https://docs.tried-shop.com',
  'https://tried-shop.com',
  'https://a.accounts.tried-shop.com',
  'https://accounts.tried-shop.com.tried-evil.com',
])('the code of accounts.tried-shop.com does not go to %s', async (site) => {
  const { agent, code } = await sent({})
  const entry = await entryOf(world, agent, { site, password: 'p' })

  const used = await use(agent, entry, code.handle)

  expect(used).toMatchObject(refused)
  expect(await isUsed(code)).toBe(false)
})

test('an entry that only an agent named takes no code, until the owner lets it', async () => {
  const { agent, code } = await sent({})
  const entry = await loginOf(agent, { site: 'https://accounts.tried-shop.com' })
  const owner = await ownerOf(world, agent)

  const before = await use(agent, entry, code.handle)
  const wasUsed = await isUsed(code)
  await owner.call('owner_set_takes_codes', { entry, takes: true })
  const after = await use(agent, entry, code.handle)

  const url = `http://localhost/web/vault/${entry}`
  expect(before).toMatchObject({
    status: 403,
    body: { error: 'code_needs_owner', details: { url } },
  })
  expect(wasUsed).toBe(false)
  expect(after).toMatchObject(released)
})

test('a login that is made anew by an agent has to be let again', async () => {
  const { agent, code } = await sent({})
  const site = 'https://accounts.tried-shop.com'
  const owner = await ownerOf(world, agent)
  const first = await loginOf(agent, { site })
  await owner.call('owner_set_takes_codes', { entry: first, takes: true })
  await loginOf(agent, { site, password: 'changed by the agent' })
  const kept = await agent.get('/vault-list')

  await agent.post('/vault-delete', { credential_id: first })
  const second = await loginOf(agent, { site })
  const used = await use(agent, second, code.handle)

  expect(kept.body['credentials']).toMatchObject([{ credential_id: first, takes_codes: true }])
  expect(used).toMatchObject({ body: { error: 'code_needs_owner' } })
})

test('only the owner, and with a fresh proof, lets a login take codes; to end it takes none', async () => {
  const { agent } = await sent({})
  const entry = await loginOf(agent)
  const stranger = await ownerOf(world, await world.agent('full'))
  const stale = await ownerOf(world, agent, 60)
  const owner = await ownerOf(world, agent)

  const answers = [
    await stale.call('owner_set_takes_codes', { entry, takes: true }),
    await stranger.call('owner_set_takes_codes', { entry, takes: true }),
    await owner.call('owner_set_takes_codes', { entry, takes: true }),
    await stale.call('owner_set_takes_codes', { entry, takes: false }),
  ]

  expect(answers).toEqual([
    { refused: 'proof_required' },
    { refused: 'credential_not_found' },
    [{ takes_codes: true }],
    [{ takes_codes: false }],
  ])
  const feed = await sql`select type from private.activities
    where account = ${agent.id} and category = 'vault' order by id`
  expect(feed.map(({ type }) => String(type))).toEqual([
    'credential_stored',
    'codes_allowed',
    'codes_ended',
  ])
})

test('what the owner adds or changes on the pages takes codes, and the page ends it', async () => {
  const { agent, code } = await sent({})
  const browser = await signedIn(world, agent)
  await browser.visit('/web/vault/new')
  const site = 'https://accounts.tried-shop.com'

  const page = await browser.submit({ site, username: 'ada', password: 'nine blue canaries' })
  expect(page.text).toContain('Codes in mail from accounts.tried-shop.com can be used with it')
  const ended = await browser.submit({ wanted: 'no' }, `${page.path}/codes`)

  expect(ended.text).toContain('Codes from mail cannot be used with it')
  const entry = page.path.split('/').at(-1) ?? ''
  expect(await use(agent, entry, code.handle)).toMatchObject({
    body: { error: 'code_needs_owner' },
  })
})

test('a link of the mail leads its code to a login of the owner at that host', async () => {
  const text = 'Your code is 604918. Enter it at https://login.tried-shop.com/code now.'
  const { agent, code } = await sent(
    { from: 'Shop <no-reply@mail.tried-shop.com>', text },
    'tried-shop.com',
  )
  const entry = await entryOf(world, agent, { site: 'https://login.tried-shop.com', password: 'p' })

  const used = await use(agent, entry, code.handle)

  expect(code.hosts).toEqual(['mail.tried-shop.com', 'login.tried-shop.com'])
  expect(used).toMatchObject(released)
})

test.each([
  ['of another domain', 'https://login.tried-evil.com/', {}],
  ['with another name before its host', 'https://login.tried-shop.com@tried-evil.com/', {}],
  ['whose host only begins alike', 'https://login.tried-shop.com.tried-evil.com/', {}],
  ['of another port and no encryption', 'http://login.tried-shop.com/', {}],
  ['to another tenant', 'https://evil.github.io/', { from: 'a@shop.github.io' }],
  ['to another desk', 'https://evil.zendesk.com/', { from: 'a@shop.zendesk.com' }],
  ['to the operator', 'https://zendesk.com/', { from: 'a@shop.zendesk.com' }],
])('a link %s leads no code there', async (_, link, letter) => {
  const { agent, code } = await sent({ text: `Your code is 604918. ${link}`, ...letter })
  const sites = [new URL(link).origin, 'https://login.tried-shop.com'].filter((site) =>
    site.startsWith('https:'),
  )

  for (const site of sites) {
    const entry = await entryOf(world, agent, { site, password: 'p' })
    expect(await use(agent, entry, code.handle), site).toMatchObject(refused)
  }
  expect(code.hosts).toHaveLength(1)
})

test('a link that nobody sees leads no code there', async () => {
  const html = `<p>Your code is 604918.</p><p style="display:none"><a href="https://a.tried-shop.com/x">a</a></p>`
  const { code } = await sent({ html, text: '' })

  expect(code.hosts).toEqual(['accounts.tried-shop.com'])
})

test('what a neighbour on a shared domain signs proves nothing of its neighbour', async () => {
  const { code } = await sent({ from: 'a@shop.zendesk.com' }, 'evil.zendesk.com')
  const operated = await sent({ from: 'a@shop.zendesk.com' }, 'zendesk.com')

  expect(code.hosts).toEqual([])
  expect(operated.code.hosts).toEqual(['shop.zendesk.com'])
})

test('an agent with logins of its own everywhere below the domain gets no code', async () => {
  const hosts = ['accounts', 'docs', 'evil-team', 'www', 'api'].map((at) => `${at}.tried-shop.com`)
  const links = hosts.map((host) => `https://${host}/`).join(' ')
  const { agent, code } = await sent({ text: `Your code is 604918. ${links}` })

  const answers = []
  for (const host of hosts) {
    const entry = await loginOf(agent, { site: `https://${host}` })
    answers.push((await use(agent, entry, code.handle)).body['error'])
  }

  expect(new Set(answers)).toEqual(new Set(['code_needs_owner']))
  expect(await isUsed(code)).toBe(false)
})
