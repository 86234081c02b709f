/** Terms of a mandate as the owner types them. */
import { connectedChains } from '../../../shared/chains/registry.ts'
import { errorTable, fail, isRefusal, type Refusal } from '../../../shared/contract/errors.ts'
import { canonicalHost } from '../../../shared/mandates/host-name.ts'
import { readRecipient } from '../../../shared/payments/enter/transfer.ts'
import type { World } from '../../../shared/world.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { typedUsdMicrosIn } from '../ui/typed-amount.ts'

/** Choices of a form for how long a mandate lasts, in days. */
export const lives = [
  { value: '7', label: 'A week' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
]
/** Days that are chosen at first. */
export const lifeDefault = '30'

/** Sentence about what is wrong, by field; `agent` stands above the form. */
export type Problems = Partial<Record<'agent' | 'payee' | 'each' | 'day' | 'total', string>>

/** Refusals of the database that the form shows, with the field that each is about. */
export const refusalsShown: Readonly<Record<string, keyof Problems>> = {
  not_found: 'agent',
  too_many_mandates: 'agent',
  recipient_not_found: 'payee',
  recipient_refused: 'payee',
}

const agentWords: Readonly<Record<string, string>> = {
  not_found: 'Choose one of your keys or apps that may pay.',
  too_many_mandates: '20 mandates are waiting for you, the maximum. Decide one first.',
}

/** Returns a refusal as what is wrong with a field. */
export function problemsOf({ refusal, message }: Refusal): Problems {
  const words = agentWords[refusal] ?? message ?? errorTable[refusal][1]
  return { [refusalsShown[refusal] ?? 'payee']: words.replace(/^recipient: /, '') }
}

/** Terms as SQL takes them. */
export type Terms = Extract<ReturnType<typeof readTerms>, { terms: unknown }>['terms']

/** Reads the terms, or says which fields are wrong. */
export function readTerms(world: World, form: URLSearchParams) {
  const agent = form.get('agent') ?? ''
  const payee = readPayee(world, (form.get('payee') ?? '').trim())
  const each = amountIn(form, 'each', 1n) ?? amountWords
  const least = typeof each === 'bigint' ? each : 1n
  const [day, total] = [amountIn(form, 'day', least), amountIn(form, 'total', least)]
  const wrong = Object.entries({ each, day, total }).filter(([, read]) => typeof read === 'string')
  const problems: Problems = {
    ...Object.fromEntries(wrong),
    ...(isUuid(agent) ? {} : { agent: agentWords['not_found'] }),
    ...(isRefusal(payee) ? problemsOf(payee) : {}),
  }
  if (Object.keys(problems).length > 0) return { problems }
  return {
    terms: {
      ...payee,
      agent,
      days: Number(lives.find(({ value }) => value === form.get('days'))?.value ?? lifeDefault),
      max_payment_usd_micros: String(each),
      max_day_usd_micros: day?.toString() ?? null,
      max_total_usd_micros: total?.toString() ?? null,
    },
  }
}

/** Reads who is paid: a name with a dot or a port is the host of a merchant, anything else a payee of transfers. */
function readPayee({ config }: World, text: string) {
  if (!/^0x|@|^[^.:]+$/i.test(text)) {
    const read = canonicalHost(text, config)
    if ('problem' in read) return fail('merchant_refused', { message: read.message })
    return { merchant_domain: read.domain }
  }
  const read = readRecipient(text, connectedChains(config), config.MAIL_DOMAIN)
  if (isRefusal(read)) return read
  return read.kind === 'address' ? { payee: read.address } : { payee_alias: read.alias }
}

const amountWords = 'Enter an amount above 0 and up to 1,000,000, such as 25 or 12.50.'

/** Reads an amount in micro-dollars: null for an empty field, a sentence if it is wrong. */
function amountIn(form: URLSearchParams, name: string, least: bigint): bigint | string | null {
  const micros = typedUsdMicrosIn(form, name)
  if (micros === null) return null
  if (!micros) return amountWords
  return micros < least ? 'Enter at least the limit for each payment.' : micros
}
