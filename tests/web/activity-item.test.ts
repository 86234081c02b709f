import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })

test('a settled payment is told with its facts, its note apart, and a proof to take away', async () => {
  const [payer, payee] = [await world.agent('pay', { usdc: 50 }), await world.agent('read')]
  await world.acquaint(payer, payee.address)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '12.5' }
  const sent = await payer.post('/wallet-custodial-transfer', { ...order, memo: '<b>Rent</b>' })
  const { transfer_id } = sent.body
  const settled = await payer.post('/transfer-status', { transfer_id })
  const browser = await signedIn(world, payer)
  const feed = await browser.visit('/web/activity')
  const [, path = ''] = /<a href="(\/web\/activity\/\d+)"/.exec(feed.html) ?? []

  const page = await browser.visit(path)
  const proof = await browser.send(`${path}/proof.json`)

  expect(settled.body['status']).toBe('settled')
  expect(page.text).toContain('Transfer of 12.50 USDC')
  expect(page.text).toContain('Within the limit for payments without asking')
  expect(page.text).toContain('Words of others')
  expect(page.html).toContain('&lt;b&gt;Rent&lt;/b&gt;')
  expect(JSON.parse(proof.html)).toMatchObject({
    proof: { tx_hash: settled.body['tx_hash'], from: payer.address, to: payee.address },
  })
})

test('what is no settled payment has no proof', async () => {
  const agent = await world.agent('read')
  await world.db.sql`insert into private.activities (account, category, type, summary)
    values (${agent.id}, 'security', 'told', 'A key was made.')`
  const [row] = await world.db.sql`select id from private.activities where account = ${agent.id}`
  const browser = await signedIn(world, agent)

  const page = await browser.visit(`/web/activity/${String(row?.['id'])}`)
  const proof = await browser.send(`/web/activity/${String(row?.['id'])}/proof.json`)

  expect(page.text).toContain('A key was made.')
  expect(page.text).not.toContain('Download the proof')
  expect(proof.status).toBe(404)
})
