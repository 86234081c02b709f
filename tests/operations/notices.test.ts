/** The owner is told by mail of each event, in the same transaction and at a bounded rate. */
import { beforeAll, expect, test } from 'vitest'
import { newApiKey } from '../../shared/mail/access-messages.ts'
import type { Message } from '../../shared/mail/letter.ts'
import {
  accountUnfrozen,
  limitsRaised,
  recipientTrusted,
} from '../../shared/mail/money-messages.ts'
import { sealForOutbox } from '../../shared/mail/outbox.ts'
import { ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let aoa: TestWorld
beforeAll(async () => {
  aoa = await start({ chain: true })
})

/** Returns an agent whose account has an owner with a mail address. */
async function owned(usdc?: number) {
  const agent = await aoa.agent('pay', usdc === undefined ? {} : { usdc })
  const email = `${randomBytes(6).toString('hex')}@people.example`
  await aoa.db.sql`insert into private.owners (account, email) values (${agent.id}, ${email})`
  const told = async () => (await aoa.mails(email)).map(({ subject }) => subject)
  return { agent, email, told }
}

async function newPayee(): Promise<string> {
  return (await aoa.agent('read')).address
}

function transfer(agent: Agent, recipient: string, amount: string, more: object = {}) {
  const order = { chain: 'base-sepolia', token: 'USDC', recipient, amount, user_confirmed: true }
  return agent.post('/wallet-custodial-transfer', { ...order, ...more })
}

test('a payment that only the owner can approve is told once, with all that matters', async () => {
  const { agent, email, told } = await owned(100)
  const recipient = await newPayee()
  const memo = 'Invoice 2217, see pay.example'
  const asked = await transfer(agent, recipient, '20.5', { memo })
  const { transfer_id } = asked.body
  await transfer(agent, recipient, '20.5', { transfer_id, memo })

  expect(await told()).toEqual([`Approve 20.5 USDC to ${recipient}?`])
  const [mail] = await aoa.mails(email)
  expect(mail?.text).toMatch(
    /^Requested by: pay\nNote from the agent: Invoice 2217, see pay\[\.\]example\n/,
  )
  expect(mail?.text).not.toContain('pay.example')
  expect(mail?.text).toContain(`http://localhost/web/approve/${String(transfer_id)}`)
})

test('a payment that the agent may have confirmed itself is not told', async () => {
  const { agent, told } = await owned(100)

  await transfer(agent, await newPayee(), '5', { user_confirmed: false })

  expect(await told()).toEqual([])
})

test('an agent that asks for much has six mails sent an hour', async () => {
  const { agent, told } = await owned(1_000)
  const recipient = await newPayee()

  const amounts = Array.from({ length: 24 }, (_, at) => `${11 + at}`)
  await Promise.all(amounts.map((amount) => transfer(agent, recipient, amount)))

  expect(await told()).toHaveLength(6)
})

test('a freeze is told once, in no words of the agent', async () => {
  const { agent, email, told } = await owned()

  await agent.post('/account-freeze', { reason: 'Sign in at evil.example' })
  await agent.post('/account-freeze', { reason: 'again' })

  expect(await told()).toEqual(['Your account is frozen'])
  const [mail] = await aoa.mails(email)
  expect(mail?.text).not.toContain('evil.example')
  expect(mail?.html).not.toContain('evil.example')
})

test('what the owner widens is told, and what changes nothing or narrows is not', async () => {
  const { agent, told } = await owned()
  const owner = await ownerOf(aoa, agent)
  const { WEB_URL } = aoa.world.config
  const deed = { at: aoa.world.now(), device: 'A browser', client: '203.0.113.9' }
  const sealed = (message: Message) => sealForOutbox(aoa.world, message)
  const key = { digest: randomBytes(32).toString('hex'), label: 'shop', shown: 'aoa_test_x' }
  const raised = () => sealed(limitsRaised(WEB_URL, { ...deed, changes: { Cap: 'to 2000 USD' } }))
  const limit = async (usd_micros: string) =>
    owner.call('owner_set_limits', {
      limits: { daily_spending_cap: usd_micros },
      mail: await raised(),
    })

  const lifted = await sealed(accountUnfrozen(WEB_URL, deed))
  await owner.call('owner_unfreeze', { freeze: 0, mail: lifted })
  await limit('900000000')
  expect(await told()).toEqual([])

  await limit('2000000000')
  await owner.call('owner_add_recipient', {
    address: await newPayee(),
    mail: await sealed(recipientTrusted(WEB_URL, { ...deed, label: 'shop', address: 'x' })),
  })
  await owner.call('owner_create_key', {
    ...key,
    scope: 'pay',
    expires_in_days: 30,
    mail: await sealed(newApiKey(WEB_URL, { ...deed, label: 'shop', scope: 'pay' })),
  })

  expect((await told()).toSorted()).toEqual([
    'New API key for your account',
    'New trusted recipient',
    'Your limits were raised',
  ])
})
