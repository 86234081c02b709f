/** A passkey signs exactly the terms on the page, and nothing else approves them. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { type Authenticator, consentAskedOn, openAuthenticator } from '../support/authenticator.ts'
import { type Browser, ownForm, type Shown, signedIn } from '../support/browserless.ts'
import { usdcOf } from '../support/ledger.ts'
import { askMandate, type MandateOrder } from '../support/mandates.ts'
import { addPasskey, openPerson, type Person } from '../support/person.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { start, type TestWorld } from '../support/world.ts'

const transfer = '/wallet-custodial-transfer'
let world: TestWorld
let person: Person
let owner: Browser
let passkey: Authenticator

beforeAll(async () => {
  world = await start({ chain: true })
})

/** Opens an owner with a passkey whose last proof is too old for any other approval. */
beforeEach(async () => {
  person = await openPerson(world, 1_000)
  owner = await signedIn(world, person.agent)
  passkey = await addPasskey(owner)
  await world.tick(11 * 60)
})

async function mandatePage(order: MandateOrder = {}): Promise<string> {
  return `/web/mandate/${(await askMandate(world, person.agent, order)).id}`
}

const asking = z.object({ transfer_id: z.uuid(), confirmation: z.object({ url: z.url() }) })

async function payment(amount = '500') {
  const recipient = (await world.agent('read')).alias
  const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount }
  const { transfer_id, confirmation } = asking.parse(
    (await person.agent.post(transfer, order)).body,
  )
  const repeat = () => person.agent.post(transfer, { ...order, transfer_id, user_confirmed: true })
  return { id: transfer_id, page: new URL(confirmation.url).pathname, repeat }
}

/** Opens a page and sends its form with the passkey's answer to the page's challenge. */
async function approve(page: string, fault: Parameters<Authenticator['get']>[1] = {}) {
  const { options, digest } = consentAskedOn(await owner.visit(page))
  const answer = passkey.get(options, fault)
  return { answer, digest, shown: await owner.submit({ decision: 'approved', answer }, page) }
}

/** Returns the consents of the account with their levels and digests. */
async function consents() {
  return world.db.sql<{ level: string; digest: string }[]>`
    select level, digest from private.consents where account = ${person.agent.id}`
}

test('the page asks for a passkey of the account over the digest that it shows', async () => {
  for (const page of [await mandatePage(), (await payment()).page]) {
    const shown = await owner.visit(page)
    const { options, digest } = consentAskedOn(shown)

    expect(options).toMatchObject({
      challenge: Buffer.from(digest, 'hex').toString('base64url'),
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [{ type: 'public-key', id: passkey.id }],
    })
    expect(shown.text).toContain(digest)
    expect(shown.text).toContain('needs a browser with JavaScript and passkeys')
  }
})

test('a passkey approves a mandate with no other proof', async () => {
  const { shown, digest } = await approve(await mandatePage())

  expect(shown.text).toContain('This mandate is active')
  expect(shown.text).toContain('with your passkey')
  expect([...(await consents())]).toEqual([{ level: 'user_passkey', digest }])
})

test('a passkey approves a payment, which is then made', async () => {
  const { page, repeat } = await payment()

  const { shown } = await approve(page)
  const paid = await repeat()

  expect(shown.text).toContain('This payment was made')
  expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'user_passkey' })
})

