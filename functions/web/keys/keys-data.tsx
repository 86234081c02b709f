/** API keys, as the owner sees and makes them. */
import * as z from 'zod'
import { createApiKey, credentialOf, shownPart } from '../../../shared/auth/api-key.ts'
import { required } from '../../../shared/env.ts'
import { bigintText, time } from '../../../shared/money/row-fields.ts'
import { capsRow } from '../../../shared/payments/payment-with-facts.ts'
import type { World } from '../../../shared/world.ts'
import { Page, sendPage } from '../layout.tsx'
import { LinkButton } from '../ui/form.tsx'
import { Notice } from '../ui/show.tsx'
import type { Owner, PageContext } from '../visit.ts'
import { KeyOnce, keyScripts } from './key-once.tsx'

/** Row of one key; `shown` is the part of it that is not secret. */
export const keyRow = z.object({
  key: z.uuid(),
  label: z.string(),
  shown: z.string(),
  scopes: z.array(z.string()),
  live: z.boolean(),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_on: z.string().nullable(),
  /** True if it may read secrets of the vault, not only have them used. */
  reads_secrets: z.boolean(),
  caps: capsRow,
  /** Spent and reserved in 24 hours; null for a key that pays nothing. */
  spent_usd_micros: bigintText.nullable(),
})
/** API key of the account, in service or ended. */
export type KeyRow = z.output<typeof keyRow>

/** Number of keys that a page lists; ended ones drop off the end of the list. */
export const listedMax = 50

/** Message for an account that has as many keys as it may have. */
export const keysFull = 'The account has 20 active keys, the maximum. Revoke one first.'

/** Days that the owner can choose for the life of a key. */
const lifeDays = ['7', '30', '90', '365'] as const
/** Days that are chosen at first. */
export const lifeDaysDefault = '90'
/** Choices of a form for the days. */
export const lifeChoices = lifeDays.map((value) => ({ value, label: `${value} days` }))

/** Reads the days from a form; the default for anything that is not offered. */
export function lifeOf(given: string | null): number {
  return Number(lifeDays.find((days) => days === given) ?? lifeDaysDefault)
}

/** Makes a key, with the digest and the visible part that the database may store. */
export async function makeKey(world: World) {
  const { config } = world
  const kind = config.ENVIRONMENT === 'production' ? 'live' : 'test'
  const key = createApiKey(kind, (length) => world.randomBytes(length))
  const digest = await credentialOf(key, required(config, 'API_KEY_PEPPER'))
  return { key, known: { digest, shown: shownPart(key) } }
}

/** Answers the form that made a key, with the key. */
export function showNewKey(c: PageContext, me: Owner, key: string, note: string) {
  return sendPage(
    c,
    <Page c={c} title="Your new API key" owner={me} scripts={keyScripts}>
      <Notice kind="warning" title="Copy it now">
        It is shown only once. {note}
      </Notice>
      <KeyOnce c={c} apiKey={key} />
      <p class="actions">
        <LinkButton kind="main" to="/keys">
          I have saved the key
        </LinkButton>
      </p>
    </Page>,
  )
}
