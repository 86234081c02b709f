/** The page of limits, on which the owner reads and sets them and sees the exposure of each key. */
import * as z from 'zod'
import type { Chain } from '../../../shared/chains/chain.ts'
import { connectedChains } from '../../../shared/chains/registry.ts'
import { limitsRaised } from '../../../shared/mail/money-messages.ts'
import { formatUsd, parseAmount, usdDecimals } from '../../../shared/money/amount.ts'
import { bigintText } from '../../../shared/money/row-fields.ts'
import { relayedBody } from '../../../shared/payments/decide/limit-words.ts'
import { limitsRow, relayedRows } from '../../../shared/payments/payment-with-facts.ts'
import type { Window } from '../../../shared/policy/facts.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Notice, Section, SendAgain, Time } from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import { markFormDraft, type PageContext, type Routes, takeFormDraft } from '../visit.ts'
import { Exposures, keyExposureRow } from './exposures.tsx'
import { type LimitName, limitNames, limitWords } from './limits-data.ts'

/** Upper bound of a limit in micro-dollars, which SQL checks too. */
const usdMicrosMax = 1_000_000_000_000n

const row = z.object({
  limits: limitsRow,
  asserted_new_recipient_limit: bigintText,
  relayed: relayedRows,
})
const setRow = z.object({ outcome: z.enum(['raised', 'lowered', 'same', 'out_of_bounds']) })

/** Routes that show the limits and set one. */
export const routes: Routes = (app) => {
  app.get('/limits', async (c) => showLimits(c, entryOf(takeFormDraft(c, await requireOwner(c)))))

  app.post('/limits', async (c) => {
    const { db } = await requireOwner(c)
    const form = await readFormFields(c)
    const entry = entryOf(form)
    if (!entry) return goTo(c, '/limits')
    const { name, usd } = entry
    markFormDraft(c, form)
    const micros = parseAmount(usd, usdDecimals)
    if (micros === undefined || micros > usdMicrosMax) {
      const problem = 'An amount from 0 to 1000000, such as 250 or 12.50, without signs or spaces.'
      return showLimits(c, { ...entry, problem })
    }
    const mail = await sealOwnerNotice(c, (webUrl, deed) =>
      limitsRaised(webUrl, { ...deed, changes: { [limitWords[name].title]: `now ${usd} USD` } }),
    )
    const question = { limit_name: name, usd_micros: micros.toString(), mail }
    const set = await db.one('owner_set_limit', question, setRow)
    return goTo(c, `/limits?${set?.outcome ?? 'same'}`)
  })
}

/** Reads the limit that a form sets. */
function entryOf(form: URLSearchParams | undefined): Entry | undefined {
  const name = limitNames.find((one) => one === form?.get('limit'))
  return name && { name, usd: (form?.get(`usd_${name}`) ?? '').trim() }
}

async function showLimits(c: PageContext, entry?: Entry) {
  const me = await requireOwner(c)
  const [found, keys] = await Promise.all([
    me.db.one('owner_read_limits', {}, row),
    me.db.many('owner_list_exposures', {}, keyExposureRow),
  ])
  if (!found) throw new Error('an account has no limits')
  const { limits, asserted_new_recipient_limit } = found
  const isChanged = ['raised', 'lowered'].some((outcome) => c.req.query(outcome) !== undefined)
  return sendPage(
    c,
    <Page
      c={c}
      title="Limits"
      owner={me}
      lead="A lower limit holds at once. To raise one you prove again that it is you."
    >
      {isChanged && <Notice kind="good">The limit is set.</Notice>}
      {entry && entry.problem === undefined && <SendAgain />}
      {limitNames.map((name) => {
        const window = name === 'asserted_new_recipient' ? undefined : limits[name]
        const limit = window?.limit ?? asserted_new_recipient_limit
        return <Limit c={c} name={name} limit={limit} window={window} entry={entry} />
      })}
      <Relayed rows={found.relayed} chains={connectedChains(c.get('world').config)} />
      <Exposures keys={keys} />
    </Page>,
    entry?.problem === undefined ? 200 : 400,
  )
}

/** Limit that was entered and not set, with the reason if it was refused. */
type Entry = { name: LimitName; usd: string; problem?: string }

/** Shows the limit with its form. */
function Limit({
  c,
  name,
  limit,
  window,
  entry,
}: {
  c: PageContext
  name: LimitName
  limit: bigint
  /** Set for a limit over time. */
  window: Window | undefined
  entry: Entry | undefined
}) {
  const { title, meaning } = limitWords[name]
  const own = entry?.name === name ? entry : undefined
  const about = <span class="unseen"> for “{title}”</span>
  return (
    <Section title={title}>
      <p>{meaning}</p>
      {window && <Used id={`used-${name}`} label="Used in the last 24 hours" window={window} />}
      <Form c={c} class="row">
        <input type="hidden" name="limit" value={name} />
        <Field
          name={`usd_${name}`}
          label={<>Limit{about}</>}
          value={own?.usd ?? formatUsd(limit)}
          unit="USD"
          inputmode="decimal"
          autocomplete="off"
          maxlength={20}
          required
          {...(own?.problem === undefined ? {} : { error: own.problem })}
        />
        <Button kind="plain">Save{about}</Button>
      </Form>
    </Section>
  )
}

type Rows = z.output<typeof relayedRows>

/** Shows what is left on each chain. */
function Relayed({ rows, chains }: { rows: Rows; chains: readonly Chain[] }) {
  if (rows.length === 0) return null
  return (
    <Section title="Gas that is paid for you">
      <p>
        The service pays for the gas of so many transfers in 24 hours. After that, the wallet pays
        with its own coin.
      </p>
      <ul>
        {rows.map((row) => (
          <Left row={row} chain={chains.find(({ id }) => id === row.chain)} />
        ))}
      </ul>
    </Section>
  )
}

function Left({ row, chain }: { row: Rows[number]; chain: Chain | undefined }) {
  if (!chain) return null
  const body = relayedBody(row, chain)
  return (
    <li>
      {chain.title}: {body.calls_left} of {body.calls_per_day} transfers left today, from{' '}
      {body.least_usd} USD
      {body.resets_at !== null && (
        <>
          ; more at <Time at={body.resets_at} />
        </>
      )}
    </li>
  )
}
