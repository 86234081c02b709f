/** Third call order of skill.md: payments under an approved mandate, without being asked again. */
import type { AccountClient } from '../client/index.ts'
import { mustBe, usdcOf, type WorldFile } from './client.ts'
import { signInOwner } from './owner-browser.ts'

/** Creates a mandate, lets the owner approve it, pays under it and revokes it. */
export async function payUnderMandate(world: WorldFile, agent: AccountClient): Promise<void> {
  const url = world.merchant.v2_url
  console.log(`\nPaying ${url} under a mandate`)
  const request = {
    merchant_domain: new URL(url).hostname,
    max_amount_per_payment_usd: '0.50',
    max_payments: 1,
    ttl_seconds: 3600,
  }
  const mandate = await agent.paymentMandateCreate(request)
  const { mandate_id } = mandate
  mustBe('the mandate before the owner saw it', mandate.status, 'pending_approval')
  await approve(world, mandate.approval_url)
  const before = await readMandate(agent, mandate_id)
  mustBe('the mandate once it is approved', before?.status, 'active')

  const attempt = await agent.x402PaymentPrepare({ resource_url: url })
  mustBe('whether anybody is asked', attempt.requires_user_confirm, false)
  mustBe('what covers the payment', attempt.covered_by?.mandate_id, mandate_id)
  const held = await usdcOf(world, world.owner.address)
  const order = { attempt_id: attempt.attempt_id, user_confirmed: false }
  const paid = await agent.x402PaymentExecute(order)
  mustBe('the outcome', `${paid.status}, ${paid.consent_level}`, 'settled, mandate')
  const left = await usdcOf(world, world.owner.address)
  mustBe('what the wallet paid', held - left, attempt.terms.amount_atomic)
  const used = await readMandate(agent, mandate_id)
  mustBe('the mandate for one payment', used?.status, 'exhausted')
  mustBe('what was spent under it', used?.spent.total_usd, attempt.terms.amount_usd)
  const { payments } = await agent.paymentMandateStatement({ mandate_id })
  mustBe('the payment on its statement', payments[0]?.payment_id, attempt.attempt_id)

  const ended = await agent.paymentMandateRevoke({ mandate_id })
  mustBe('the mandate in the end', ended.status, 'revoked')
  const again = await agent.x402PaymentPrepare({ resource_url: url })
  mustBe('what covers the next payment', again.covered_by?.mandate_id ?? 'nothing', 'nothing')
}

async function approve(world: WorldFile, url: string): Promise<void> {
  const browser = await signInOwner(world)
  await browser.send(url, { decision: 'approved' })
  console.log('  the owner signs in, reads the terms and approves')
}

async function readMandate(agent: AccountClient, mandate: string) {
  const { mandates } = await agent.paymentMandateStatus({ mandate_id: mandate })
  return mandates[0]
}
