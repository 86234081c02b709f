/** Secrets from the whole life of an account appear in no place where they must not. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openBrowser, type Shown } from '../support/browserless.ts'
import { everyRow } from '../support/canaries.ts'
import { codeFor } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const tests = await start()
const email = 'canary@people.example'
const secrets: Record<string, string> = {
  password: 'seven yellow canaries',
  wrongPassword: 'eight yellow canaries',
  newPassword: 'nine yellow canaries',
  siteLogin: 'ten yellow canaries',
  linkedLogin: 'eleven yellow canaries',
  authenticator: 'JBSWY3DPEHPK3PXPCANARY2',
}
/** Requests to the database, and answers to a browser. */
const asked: string[] = []
const shown: string[] = []

const worker = tests.worker({
  fetch: async (...request) => {
    const { url, headers, body } = new Request(...request)
    asked.push(url, JSON.stringify([...headers]), await new Response(body).text())
    return fetch(...request)
  },
})
const browser = openBrowser({ world: worker.world })

async function keep(answer: Promise<Shown>): Promise<Shown> {
  const { html, headers, ...rest } = await answer
  headers.delete('set-cookie')
  shown.push(html + JSON.stringify([...headers]))
  return { html, headers, ...rest }
}
const visit = (path: string) => keep(browser.visit(path))
const submit = (fields: Record<string, string>, action?: string) =>
  keep(browser.submit(fields, action))

/** Stores the browser's session token, and the session id in it, as secrets. */
function keepSession(name: string) {
  const token = browser.cookies.get('__Host-aoa_session') ?? ''
  const [, payload = ''] = token.split('.')
  secrets[`${name}Token`] = token
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  secrets[name] = z.object({ sid: z.string() }).parse(claims).sid
}

function find(form: RegExp, text: string): string {
  const [found] = form.exec(text) ?? []
  if (found === undefined) throw new Error(`nothing like ${form.source} in ${text}`)
  return found
}

async function signUp() {
  await visit('/web/join')
  await submit({ email })
  secrets['code'] = await codeFor(tests, email)
  const { path } = await submit({ code: secrets['code'] })
  secrets['registration'] = path.split('/').at(-1) ?? ''
  const opened = await submit({ alias: 'canary', password: secrets['password'] ?? '' })
  secrets['firstKey'] = find(/aoa_test_[0-9A-Za-z]{36}/, opened.html)
  secrets['formToken'] = browser.cookies.get('__Host-aoa_form') ?? ''
  secrets['browserToken'] = browser.cookies.get('__Host-aoa_browser') ?? ''
  keepSession('firstSession')
}

async function useAccount() {
  await visit('/web/login')
  await submit({ email, password: secrets['wrongPassword'] ?? '' }, '/web/login')
  await submit({ email, password: secrets['password'] ?? '' }, '/web/login')
  keepSession('session')
  await visit('/web/keys')
  const made = await submit({ label: 'second', scope: 'full' })
  secrets['secondKey'] = find(/aoa_test_[0-9A-Za-z]{36}/, made.html)
  await visit('/web/security/recovery-codes')
  secrets['recoveryCode'] = find(/[0-9a-z]{4}(-[0-9a-z]{4}){3}/, (await submit({})).text)
  await visit('/web/security/password')
  await submit({ password: secrets['newPassword'] ?? '' })
  keepSession('provenSession')
}

const site = 'https://www.shop.com'

/** Adds, shows and uses a login as the owner, and enters another one by a link. */
async function fillVault() {
  const { siteLogin = '', linkedLogin = '', authenticator = '' } = secrets
  await visit('/web/vault/new')
  const typed = { site, username: 'ada', password: siteLogin, totp_secret: authenticator }
  const { path } = await submit(typed)
  await submit({ password: siteLogin }, path)
  await visit('/web/vault/new')
  await submit({ ...typed, site: `${site}:1`, notes: authenticator })
  const link = await ask({ action_type: 'website_login', site })
  await visit(link)
  await submit({}, `${link}/open`)
  await submit({ username: 'ada', password: linkedLogin }, `${link}/enter`)
  await submit({ username: 'eve', password: linkedLogin }, `${link}/enter`)
  for (const page of ['/vault', path.replace('/web', ''), '/activity']) await visit(`/web${page}`)
}

/** Requests a link as the agent. Returns the path of its page. */
async function ask(order: object): Promise<string> {
  const headers = {
    authorization: `Bearer ${secrets['secondKey'] ?? ''}`,
    'content-type': 'application/json',
  }
  const init = { method: 'POST', headers, body: JSON.stringify(order) }
  const link = await tests.send('/create-hosted-action', init)
  return new URL(String(link.body['url'])).pathname
}

async function askAndRecover() {
  const path = await ask({ action_type: 'login' })
  secrets['hostedLink'] = path.split('/').at(-1) ?? ''
  await visit(path)
  await submit({}, `${path}/open`)
  await visit('/web/login/recovery')
  await submit({ email, code: secrets['recoveryCode'] ?? '' })
  keepSession('recoveredSession')
  for (const page of ['', '/activity', '/keys', '/security', '/security/sessions', '/approvals']) {
    await visit(`/web${page}`)
  }
}

/** Returns the names of the secrets that a text holds, as stored or as typed. */
function heldIn(text: string): string[] {
  return Object.entries(secrets)
    .filter(([name, secret]) => {
      // Six digits occur in many numbers and times.
      if (name === 'code') return new RegExp(`(?<![\\w.-])${secret}(?![\\w-])`).test(text)
      return text.includes(secret) || text.includes(secret.replaceAll('-', ''))
    })
    .map(([name]) => name)
}

beforeAll(async () => {
  await signUp()
  await useAccount()
  await fillVault()
  await askAndRecover()
})

test('all secrets are there to be found', async () => {
  expect(Object.values(secrets).filter((secret) => secret.length < 6)).toEqual([])
  expect(Object.keys(secrets)).toHaveLength(22)
  const entries = await tests.db.sql`select * from private.vault_entries order by number`
  expect(entries).toMatchObject([
    { username: 'ada', version: 2, has_password: true, has_totp: true },
    { username: 'eve', version: 1, has_password: true },
  ])
})

test('the database holds none of them', async () => {
  expect(heldIn(await everyRow(tests.db))).toEqual([])
})

test('the database and custody are told none of them', () => {
  expect(asked.length).toBeGreaterThan(50)
  expect(heldIn(asked.join('\n'))).toEqual([])
})

test('keys and recovery codes are on the one page that shows them, links on their own pages', () => {
  const places = shown.flatMap(heldIn)
  const once = places.filter((name) => !['formToken', 'registration', 'hostedLink'].includes(name))

  expect(once.toSorted()).toEqual(['firstKey', 'recoveryCode', 'secondKey'])
})

test('no log holds any of them, even when the database is gone', async () => {
  await tests.db.stopGateway()
  await visit('/web/security')
  await visit('/web/login')
  await submit({ email, password: secrets['newPassword'] ?? '' }, '/web/login')
  await visit(`/web/action/${secrets['hostedLink'] ?? ''}`)
  await visit(`/web/register/${secrets['registration'] ?? ''}`)

  expect(tests.log.length).toBeGreaterThan(0)
  expect(heldIn(JSON.stringify(tests.log))).toEqual([])
})
