/** The pages let an owner decide about mandates, and suspend or revoke them. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain.ts'
import { signedIn } from '../support/browserless.ts'
import { approve, askOnPage, caps, decide, shop, storedMandate } from '../support/mandate-pages.ts'
import { askMandate, type MandateOrder } from '../support/mandates.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const asked = (order?: MandateOrder) => askOnPage(world, order)
const stored = (id: string) => storedMandate(world, id)

test('shows each term, the worst case and the digest, and is active once it is approved', async () => {
  const { browser, page, id, digest } = await asked()

  const shown = await browser.visit(page)
  const done = await browser.submit({ decision: 'approved' }, page)

  const told = ['5.00 USD', '20.00 USD', '100.00 USD', 'At most 30', 'All of them', 'new']
  for (const text of [shop, ...told, digest, 'what it allows in all']) {
    expect(shown.text).toContain(text)
  }
  expect(shown.text).toContain('requested no payments to this merchant in the last 90 days')
  expect(done).toMatchObject({ status: 200, path: page })
  expect(done.text).toContain('This mandate is active')
  expect(await stored(id)).toMatchObject({ status: 'active' })
})

test('says that a bound is missing where one is', async () => {
  const agent = await world.agent('pay')
  const { id } = await askMandate(world, agent, { ttl_seconds: 60 })

  const { text } = await (await signedIn(world, agent)).visit(`/web/mandate/${id}`)

  expect(text).toContain('In all No limit of its own')
  expect(text).toContain('Payments Any number')
  expect(text).toContain('at most 1,000.00 USD can leave under this mandate')
  expect(text).toContain('your daily spending cap, and when it ends')
})

test('names a foreign merchant as it is matched, and warns of how it reads', async () => {
  const { browser, page } = await asked({ merchant_domain: 'xn--bcher-kva.example.com' })

  const { text } = await browser.visit(page)

  expect(text).toContain('xn--bcher-kva.example.com reads as “bücher.example.com”')
  expect(text).toContain('This name has letters beyond a to z')
})

test('says that a new device may pay under the mandate, and no more, once it is approved', async () => {
  const { browser, page, agent } = await asked()
  const warning = 'New device: it could pay under this mandate only'

  const before = await browser.visit(page)
  await world.acquaint(agent, agent.address)
  const after = await browser.visit(page)

  expect(before.text).toContain(warning)
  expect(after.text).not.toContain(warning)
})

test('warns that named addresses are paid whoever asks, and of one that imitates a known one', async () => {
  const known = (await world.agent('read')).address
  const twin = `${known.slice(0, 6)}${'0'.repeat(32)}${known.slice(-4)}`
  const plain = await asked()
  const named = await asked({ pay_to: [known] })
  const forged = await asked({ pay_to: [twin] })
  await world.acquaint(forged.agent, known)

  const texts = [plain, named, forged].map(async ({ browser, page }) => {
    const { text } = await browser.visit(page)
    return [text.includes('It pays the addresses it names'), text.includes('imitates one')]
  })

  expect(await Promise.all(texts)).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ])
})

test('does not warn of a name in plain letters', async () => {
  const { browser, page } = await asked()

  expect((await browser.visit(page)).text).not.toContain('letters beyond')
})

test('is suspended, let go on and revoked, and says each', async () => {
  const { browser, page, id } = await asked()
  await approve(browser, page)

  const held = await browser.submit({ decision: 'suspended' }, page)
  const on = await browser.submit({ decision: 'resumed' }, page)
  const over = await browser.submit({ decision: 'revoked' }, page)

  expect(held.text).toContain('This mandate is suspended')
  expect(on.text).toContain('This mandate is active')
  expect(over.text).toContain('by you. Nothing more is paid under it')
  expect(over.html).not.toContain('name="decision"')
  expect(await stored(id)).toMatchObject({ status: 'revoked', revoked_by: 'owner' })
})

test('a declined one, an expired one and one that is decided offer nothing more', async () => {
  const declined = await asked()
  const expired = await asked({ ttl_seconds: 60 })
  await declined.browser.visit(declined.page)

  const no = await declined.browser.submit({ decision: 'declined' }, declined.page)
  const after = await declined.browser.send(declined.page)
  await world.tick(61)
  const late = await (await signedIn(world, expired.agent)).visit(expired.page)

  expect(no.text).toContain('You declined this mandate')
  expect(after.html).not.toContain('name="decision"')
  expect(late.text).toContain('This mandate has expired')
  expect(late.html).not.toContain('name="decision"')
})

test('asks for a proof to approve and to let it go on, and not to stop it', async () => {
  const { browser, page } = await asked()
  const other = await asked()
  await approve(browser, page)
  await world.tick(11 * 60)
  const proof = `/web/proof?next=${encodeURIComponent(page)}`

  const held = await decide(browser, page, 'suspended')
  const resumed = await decide(browser, page, 'resumed')
  const revoked = await decide(browser, page, 'revoked')
  const unproven = await decide(other.browser, other.page, 'approved')
  const declined = await decide(other.browser, other.page, 'declined')

  expect(held.text).toContain('This mandate is suspended')
  expect(resumed.path).toBe(proof)
  expect(revoked.text).toContain('This mandate is revoked')
  expect(unproven.path).toBe(`/web/proof?next=${encodeURIComponent(other.page)}`)
  expect(declined.text).toContain('You declined this mandate')
})

test('nothing is approved in an account that is frozen', async () => {
  const { browser, agent, page } = await asked()
  await agent.post('/account-freeze', { reason: 'lost' })
  const other = await signedIn(world, agent)

  const shown = await other.visit(page)
  const tried = await decide(browser, page, 'approved')

  expect(shown.text).toContain('Nothing can be approved until you unfreeze it')
  expect(shown.html).not.toContain('value="approved"')
  expect(tried.status).toBe(403)
})

test('opening the page changes nothing, however it is opened', async () => {
  const { browser, page, id } = await asked()
  const before = await stored(id)

  for (const method of ['GET', 'HEAD']) {
    for (const query of ['', '?decision=approved']) await browser.send(page + query, { method })
  }

  expect(await stored(id)).toEqual(before)
})

test("a stranger's mandate answers as one that never was", async () => {
  const { page, id } = await asked()
  const { browser } = await asked()
  const nothing = page.replace(/[0-9a-f]{12}$/, '000000000000')

  const texts = []
  for (const link of [page, nothing, '/web/mandate/x']) {
    const { status, text } = await browser.visit(link)
    texts.push({ status, text: text.replace(/Request .*/, '') })
  }

  expect(texts[0]).toMatchObject({ status: 404 })
  expect([texts[1], texts[2]]).toEqual([texts[0], texts[0]])
  expect(await stored(id)).toMatchObject({ status: 'pending_approval' })
})

