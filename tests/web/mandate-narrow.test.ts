/** An owner can narrow a mandate before approving it, and can never widen it. */
import { beforeAll, expect, test } from 'vitest'
import { approve, askOnPage, storedMandate } from '../support/mandate-pages.ts'
import type { MandateOrder } from '../support/mandates.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

const asked = (order?: MandateOrder) => askOnPage(world, order)
const stored = (id: string) => storedMandate(world, id)

const smaller = { each: '2', day: '10.5', total: '50', count: '7', ends: '1440' }

test('is narrowed first and approved then; the terms asked for are no longer those', async () => {
  const { browser, page, id, digest } = await asked()
  await browser.visit(page)

  const narrowed = await browser.submit(smaller, `${page}/narrow`)
  const stale = await browser.submit({ decision: 'approved', digest }, page)
  const done = await approve(browser, page)

  expect(narrowed).toMatchObject({ status: 200, path: page })
  expect(narrowed.text).toContain('You narrowed what was asked for')
  expect(stale).toMatchObject({ status: 409 })
  expect(stale.text).toContain('Nothing was approved')
  expect(done.text).toContain('This mandate is active')
  expect(await stored(id)).toMatchObject({
    status: 'active',
    max_payment_usd_micros: '2000000',
    max_day_usd_micros: '10500000',
    max_total_usd_micros: '50000000',
    max_payments: 7,
    include_subdomains: true,
  })
})

test.each([
  ['a larger payment', { each: '5.000001' }],
  ['a larger day', { day: '20.1' }],
  ['no limit for a day', { day: '' }],
  ['a larger total', { total: '1000000' }],
  ['no limit in all', { total: '' }],
  ['more payments', { count: '31' }],
  ['any number of payments', { count: '' }],
  ['a later end', { ends: '43200' }],
  ['a day below one payment', { day: '4' }],
  ['nothing', { each: '0' }],
  ['no number', { each: '1e3' }],
  ['a negative number', { each: '-1' }],
  ['a finer amount than there is', { each: '1.0000001' }],
  ['a number that no column holds', { each: '999999999999999999' }],
  ['a part of a payment', { count: '1.5' }],
  ['no payment', { count: '0' }],
])('narrowing to %s changes nothing', async (_, fields) => {
  const { browser, page, id } = await asked({ ttl_seconds: 7 * 86_400 })
  const before = await stored(id)
  await browser.visit(page)

  const shown = await browser.submit(fields, `${page}/narrow`)

  expect(shown.status).toBe(409)
  expect(shown.text).toContain('Nothing has changed')
  for (const [field, typed] of Object.entries(fields).filter(([name]) => name !== 'ends')) {
    expect(shown.html).toContain(`id="field-${field}-error"`)
    expect(shown.html).toMatch(new RegExp(`name="${field}"[^>]* value="${typed}"`))
  }
  expect(await stored(id)).toEqual(before)
})

test('hosts below the merchant can be left out and not be brought in', async () => {
  const wide = await asked()
  await wide.browser.visit(wide.page)
  const exact = await asked({ include_subdomains: false })
  await exact.browser.visit(exact.page)

  await wide.browser.submit({ below: '' }, `${wide.page}/narrow`)
  await exact.browser.submit({ below: 'yes' }, `${exact.page}/narrow`)

  expect(await stored(wide.id)).toMatchObject({ include_subdomains: false })
  expect(await stored(exact.id)).toMatchObject({ include_subdomains: false, requested: null })
})
