/** After each act the next page says what was done, in our words alone. */
import { beforeAll, expect, test } from 'vitest'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

test('each act of the owner is told on the page after it', async () => {
  const { payer, payee, browser } = await waitingTransfer(world)
  const [key] = await world.db.sql<{ id: string }[]>`
    select id from private.credentials where account = ${payer.id} and kind = 'api_key'`
  const told = async (page: string, fields: Record<string, string>, form = page) => {
    await browser.visit(page)
    return (await browser.submit(fields, form)).text
  }

  await told('/web/freeze', { wanted: 'frozen' })
  expect(await told('/web/freeze', { wanted: 'unfrozen' })).toContain('is no longer frozen')
  const adding = `/web/recipients/add/${payee.address}`
  expect(await told(adding, {})).toContain('The recipient is now trusted.')
  const removed = await told('/web/recipients', { address: payee.address, sure: 'yes' })
  expect(removed).toContain('You will be asked about it again.')
  const keyPage = `/web/keys/${key?.id}`
  expect(await told(keyPage, { wanted: 'capped', each: '5', day: '9' })).toContain('caps are saved')
  expect(await told('/web/approvals', { sure: 'yes' })).toContain(
    'All waiting payments are declined.',
  )
  expect(await told(keyPage, { wanted: 'revoked', sure: 'yes' })).toContain(
    'The key is revoked and no longer works.',
  )
  expect(await told('/web', {}, '/web/logout')).toContain('You are signed out.')
})

test('no address has a page tell an act, and a page tells it once', async () => {
  const { browser } = await waitingTransfer(world)

  const linked = await browser.visit('/web/approvals?done=declined_all')
  const told = await browser.submit({ sure: 'yes' }, '/web/approvals')
  const again = await browser.visit('/web/approvals')

  const counts = [linked, told, again].map(({ text }) => text.split('are declined').length - 1)
  expect(counts).toEqual([0, 1, 0])
})
