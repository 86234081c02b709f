/** Collects every form that the pages show to an owner and fills it in as an attacker would. */
import { webFunction } from '../../functions/web/app.tsx'
import { pages } from '../../functions/web/index.ts'
import { type Browser, formsIn, type ShownForm, signedIn } from './browserless.ts'
import { mailboxOf } from './mailbox.ts'
import { addPasskey } from './person.ts'
import { keyIdOf, loginOf, seed } from './vault.ts'
import type { TestWorld } from './world.ts'

/** Secrets that no page may show before the owner has proven their identity. */
export const password = 'nine blue canaries'
export const code = '482913'

/** Creates an account with at least one item of each kind that a page shows a form for. */
export async function fullHome(world: TestWorld) {
  const agent = await world.agent('full', { usdc: 1_000 })
  const entry = await loginOf(agent, { password, totp_secret: seed })
  const other = await agent.withKey('vault')
  const { alias: recipient } = await world.agent('read')
  const order = { recipient, chain: 'eip155:84532', token: 'USDC', amount: '500' }
  const { body: waiting } = await agent.post('/wallet-custodial-transfer', order)
  const text = `Your verification code is ${code}.`
  await mailboxOf(world, agent).receive({ from: 'a@shop.com', text, authenticated: 'shop.com' })
  const owner = await signedIn(world, agent)
  await addPasskey(owner)
  const [mail] = await world.db.sql`select id from private.mails where account = ${agent.id}`
  const key = await keyIdOf(world, agent, 'vault')
  return {
    agent,
    owner,
    other,
    ids: [waiting['transfer_id'], entry, mail?.['id'], key].map(String),
  }
}

const { app } = webFunction(pages)
const own = app.routes.filter(({ path, method }) => method !== 'ALL' && !path.includes('*'))

/** Returns every path of the web app for a method, with each id of the account as path parameter. */
export function addresses(method: string, ids: readonly string[]): string[] {
  const paths = own.filter((route) => route.method === method).map(({ path }) => path)
  return paths.flatMap((path) =>
    /:\w+/.test(path) ? ids.map((id) => path.replace(/:\w+(\{[^}]*\})?/g, id)) : [path],
  )
}

/** Returns the forms on all pages after a proof, and an empty form for each POST route. */
export async function allForms(owner: Browser, ids: readonly string[]): Promise<ShownForm[]> {
  const forms = addresses('POST', ids).map((target): ShownForm => ({ target, given: {} }))
  for (const path of addresses('GET', ids)) {
    const { html, status } = await owner.send(path)
    if (status === 200) forms.push(...formsIn(html))
  }
  const isOver = ({ target }: ShownForm) => /\/(logout|login|join|register|freeze)\b/.test(target)
  return forms.filter((form) => !isOver(form)).flatMap(variants)
}

/** Returns variants of a form: empty fields are filled in, and each choice is sent with each value. */
function variants({ target, given }: ShownForm): ShownForm[] {
  const fields = Object.entries(given).map(([name, value]) => {
    return [name, name.startsWith('usd_') ? '77' : value || 'Filled in'] as const
  })
  const filled = { ...Object.fromEntries(fields), sure: 'yes' }
  const chosen = ['approved', 'allowed', 'resumed', 'unfrozen', 'revoked', 'others']
  return [
    { target, given: filled },
    ...chosen.map((word) => ({
      target,
      given: { ...filled, decision: word, wanted: word, session: word },
    })),
  ]
}
