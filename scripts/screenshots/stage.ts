/**
 * Makes an account look used: payments that went out, a deposit, and payments that wait for the owner. An
 * agent makes all of them through the interface. It also makes the links that people are sent.
 */
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import type { Page } from 'playwright-core'
import * as z from 'zod'
import type { WorldFile } from '../demo/client.ts'
import { fund } from '../local/chain/fund.ts'

const attempt = z.object({ attempt_id: z.uuid() })
const hex = z.templateLiteral(['0x', z.string()])

/** Pages of what the stage made, however much else the account holds and loses. */
export type Stage = { vaultEntry: string; waitingPayment: string; mandate: string }

/** Makes the payments, the login, the mail and the mandate of the demo account. */
export async function setStage(world: WorldFile): Promise<Stage> {
  const agent = openAgent(world.base_url, world.api_keys.pay)
  for (const amount of ['1.25', '4', '0.75']) {
    await pay(agent, { recipient: world.shop.alias, amount, memo: 'Index of papers' })
  }
  const resource_url = world.merchant.v2_url
  const { attempt_id } = await agent('/x402-payment-prepare', { resource_url }, attempt)
  await agent('/x402-payment-execute', { attempt_id, user_confirmed: true }, z.unknown())
  const [chain] = world.chains
  if (chain) {
    const tokens = { rpcUrl: chain.rpc_url, usdc: hex.parse(chain.usdc) }
    await fund(tokens, hex.parse(world.owner.address), { usdcAtomic: 12_500_000n })
  }
  const { credential_id } = await agent('/vault-store', login, stored)
  const { mail_address } = await agent('/get-identity', undefined, addressed)
  await writeTo(world, mail_address)
  const mandate = await askMandate(world)
  await pay(agent, { recipient: world.shop.alias, amount: '260' })
  const invoice = { recipient: world.payee, amount: '320', memo: 'Invoice 2217, translation' }
  const { confirmation } = await pay(agent, invoice)
  return {
    vaultEntry: `${world.web_url}/vault/${credential_id}`,
    waitingPayment: z.url().parse(confirmation?.url),
    mandate,
  }
}

const stored = z.object({ credential_id: z.uuid() })
const addressed = z.object({ mail_address: z.string() })
const login = {
  site: 'https://bücher.example.com',
  username: 'ada@example.com',
  password: 'four quiet words',
  totp_secret: 'JBSWY3DPEHPK3PXP',
}

/** Sends a mail from a stranger, with a code and a file in it. */
export async function writeTo({ mail }: Pick<WorldFile, 'mail'>, to: string): Promise<void> {
  await createTransport(mail.smtp_url).sendMail({
    from: 'Shop <shop@localhost>',
    to,
    subject: 'Your verification code',
    text: 'Your verification code is 482913. It is good for ten minutes.',
    attachments: [{ filename: 'terms.txt', content: 'The terms.' }],
  })
}

/** Asks the owner for a mandate. Returns the page on which it is decided. */
export async function askMandate(world: WorldFile): Promise<string> {
  const agent = openAgent(world.base_url, world.api_keys.pay)
  const order = {
    merchant_domain: 'bücher.example.com',
    include_subdomains: true,
    max_amount_per_payment_usd: '5',
    max_amount_per_day_usd: '20',
    max_total_usd: '100',
    ttl_seconds: 30 * 86_400,
    pay_to: [world.payee],
  }
  const asked = z.object({ approval_url: z.url() })
  return (await agent('/payment-mandate-create', order, asked)).approval_url
}

const listed = z.object({ credentials: z.tuple([z.object({ credential_id: z.uuid() })]) })
const refused = z.object({ details: z.object({ approval_url: z.url() }) })

/** Asks for a place for a password. Returns the page on which it is approved. */
export async function askDestination({ base_url, api_keys }: WorldFile): Promise<string> {
  const agent = openAgent(base_url, api_keys.full)
  const path = `/vault-list?site=${encodeURIComponent(login.site)}`
  const [{ credential_id }] = (await agent(path, undefined, listed)).credentials
  const place = { where: 'json_field', pointer: '/user/password', secret: 'password' }
  const use = { method: 'POST', path: '/v1/sessions', json: { remember: true }, inject: [place] }
  const answer = await fetch(`${base_url}/vault-use`, {
    method: 'POST',
    body: JSON.stringify({ credential_id, ...use }),
    headers: { authorization: `Bearer ${api_keys.full}`, 'content-type': 'application/json' },
  })
  return refused.parse(await answer.json()).details.approval_url
}

/** Returns the address of a new hosted action. */
export async function createLink(
  world: WorldFile,
  action_type: string,
  order: object = {},
): Promise<string> {
  const agent = openAgent(world.base_url, world.api_keys.full)
  const link = z.object({ url: z.url() })
  return (await agent('/create-hosted-action', { action_type, ...order }, link)).url
}

const registrations = new Map<string, Promise<string>>()

/** Returns an unused registration link. One is enough, because opening it does not use it. */
export function openRegistration(world: WorldFile): Promise<string> {
  const known = registrations.get(world.base_url)
  if (known) return known
  const opening = register(world, `${randomBytes(6).toString('hex')}@example.com`)
  registrations.set(world.base_url, opening)
  return opening
}