test('lists what waits apart from what is decided, and the overview counts it', async () => {
  const { agent, browser, id, page } = await asked()
  const empty = await (await signedIn(world, await world.agent('pay'))).visit('/web/mandates')
  const waiting = await browser.visit('/web/mandates')
  const overview = await browser.visit('/web')
  await approve(browser, page)
  await askMandate(world, agent, { merchant_domain: 'other.example.com' })

  const both = await browser.visit('/web/mandates')

  expect(empty.text).toContain('No mandates yet')
  expect(waiting.text).toContain('Waiting for you')
  expect(waiting.html).toContain(`/web/mandate/${id}`)
  expect(overview.text).toContain('One mandate is waiting for your approval')
  expect(both.text).toMatch(
    /Waiting for you.*other\.example\.com.*Active.*shop\.example\.com Active/,
  )
})

test('stays on the first page, however many others an agent asks for and takes back', async () => {
  const { agent, browser, id, page } = await asked()
  await approve(browser, page)
  for (let other = 0; other < 30; other += 1) {
    const { id: mandate_id } = await askMandate(world, agent)
    await agent.post('/payment-mandate-revoke', { mandate_id })
  }

  const { html } = await browser.visit('/web/mandates')

  expect(html).toContain(`/web/mandate/${id}`)
})

test('is told by mail once it is active, with whom it pays', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  const { address } = await world.agent('read')
  const { id } = await askMandate(world, person.agent, { ...caps, pay_to: [address] })

  await approve(browser, `/web/mandate/${id}`)
  const mails = await world.mails(person.email)
  const mail = mails.find(({ subject }) => subject === 'A mandate of your account is active')

  expect(mail?.text).toContain(`/web/mandate/${id}`)
  const words = mail?.text.replace(/\s+/g, ' ')
  expect(words).toContain(
    `Pay ${shop.replaceAll('.', '[.]')} and every host below it up to 5 USD each`,
  )
  expect(words).toContain(`only to ${address}, by transfer too`)
})

test('shows what is used and left, and each payment under it with its state', async () => {
  const payee = await world.agent('read')
  const { agent, browser, page } = await asked({ pay_to: [payee.address], max_payments: 3 })
  await fund(world.chain, agent.address, { usdcAtomic: 10_000_000n })
  await approve(browser, page)
  const order = { recipient: payee.address, chain: 'base-sepolia', token: 'USDC', amount: '1.25' }

  const paid = await agent.post('/wallet-custodial-transfer', order)
  const shown = await browser.visit(page)

  expect(paid.body).toMatchObject({ status: 'submitted', consent_level: 'mandate' })
  expect(shown.text).toContain('1.25 of 20.00 USD')
  expect(shown.text).toContain('1.25 of 100.00 USD')
  expect(shown.text).toContain('1.25 USD spent, 18.75 USD left')
  expect(shown.text).toContain('1 made, 2 left')
  expect(shown.text).toContain('pay On its way')
  const found = `/web/payment/${z.uuid().parse(paid.body['transfer_id'])}`
  expect(shown.html).toContain(found)
  expect((await browser.visit(found)).html).toContain(`href="${page}"`)
})

test('rehearses what it would have done with the payments of the account', async () => {
  const payee = await world.agent('read')
  const agent = await world.agent('pay', { usdc: 50 })
  const to = { recipient: payee.address, chain: 'base-sepolia', token: 'USDC' }
  for (const amount of ['4', '7']) {
    await agent.post('/wallet-custodial-transfer', { ...to, amount, user_confirmed: true })
  }
  await world.tick(1)
  const { id } = await askMandate(world, agent, { ...caps, pay_to: [payee.address] })

  const { text } = await (await signedIn(world, agent)).visit(`/web/mandate/${id}`)

  expect(text).toContain('Paid without asking 1 4.00 USD')
  expect(text).toContain('Asked about 1 7.00 USD')
  expect(text).toContain('The amount is over what the mandate allows for one payment.')
})
