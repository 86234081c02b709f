/** Call order 4 of the specification: an agent brings its user to an account of their own. */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { mailTo } from '../screenshots/mailbox.ts'
import { mustBe, openClient } from './client.ts'
import type { WorldFile } from './world-file.ts'

const sent = z.object({ status: z.string(), expires_in_seconds: z.int() })
const confirmed = z.object({ registration_url: z.url(), expires_at: z.string() })
const standing = z.object({ alias: z.string(), available: z.boolean() })
const identity = z.object({ alias: z.string(), mail_address: z.string() })

export async function onboard(world: WorldFile): Promise<void> {
  console.log('\nAn account for a new user')
  const name = `user-${randomBytes(4).toString('hex')}`
  const email = `${name}@example.com`
  const agent = openClient(world)
  await agent.post('/request-signup-verification', { email, alias: name }, sent)
  const [code] = /\b\d{6}\b/.exec(await mailTo(world, email, 'Your sign-up code')) ?? []
  const link = await agent.post('/confirm-registration-code', { email, code }, confirmed)
  const alias = await agent.get(`/check-availability?alias=${name}`, standing)
  mustBe('the alias', alias.available ? 'free' : 'taken', 'free')
  const request = { registration: link.registration_url.slice(-43), alias: name }
  const body = JSON.stringify({ ...request, password: 'not for agents', form: '' })
  const byAgent = await agent.refused('/create-account', { method: 'POST', body })
  mustBe('an account opened by an agent', byAgent, '403 browser_only')

  const key = await register(link.registration_url, name)
  const account = await openClient(world, key).get('/get-identity', identity)
  mustBe('the alias of the new key', account.alias, name)
}

/** What the user's browser does on the page, script or not; answers the key that it shows. */
async function register(url: string, alias: string): Promise<string> {
  const page = await fetch(url)
  const [cookie = ''] = page.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  const [, form = ''] = /name="form" value="([0-9a-f]{64})"/.exec(await page.text()) ?? []
  const password = randomBytes(12).toString('base64url')
  const shown = await fetch(url, {
    method: 'POST',
    headers: { origin: new URL(url).origin, cookie },
    body: new URLSearchParams({ form, alias, password }),
  })
  const [key] = /aoa_test_[0-9A-Za-z]{36}/.exec(await shown.text()) ?? []
  if (key === undefined) throw new Error(`the registration page answered ${shown.status}`)
  console.log(`  the user opens the link, chooses a password and is shown ${key.slice(0, 9)}…`)
  return key
}