test('the receipt of an approval is a file, and there is none before', async () => {
  const mandate = await mandatePage()
  const { page } = await payment()
  const stranger = await signedIn(world, await world.agent('pay'))

  for (const approved of [mandate, page]) {
    const before = await owner.send(`${approved}/receipt`)
    const { digest } = await approve(approved)
    const receipt = await owner.send(`${approved}/receipt`)

    expect(before.status).toBe(404)
    expect(receipt.headers.get('content-disposition')).toMatch(/^attachment; filename="consent-/)
    expect(JSON.parse(receipt.html)).toMatchObject({ level: 'user_passkey', digest })
    expect((await owner.visit(approved)).html).toContain(`href="${approved}/receipt"`)
    expect((await stranger.send(`${approved}/receipt`)).status).toBe(404)
  }
})

test.each([
  ['of another origin', { origin: 'https://evil.example' }],
  ['for another host', { host: 'evil.example' }],
  ['whose holder was not verified', { isUserVerified: false }],
  ['whose holder was not there', { flipFlags: 1 }],
  ['over another challenge', { challenge: 'A'.repeat(43) }],
  ['of a new passkey', { clientData: { type: 'webauthn.create' } }],
  ['of a page within a page', { clientData: { crossOrigin: true } }],
])('an answer %s approves neither a mandate nor a payment', async (_, fault) => {
  for (const page of [await mandatePage(), (await payment()).page]) {
    const { shown } = await approve(page, fault)

    expect(shown.status).toBe(409)
    expect(shown.text).toContain('Nothing was approved')
  }
  expect(await consents()).toHaveLength(0)
})

test('an answer is good for no other terms, and for its own only once', async () => {
  const first = await payment()
  const second = await payment()
  const mandate = await mandatePage()
  const { answer, digest } = await approve(first.page)

  const answers: Shown[] = []
  for (const page of [second.page, mandate]) {
    await owner.visit(page)
    answers.push(await owner.submit({ decision: 'approved', answer }, page))
    answers.push(await owner.submit({ decision: 'approved', answer, digest }, page))
  }
  const token = ownForm(owner)
  const again = new URLSearchParams({ form: token, decision: 'approved', answer, digest })
  const late = await owner.send(first.page, {
    method: 'POST',
    body: again.toString(),
    headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
  })

  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409])
  expect(late.status).toBe(409)
  expect(await consents()).toHaveLength(1)
})

test('terms that were narrowed after they were shown are not what was signed', async () => {
  const page = await mandatePage()
  const { options, digest } = consentAskedOn(await owner.visit(page))
  const answer = passkey.get(options)
  await owner.submit({ each: '1' }, `${page}/narrow`)

  const stale = await owner.submit({ decision: 'approved', answer, digest }, page)
  const forged = await owner.submit({ decision: 'approved', answer }, page)
  const { shown } = await approve(page)

  expect([stale.status, forged.status]).toEqual([409, 409])
  expect(shown.text).toContain('This mandate is active')
})

test('nothing but the passkey approves: no proof, no empty answer, no stranger', async () => {
  const page = await mandatePage()
  expect((await owner.visit('/web/proof')).html).not.toContain('name="password"')
  const { options } = consentAskedOn(await owner.visit(page))
  const foreign = openAuthenticator().get(options)

  const statuses = []
  for (const answer of ['', '{}', 'null', foreign, 'x'.repeat(5_000)]) {
    await owner.visit(page)
    statuses.push((await owner.submit({ decision: 'approved', answer }, page)).status)
  }

  expect(statuses).toEqual([409, 409, 409, 409, 409])
  expect(await consents()).toHaveLength(0)
})

test('an account without a passkey is asked for none, and its word is of its session', async () => {
  const other = await openPerson(world)
  const browser = await signedIn(world, other.agent)
  const page = `/web/mandate/${(await askMandate(world, other.agent)).id}`

  const shown = await browser.visit(page)
  const done = await browser.submit({ decision: 'approved' }, page)

  expect(shown.html).not.toContain('data-consent')
  expect(shown.text).not.toContain('JavaScript')
  expect(done.text).toContain('This mandate is active')
})

test('a passkey approves a payment that was requested before it was added', async () => {
  const { payee, page, browser } = await waitingTransfer(world)
  await world.tick(60)
  const added = await addPasskey(browser)
  const { options } = consentAskedOn(await browser.visit(page))

  const done = await browser.submit({ decision: 'approved', answer: added.get(options) }, page)

  expect(done.text).toContain('This payment was made')
  expect(await usdcOf(world, payee)).toBe(500_000_000n)
})
