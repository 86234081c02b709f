/** Call order 4 of the specification: an agent brings its user to an account of their own. */
import { randomBytes } from 'node:crypto'
import { mailTo } from '../screenshots/stage.ts'
import { describeRefusal, mustBe, openClient, type WorldFile } from './client.ts'

/** Opens an account for a new user and checks that an agent cannot open one itself. */
export async function onboard(world: WorldFile): Promise<void> {
  console.log('\nAn account for a new user')
  const name = `user-${randomBytes(4).toString('hex')}`
  const email = `${name}@example.com`
  const agent = openClient(world)
  await agent.requestSignupVerification({ email, alias: name })
  const [code = ''] = /\b\d{6}\b/.exec(await mailTo(world, email, 'Your sign-up code')) ?? []
  const link = await agent.confirmRegistrationCode({ email, code })
  const alias = await agent.checkAlias({ alias: name })
  mustBe('the alias', alias.available ? 'free' : 'taken', 'free')
  const registration = link.registration_url.slice(-43)
  const byAgent = await describeRefusal(
    agent.createAccount({ registration, alias: name, password: 'not for agents', form: '' }),
  )
  mustBe('an account opened by an agent', byAgent, '403 browser_only')

  const key = await register(link.registration_url, name)
  const account = await openClient(world, key).getIdentity()
  mustBe('the alias of the new key', account.alias, name)
}

/** Sends the registration form as the user's browser does. Returns the API key that the page shows. */
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
