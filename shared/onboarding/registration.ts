/**
 * The second half of onboarding: reads a registration link and opens its account, once. The API key is made
 * and returned here; only a digest is stored.
 */
import * as z from 'zod'
import { createApiKey, credentialOf, shownPart } from '../auth/api-key.ts'
import { type Browser, browserArgs } from '../auth/new-session.ts'
import { checkPassword, hashPassword, passwordProblems } from '../auth/password.ts'
import { fail, type Refusal } from '../contract/errors.ts'
import { unbound } from '../db/database.ts'
import { sha256Hex } from '../digest.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { checkAvailability } from './availability.ts'

const registrationRow = z.object({
  email: z.string(),
  wish: z.string().nullable(),
  expires_at: z.string(),
})

/** Content of an open link. */
export type PendingRegistration = z.output<typeof registrationRow>

/** Reads a link without using it; returns undefined if it opens nothing. */
export async function readPendingRegistration(
  world: World,
  link: string,
): Promise<PendingRegistration | undefined> {
  const question = { link_digest: await sha256Hex(link) }
  return unbound(world.db).one('signup_read', question, registrationRow)
}

/** Choices of the person; with a session id, the browser is signed in as well. */
export type AccountOrder = {
  link: string
  alias: string
  password: string
  browser: Browser
  sessionId?: string
}

/** A new account. This is the only copy of its key. */
export type OpenedAccount = { id: string; alias: string; address: string; apiKey: string }

/** Reasons why no account was opened. */
export type AccountRefusal = Refusal<
  'registration_closed' | 'alias_unavailable' | 'weak_password' | 'account_exists'
>

/** Opens the account of a link. After a refusal the link stays valid. */
export async function registerAccount(
  world: World,
  order: AccountOrder,
): Promise<OpenedAccount | AccountRefusal> {
  const registration = await readPendingRegistration(world, order.link)
  if (!registration) return fail('registration_closed')
  const asking = { db: unbound(world.db), client: order.browser.client }
  const { alias, ...standing } = await checkAvailability(asking, order.alias)
  if (!standing.available) return aliasRefused(standing)
  const problem = checkPassword(order.password, { email: registration.email, alias })
  if (problem !== undefined) return fail('weak_password', { message: passwordProblems[problem] })
  return askCustody(world, order, alias)
}

async function askCustody(world: World, order: AccountOrder, alias: string) {
  const { config, custody } = world
  if (!custody) throw new Error('CUSTODY is not bound')
  const pepper = required(config, 'API_KEY_PEPPER')
  const kind = config.ENVIRONMENT === 'production' ? 'live' : 'test'
  const apiKey = createApiKey(kind, (length) => world.randomBytes(length))
  const { browser, sessionId } = order
  const session = sessionId !== undefined && {
    digest: await credentialOf(sessionId, pepper),
    ...(await browserArgs(world, browser)),
  }
  const answer = await custody.openAccount({
    linkDigest: await sha256Hex(order.link),
    alias,
    passwordHash: hashPassword(world, order.password),
    apiKey: { digest: await credentialOf(apiKey, pepper), shown: shownPart(apiKey) },
    ...(session && { session }),
  })
  switch (answer.outcome) {
    case 'opened':
      return { id: answer.account, alias, address: answer.address, apiKey }
    case 'link_closed':
      return fail('registration_closed')
    case 'address_known':
      return fail('account_exists')
    case 'alias_taken':
      return aliasRefused({ reason: 'taken', suggestions: [] })
  }
}

function aliasRefused(standing: { reason?: string; suggestions: string[] }) {
  const { reason, suggestions } = standing
  return fail('alias_unavailable', { details: { reason, suggestions } })
}
