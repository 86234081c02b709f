/** A mandate that waits, and the browser of its owner, who decides about it on its page. */
import * as z from 'zod'
import { type Browser, signedIn } from './browserless.ts'
import { askMandate, type MandateOrder } from './mandates.ts'
import type { TestWorld } from './world.ts'

export const shop = 'shop.example.com'
export const caps = {
  merchant_domain: shop,
  include_subdomains: true,
  max_payment_usd_micros: '5000000',
  max_day_usd_micros: '20000000',
  max_total_usd_micros: '100000000',
  max_payments: 30,
  ttl_seconds: 30 * 86_400,
}

/** Requests a mandate for a new account with every cap, except where the order differs. */
export async function askOnPage(world: TestWorld, order: MandateOrder = {}) {
  const agent = await world.agent('pay')
  const browser = await signedIn(world, agent)
  const { id, digest } = await askMandate(world, agent, { ...caps, ...order })
  return { agent, browser, id, digest, page: `/web/mandate/${id}` }
}

/** Opens the page of a mandate and presses one of its buttons. */
export async function decide(browser: Browser, page: string, decision: string) {
  await browser.visit(page)
  return browser.submit({ decision }, page)
}

export function approve(browser: Browser, page: string) {
  return decide(browser, page, 'approved')
}

/** Returns the stored mandate as private.mandate_json does. */
export async function storedMandate({ db }: Pick<TestWorld, 'db'>, id: string) {
  const [row] = await db.sql`
    select private.mandate_json(m) as row from private.mandates m where id = ${id}`
  return z.looseObject({ status: z.string() }).parse(row?.['row'])
}
