import * as z from 'zod'
import { isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { askerName } from '../../shared/mail/asker.ts'
import { mandateWanted } from '../../shared/mail/money-messages.ts'
import { sealForOutbox } from '../../shared/mail/outbox.ts'
import { mandateRow } from '../../shared/mandates/mandate-row.ts'
import { mandateBody, mandateUrl, readMandateRequest } from '../../shared/mandates/order.ts'
import { capWords, merchantWords } from '../../shared/mandates/words.ts'
import type { paymentMandateCreate } from './contract.ts'

const createdRow = z.object({ mandate_row: mandateRow, digest: z.string() })

/** Creates a mandate that waits for its owner, and mails the owner where to approve it. */
export const run: Handler<typeof paymentMandateCreate> = async (input, context) => {
  const { db, world } = context
  const terms = readMandateRequest(world.config, input)
  if (isRefusal(terms)) return terms
  const id = world.newId()
  const message = mandateWanted({
    merchant: merchantWords(terms),
    caps: capWords(terms),
    asker: await askerName(db),
    url: mandateUrl(world.config, id),
  })
  const order = {
    new_id: id,
    device: await context.device(),
    merchant_domain: terms.merchantDomain,
    include_subdomains: terms.includeSubdomains,
    max_payment_usd_micros: terms.maxPaymentUsdMicros.toString(),
    max_day_usd_micros: terms.maxDayUsdMicros?.toString() ?? null,
    max_total_usd_micros: terms.maxTotalUsdMicros?.toString() ?? null,
    max_payments: terms.maxPayments,
    chains: terms.chains && [...terms.chains],
    tokens: terms.tokens && [...terms.tokens],
    pay_to: terms.payTo && [...terms.payTo],
    ttl_seconds: input.ttl_seconds,
    mail: await sealForOutbox(world, message),
  }
  const made = await db.one('create_mandate', order, createdRow)
  if (!made) throw new Error('a mandate was not made')
  context.mailSoon()
  const body = mandateBody(made.mandate_row, world.config)
  return { ...body, digest: made.digest }
}