/** Brings in a user as an agent does: asks for a code, learns it from the mail, and gets a link. */
export async function register(world: WorldFile, email: string, alias?: string): Promise<string> {
  const agent = openAgent(world.base_url)
  const wish = alias === undefined ? { email } : { email, alias }
  await agent('/request-signup-verification', wish, z.unknown())
  const [code] = /\b\d{6}\b/.exec(await mailTo(world, email, 'Your sign-up code')) ?? []
  const link = z.object({ registration_url: z.url() })
  return (await agent('/confirm-registration-code', { email, code }, link)).registration_url
}

/** Calls an operation and parses its answer. */
export type Agent = <Body>(path: string, body: unknown, schema: z.ZodType<Body>) => Promise<Body>

/** Returns an agent with a key, or without one. It sends POST with a body and GET without. */
export function openAgent(baseUrl: string, key?: string): Agent {
  const auth: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const headers = { ...auth, 'content-type': 'application/json' }
  return async (path, body, schema) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${baseUrl}${path}`, { ...sent, headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return schema.parse(JSON.parse(text))
  }
}

const transfer = z.object({
  transfer_id: z.uuid(),
  status: z.string(),
  requires_user_confirm: z.boolean(),
  confirmation: z.object({ url: z.url() }).optional(),
})
/** Answer to a transfer. */
export type Transfer = z.output<typeof transfer>

/** Pays what the agent may confirm itself. Other payments wait for the owner. */
export async function pay(agent: Agent, order: object): Promise<Transfer> {
  const path = '/wallet-custodial-transfer'
  const body = { chain: 'base-sepolia', token: 'USDC', ...order }
  const asked = await agent(path, body, transfer)
  if (!asked.requires_user_confirm) return asked
  const again = { ...body, transfer_id: asked.transfer_id, user_confirmed: true }
  return agent(path, again, transfer)
}

const mails = z.array(z.object({ subject: z.string(), text: z.string() }))
const looksMax = 200
const lookEveryMilliseconds = 100

/** Waits for a mail to this address with this subject and returns the text of the newest one. */
export async function mailTo({ mail }: WorldFile, to: string, subject: string): Promise<string> {
  const address = new URL(`/messages?to=${encodeURIComponent(to)}`, mail.outbox_url)
  for (let look = 0; look < looksMax; look += 1) {
    const caught = mails.parse(await (await fetch(address)).json())
    const found = caught.findLast((one) => one.subject === subject)
    if (found) return found.text
    await pause(lookEveryMilliseconds)
  }
  throw new Error(`no mail "${subject}" came to ${to}`)
}

/** Address of the app and the owner who signs in. */
export type SignIn = { web_url: string; owner: { email: string; password: string } }

/** Fills in the form and waits for the first page. */
export async function signInAs(page: Page, { web_url, owner }: SignIn): Promise<void> {
  await page.goto(`${web_url}/login`)
  await page.getByLabel('Email address').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(web_url)
}

/** A registered app. */
export type ConnectingApp = { client_id: string; redirect_uri: string }

const verifier = 'v'.repeat(43)
const codeChallenge = createHash('sha256').update(verifier).digest('base64url')

/** Registers an app whose users return to this address. */
export async function registerApp(
  { base_url }: WorldFile,
  redirect_uri: string,
  client_name = 'Research desk',
): Promise<ConnectingApp> {
  const client = { client_name, redirect_uris: [redirect_uri] }
  const registered = z.object({ client_id: z.string() })
  const { client_id } = await openAgent(base_url)('/oauth/register', client, registered)
  return { client_id, redirect_uri }
}

/** Returns the address to which the app sends its user. */
export function askingUrl({ web_url }: WorldFile, app: ConnectingApp, scope: string): string {
  const proof = { code_challenge: codeChallenge, code_challenge_method: 'S256' }
  const asked = { ...app, ...proof, scope, response_type: 'code', state: 'of this browser' }
  return `${web_url}/authorize?${new URLSearchParams(asked).toString()}`
}

/** Asks for access as a program without a browser does (RFC 8628). Returns the page that it sends its user to. */
export async function askByCode({ base_url }: WorldFile, scope: string): Promise<string> {
  const client = {
    client_name: 'Terminal tool',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
  }
  const registered = z.object({ client_id: z.string() })
  const { client_id } = await openAgent(base_url)('/oauth/register', client, registered)
  const body = new URLSearchParams({ client_id, scope })
  const answer = await fetch(`${base_url}/oauth/device`, { method: 'POST', body })
  const begun = z.object({ verification_uri_complete: z.url() })
  return begun.parse(await answer.json()).verification_uri_complete
}

/** Exchanges the code that the user came back with for an access token. */
export async function redeem(
  { base_url }: WorldFile,
  app: ConnectingApp,
  backAt: string,
): Promise<string> {
  const code = new URL(backAt).searchParams.get('code') ?? ''
  const proof = { grant_type: 'authorization_code', code, code_verifier: verifier }
  const answer = await fetch(`${base_url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...app, ...proof }),
  })
  return z.object({ access_token: z.string() }).parse(await answer.json()).access_token
}
