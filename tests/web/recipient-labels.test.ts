/** The owner names recipients: the name stands on every page, trusts nobody, and takes a fresh proof. */
import { beforeAll, expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { newKey } from '../support/chain-world.ts'
import { feedOf, ownerOf } from '../support/owner.ts'
import { openPerson } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

test('a name stands on the pages of a payment, and taken away it is gone', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const browser = await signedIn(world, payer)
  const payee = newKey().at
  await browser.visit('/web/send')
  const asked = await browser.submit({ recipient: payee, amount: '5' })
  const page = asked.path.replace('approve', 'payment')

  await browser.visit(page)
  const named = await browser.submit({ label: 'Land\u202elord' }, '/web/recipients/label')
  const texts = await Promise.all(
    [asked.path, '/web/approvals', '/web/activity', '/web/activity?q=landlord', '/web/send'].map(
      async (path) => (await browser.visit(path)).html,
    ),
  )
  const csv = (await browser.visit('/web/payments.csv')).html
  await browser.visit(page)
  const taken = await browser.submit({ label: '' }, '/web/recipients/label')

  expect(named.path).toBe(page)
  expect(named.text).toContain('The name is saved.')
  for (const html of [...texts, csv]) expect(html).toMatch(/Land\S*lord/)
  for (const html of texts) expect(html).not.toContain('\u202e')
  expect(taken.html).not.toMatch(/Land\S*lord/)
})

test('a name needs a fresh proof and a session of the account, and changes no trust', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const payee = newKey().at
  const [fresh, stale] = [await ownerOf(world, payer), await ownerOf(world, payer, 11)]
  const name = { address: payee, label: 'Shop' }

  expect(await stale.call('owner_label_recipient', name)).toEqual({ refused: 'proof_required' })
  expect(await fresh.call('owner_label_recipient', name)).toEqual([{ labelled: true }])
  expect(await fresh.call('owner_list_labels')).toEqual([name])
  expect(await (await ownerOf(world, await world.agent('pay'))).call('owner_list_labels')).toEqual(
    [],
  )
  expect(await fresh.call('owner_list_recipients', { listed_max: 10 })).toEqual([])
  expect(await feedOf(world.db, payer)).not.toContain('remembered')
})

test('a name that is too long is told at its field, and one that waits for a proof is kept', async () => {
  const person = await openPerson(world, 100)
  const browser = await signedIn(world, person.agent)
  const payee = newKey().at
  await browser.visit('/web/send')
  const asked = await browser.submit({ recipient: payee, amount: '5' })
  const page = asked.path.replace('approve', 'payment')
  const name = (label: string) =>
    browser.visit(page).then(() => browser.submit({ label }, '/web/recipients/label'))

  const long = await name('x'.repeat(65))
  await world.tick(601)
  const proof = await name('Landlord')
  const again = await browser.submit({ password: person.password }, '/web/proof')
  const named = await browser.submit({}, '/web/recipients/label')

  expect(long.html).toContain('id="field-label-error">Enter a name of at most 64 characters.')
  expect(long.html).toContain(`value="${'x'.repeat(65)}"`)
  expect(proof.path).toContain('/web/proof?next=')
  expect(again.html).toMatch(/name="label"[^>]* value="Landlord"/)
  expect([named.path, named.text]).toEqual([page, expect.stringContaining('The name is saved.')])
})
