/** The owner sends money from the app: entered, shown, approved and paid once, within the caps. */
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../support/browserless.ts'
import { newKey } from '../support/chain-world.ts'
import { usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const agentPath = '/wallet-custodial-transfer'

/** Opens an account with 2,000 USDC, its owner's browser on the page, and somebody to pay. */
async function sending(): Promise<{ payer: Agent; to: { address: string }; browser: Browser }> {
  const payer = await world.agent('pay', { usdc: 2000 })
  const browser = await signedIn(world, payer)
  await browser.visit('/web/send')
  return { payer, to: { address: newKey().at }, browser }
}

const idIn = (path: string) => path.slice(path.lastIndexOf('/') + 1)

test('sends to a new address once, however often the form is sent, and tells the owner by mail', async () => {
  const { payer, to, browser } = await sending()
  const form = { recipient: to.address, amount: '$1,000.5', note: 'for <b>rent</b>' }

  const shown = await browser.submit({ ...form, amount: '5' })
  await browser.visit('/web/send')
  const other = await browser.submit(form)
  const done = await browser.submit({ decision: 'approved' })
  const over = await signedIn(world, payer)
  const [first] = [await over.visit(shown.path)]
  await over.submit({ decision: 'approved' })
  await over.submit({ decision: 'approved' }).catch(() => undefined)

  expect(shown.path).toMatch(/^\/web\/approve\//)
  expect(idIn(other.path)).not.toBe(idIn(shown.path))
  expect(other.text).toContain('1,000.50 USDC')
  expect(other.text).toContain('You entered it')
  expect(other.html).toContain('for &lt;b&gt;rent&lt;/b&gt;')
  expect(other.html).not.toContain('name="any_key"')
  expect(done.text).not.toContain('Always allow')
  expect(first.text).toContain('Approve and pay 5.00 USDC')
  expect(await usdcOf(world, to)).toBe(5_000_000n)
})

test('a form that is sent twice enters one transfer', async () => {
  const { payer, to, browser } = await sending()
  const form = { recipient: to.address, amount: '7' }

  const shown = await browser.submit(form)
  const claim = await claimOf(shown.path)
  await browser.visit('/web/send')
  const again = await browser.submit({ ...form, claim })
  await browser.submit({ decision: 'approved' })

  expect(again.path).toBe(shown.path)
  expect(await usdcOf(world, to)).toBe(7_000_000n)
  const mails = await world.db.sql<{ topic: string }[]>`
    select topic from private.outbox where account = ${payer.id} and device is null`
  expect(mails.map(({ topic }) => topic)).toEqual(['money_sent'])
})

async function claimOf(path: string): Promise<string> {
  const [row] = await world.db.sql<{ claim: string }[]>`
    select claim from private.payments where id = ${idIn(path)}`
  return row?.claim ?? ''
}

test('says at its field what is wrong, keeps what was typed, and enters nothing', async () => {
  const { payer, browser } = await sending()
  const wrong = newKey().at.replace(/[a-f]/i, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  )
  const cases = [
    [{ recipient: wrong, amount: '5' }, 'checksum'],
    [{ recipient: 'nobody-of-this-name', amount: '5' }, 'No account has this alias'],
    [{ recipient: payer.alias, amount: '5' }, 'own wallet'],
    [{ recipient: newKey().at, amount: '2000.01' }, 'The account holds 2,000.00 USDC'],
    [{ recipient: newKey().at, amount: '1,00' }, 'More than zero'],
    [{ recipient: newKey().at, amount: '0' }, 'More than zero'],
    [{ recipient: newKey().at, amount: '' }, 'More than zero'],
  ] as const
  for (const [form, words] of cases) {
    const answer = await browser.submit(form)
    expect(answer.text).toContain(words)
    expect(answer.html).toContain(`value="${form.recipient}"`)
    expect(answer.html).toMatch(/aria-invalid="true"/)
  }
  const [{ entered } = { entered: -1 }] = await world.db.sql<{ entered: number }[]>`
    select count(*)::integer as entered from private.payments where account = ${payer.id}`
  expect(entered).toBe(0)
})

test('passes the daily cap only with the tick, which agents cannot get, and counts against it', async () => {
  const { payer, to, browser } = await sending()
  await browser.submit({ recipient: to.address, all: 'yes' })

  const plain = await browser.submit({ decision: 'approved' })
  const before = await usdcOf(world, to)
  const owner = await ownerOf(world, payer)
  await browser.visit('/web/send')
  const entered = await browser.submit({ recipient: to.address, amount: '1500' })
  const outcome = await owner.decide(idIn(entered.path), 'approved', 'pass_daily_cap')
  await browser.visit(entered.path)
  await browser.submit({ decision: 'send' })
  const after = await payer.post(agentPath, {
    recipient: to.address,
    chain: 'base-sepolia',
    token: 'USDC',
    amount: '1',
    user_confirmed: true,
  })

  expect(plain.text).toContain('It is over one of your limits')
  expect(before).toBe(0n)
  expect(outcome).toBe('approved')
  expect(await usdcOf(world, to)).toBe(1_500_000_000n)
  expect(after.body).toMatchObject({ error: 'limit_exceeded' })
})

test('no approval lets a payment of an agent pass the daily cap', async () => {
  const { payer, payee, transfer_id, page, browser } = await waitingTransfer(world, {})
  const owner = await ownerOf(world, payer)
  await owner.call('owner_set_limits', { limits: { daily_spending_cap: '100000000' } })

  const shown = await browser.visit(page)
  const outcome = await owner.decide(transfer_id, 'approved', 'pass_daily_cap')

  expect(shown.html).not.toContain('pass_daily_cap')
  expect(outcome).toBe('terms_changed')
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('no key pays what the owner entered, and nobody else sees it', async () => {
  const { payer, to, browser } = await sending()
  const shown = await browser.submit({ recipient: to.address, amount: '5' })
  const order = { recipient: to.address, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const owner = await ownerOf(world, payer)
  await owner.decide(idIn(shown.path), 'approved')
  const { browser: stranger } = await sending()

  const taken = await payer.post(agentPath, {
    ...order,
    transfer_id: idIn(shown.path),
    user_confirmed: true,
  })
  const seen = await stranger.visit(shown.path)

  expect(taken.body).toMatchObject({ error: 'payment_not_found' })
  expect(seen.status).toBe(404)
  expect(await usdcOf(world, to)).toBe(0n)
})

test('without a fresh proof nothing is entered, and what was typed is kept', async () => {
  const { payer, to, browser } = await sending()
  await world.tick(601)

  const asked = await browser.submit({ recipient: to.address, amount: '5' })
  const back = await browser.visit('/web/send')
  const [{ entered } = { entered: -1 }] = await world.db.sql<{ entered: number }[]>`
    select count(*)::integer as entered from private.payments where account = ${payer.id}`

  expect(asked.path).toContain('/web/proof')
  expect(back.html).toContain(`value="${to.address}"`)
  expect(entered).toBe(0)
})

test('on a frozen account there is no form, and nothing entered is approved', async () => {
  const { payer, to, browser } = await sending()
  const shown = await browser.submit({ recipient: to.address, amount: '5' })
  await payer.post('/account-freeze', {})

  const page = await browser.visit('/web/send')
  const owner = await ownerOf(world, payer)

  expect(page.html).not.toContain('name="recipient"')
  const outcome = await owner.decide(idIn(shown.path), 'approved')
  expect(JSON.stringify(outcome)).toContain('account_frozen')
})

test('no key continues, changes or pays what the owner entered, approved or not', async () => {
  const { payer, to, browser } = await sending()
  const { path } = await browser.submit({ recipient: to.address, amount: '5', note: 'rent' })
  const transfer_id = idIn(path)
  const order = { recipient: to.address, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const wish = { ...order, memo: 'rent', transfer_id, user_confirmed: true }

  const unapproved = [
    await payer.post(agentPath, { ...order, transfer_id }),
    await payer.post(agentPath, wish),
  ]
  const shown = await browser.visit(path)
  await world.db.sql`update private.accounts set daily_spending_cap_usd_micros = 0
    where id = ${payer.id}`
  const anyKey = await browser.submit({ decision: 'approved', any_key: 'yes' })
  await browser.visit(path)
  await browser.submit({ decision: 'approved' })
  await world.db.sql`update private.accounts set daily_spending_cap_usd_micros = 1000000000
    where id = ${payer.id}`
  const approved = await payer.post(agentPath, wish)

  expect([...unapproved, approved].map(({ status }) => status)).toEqual([404, 404, 404])
  expect(shown.text).toContain('You entered it')
  expect(anyKey.status).toBe(409)
  expect(await usdcOf(world, to)).toBe(0n)
})
