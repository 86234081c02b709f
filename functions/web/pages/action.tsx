/** The page of a hosted action's link. Looking at it changes nothing: mail scanners open links too. */

import { deedOf } from '../../../shared/auth/new-session.ts'
import { workOf } from '../../../shared/auth/proof-of-work.ts'
import { readAddress } from '../../../shared/chains/evm/address.ts'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import type { Seen } from '../data/hosted-link.ts'
import { connectWallet, enterLogin, heldLink, openLink, takeStep } from '../data/hosted-link.ts'
import { fields, goTo, owner } from '../frame.ts'
import { browserOf, proofFirst, readSecurity } from '../own-session.ts'
import { opened } from '../parts/action-opened.tsx'
import { ended, finished, forOwner, offered, usedElsewhere } from '../parts/action-states.tsx'
import { enteringLogin } from '../parts/enter-login.tsx'
import type { Owner, Routes, Visit } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/action/:token', async (c) => {
    // The form of a link that an owner was shown is of that account.
    await knownOwner(c)
    const seen = await takeStep(c, 'link_look')
    return (await ownerFirst(c, seen)) ?? showSeen(c, seen)
  })
  app.get('/action/:token/status', async (c) => {
    const { action } = await takeStep(c, 'link_look')
    return c.text(action?.status ?? 'used')
  })
  app.post('/action/:token/open', async (c) => {
    const me = await knownOwner(c)
    const seen = await openLink(c, me)
    return seen.action?.type === 'login' ? signIn(c, seen, me) : again(c)
  })
  app.post('/action/:token/decline', async (c) => {
    await takeStep(c, 'link_decline')
    return again(c)
  })
  app.post('/action/:token/verify', async (c) => {
    await verify(c, (await fields(c)).get('solution') ?? '')
    return again(c)
  })
  app.post('/action/:token/enter', enter)
  app.post('/action/:token/connect', async (c) => {
    // Wallets name themselves in lower case, and the index of deposits does not.
    const named = readAddress((await fields(c)).get('wallet') ?? '')
    if ('refused' in named) throw new Rejection(fail('invalid_request'))
    await connectWallet(c, named.address)
    return again(c)
  })
}

function again(c: Visit): Response {
  return goTo(c, `/action/${c.req.param('token')}`)
}

/** What somebody sees instead of a page that asks for a login and is not theirs; else undefined. */
async function ownerFirst(c: Visit, { action, alias }: Seen) {
  if (action?.type !== 'website_login') return undefined
  if (action.status === 'expired' || action.status === 'declined') return undefined
  const me = await knownOwner(c)
  if (me?.account.alias !== alias) return forOwner(c, me)
  return action.status === 'opened' ? proofFirst(c, await readSecurity(c)) : undefined
}

function showSeen(c: Visit, seen: Seen) {
  const { action } = seen
  if (!action) return usedElsewhere(c)
  switch (action.status) {
    case 'pending':
      return offered(c, { ...seen, action })
    case 'opened':
      return opened(c, { ...seen, action })
    case 'finished':
      return finished(c, { ...seen, action })
    case 'expired':
    case 'declined':
      return ended(c, { ...seen, action })
  }
}

/** Who is signed in already has done what the link is for; the others go to do it. */
async function signIn(c: Visit, seen: Seen, me: Owner | undefined): Promise<Response> {
  if (!me) return goTo(c, '/login?next=/web')
  if (me.account.alias !== seen.alias || seen.action?.status !== 'opened') return again(c)
  const { token_digest, browser } = await heldLink(c)
  await me.db.run('owner_finish_login_link', { token_digest, browser })
  return goTo(c, '')
}

async function enter(c: Visit) {
  const form = await fields(c)
  const seen = await takeStep(c, 'link_look')
  const { action } = seen
  if (action?.type !== 'website_login' || action.status !== 'opened') return again(c)
  const me = await knownOwner(c)
  if (me?.account.alias !== seen.alias) return again(c)
  const username = (form.get('username') ?? '').trim()
  const named = { site: action.asked.site ?? '', username }
  const stored = await enterLogin(c, me, form, named, deedOf(c.get('world'), browserOf(c)))
  if (stored === 'exists') return enteringLogin(c, { ...seen, action }, { why: stored, username })
  if (!isRefusal(stored)) return again(c)
  if (stored.refusal !== 'credential_refused') throw new Rejection(stored)
  const why = { refused: stored.message ?? '' }
  return enteringLogin(c, { ...seen, action }, { why, username })
}

async function knownOwner(c: Visit): Promise<Owner | undefined> {
  try {
    return await owner(c)
  } catch (error) {
    if (error instanceof Rejection && error.refusal.refusal === 'unauthorized') return undefined
    throw error
  }
}

async function verify(c: Visit, solution: string): Promise<void> {
  const { action } = await takeStep(c, 'link_look')
  if (action?.type !== 'human_verification' || action.status !== 'opened') return
  if ((await workOf(c.get('world'), action.id, solution)) === undefined) {
    throw new Rejection(
      fail('invalid_request', {
        message: 'Your browser did not do its part. Allow scripts on this page and try again.',
      }),
    )
  }
  await takeStep(c, 'link_verify')
}
