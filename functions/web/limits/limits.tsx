/** The page of limits, on which the owner reads and sets them and sees the exposure of each key. */
import * as z from 'zod'
import type { Chain } from '../../../shared/chains/chain.ts'
import { connectedChains } from '../../../shared/chains/registry.ts'
import { limitsRaised } from '../../../shared/mail/money-messages.ts'
import { formatUsd } from '../../../shared/money/amount.ts'
import { bigintText } from '../../../shared/money/row-fields.ts'
import { relayedBody } from '../../../shared/payments/decide/limit-words.ts'
import { limitsRow, relayedRows } from '../../../shared/payments/payment-with-facts.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Section, SendAgain, Time, usdRoundedDown } from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import { typedUsdMicros } from '../ui/typed-amount.ts'
import {
  markFormDraft,
  type Owner,
  type PageContext,
  type Routes,
  takeFormDraft,
} from '../visit.ts'
import { Exposures, keyExposureRow } from './exposures.tsx'
import { type LimitName, limitNames, limitWords } from './limits-data.ts'

const row = z.object({
  limits: limitsRow,
  asserted_new_recipient_limit: bigintText,
  relayed: relayedRows,
})
const setRow = z.object({
  name: z.enum(limitNames),
  before: bigintText,
  outcome: z.enum(['raised', 'lowered', 'same']),
})

/** Routes that show the limits and set them. */
export const routes: Routes = (app) => {
  app.get('/limits', async (c) => showLimits(c, takeFormDraft(c, await requireOwner(c))))

  app.post('/limits', async (c) => {
    const { db } = await requireOwner(c)
    const form = await readFormFields(c)
    markFormDraft(c, form)
    const wanted = await readWanted(c, form)
    const problems = problemsOf(wanted)
    if (problems.size > 0) return showLimits(c, form, problems)
    const changed = wanted.flatMap(({ name, micros, now }) =>
      micros === undefined || micros === now ? [] : [{ name, micros, now }],
    )
    const limits = Object.fromEntries(changed.map(({ name, micros }) => [name, `${micros}`]))
    const changes = Object.fromEntries(
      changed.map(({ name, micros, now }) => {
        return [limitWords[name].title, `from ${formatUsd(now)} to ${formatUsd(micros)} USD`]
      }),
    )
    const mail = await sealOwnerNotice(c, (webUrl, deed) =>
      limitsRaised(webUrl, { ...deed, changes }),
    )
    const set = await db.many('owner_set_limits', { limits, mail }, setRow)
    return goTo(c, '/limits', 'limits_saved', savedDetails(set, wanted))
  })
}

/** Limit that a form sets; `micros` is undefined if it is no amount. */
type Wanted = { name: LimitName; micros: bigint | undefined; now: bigint }

/** Reads all limits of a form; one that it does not have stays as it is. */
async function readWanted(c: PageContext, form: URLSearchParams): Promise<Wanted[]> {
  const found = await readLimits(await requireOwner(c))
  return limitNames.map((name) => {
    const now = limitOf(found, name)
    return { name, now, micros: typedUsdMicros(form.get(`usd_${name}`) ?? formatUsd(now)) }
  })
}

/** Returns for each field what is wrong with it. */
function problemsOf(wanted: readonly Wanted[]): Map<LimitName, string> {
  const problems = wanted.flatMap(({ name, micros, now }): [LimitName, string][] => {
    if (micros === undefined) {
      return [
        [name, 'Enter an amount from 0 to 1,000,000, such as 250 or 12.50, without a minus sign.'],
      ]
    }
    const above = name === 'daily_spending_cap' ? 'monthly_spending_cap' : 'daily_spending_cap'
    const cap = name === above ? undefined : wanted.find((one) => one.name === above)?.micros
    if (cap === undefined || micros <= cap || micros <= now) return []
    const { title } = limitWords[above]
    return [[name, `“${title}” stops everything at ${usdRoundedDown(cap)} USD. Raise that too.`]]
  })
  return new Map(problems)
}

/** Says which limits changed, and how to set them back. */
function savedDetails(set: readonly z.output<typeof setRow>[], wanted: readonly Wanted[]) {
  const changed = set.filter(({ outcome }) => outcome !== 'same')
  if (changed.length === 0) return { words: 'No limit was changed.' }
  const words = changed.map(({ name, before }) => {
    const micros = wanted.find((one) => one.name === name)?.micros ?? 0n
    return `${limitWords[name].title}: ${usdRoundedDown(before)} to ${usdRoundedDown(micros)} USD.`
  })
  const fields = Object.fromEntries(
    changed.map(({ name, before }) => [`usd_${name}`, formatUsd(before)]),
  )
  return {
    words: words.join(' '),
    undo: { action: '/limits', fields },
  }
}

type Limits = z.output<typeof row>

async function readLimits({ db }: Owner): Promise<Limits> {
  const found = await db.one('owner_read_limits', {}, row)
  if (!found) throw new Error('an account has no limits')
  return found
}

function limitOf({ limits, asserted_new_recipient_limit }: Limits, name: LimitName): bigint {
  return name === 'asserted_new_recipient' ? asserted_new_recipient_limit : limits[name].limit
}

async function showLimits(
  c: PageContext,
  typed?: URLSearchParams,
  problems: Map<LimitName, string> = new Map(),
) {
  const me = await requireOwner(c)
  const [found, keys] = await Promise.all([
    readLimits(me),
    me.db.many('owner_list_exposures', {}, keyExposureRow),
  ])
  return sendPage(
    c,
    <Page
      c={c}
      title="Limits"
      owner={me}
      lead="A lower limit applies at once. To raise one, confirm again that it’s you."
    >
      {typed && problems.size === 0 && <SendAgain />}
      <Form c={c}>
        {limitNames.map((name) => (
          <Limit name={name} found={found} typed={typed} problem={problems.get(name)} />
        ))}
        <div class="actions">
          <Button>Save</Button>
        </div>
      </Form>
      <Relayed rows={found.relayed} chains={connectedChains(c.get('world').config)} />
      <Exposures keys={keys} />
    </Page>,
    problems.size === 0 ? 200 : 400,
  )
}

type LimitProps = {
  name: LimitName
  found: Limits
  typed: URLSearchParams | undefined
  problem: string | undefined
}

/** Shows the limit with its field and how much of it is used. */
function Limit({ name, found, typed, problem }: LimitProps) {
  const { title, meaning } = limitWords[name]
  return (
    <div class="limit">
      <Field
        name={`usd_${name}`}
        label={title}
        hint={meaning}
        value={typed?.get(`usd_${name}`) ?? formatUsd(limitOf(found, name))}
        unit="USD"
        inputmode="decimal"
        autocomplete="off"
        maxlength={20}
        required
        {...(problem === undefined ? {} : { error: problem })}
      />
      {name !== 'asserted_new_recipient' && (
        <Used
          id={`used-${name}`}
          label={`Used in the last ${name === 'monthly_spending_cap' ? '30 days' : '24 hours'}`}
          window={found.limits[name]}
        />
      )}
    </div>
  )
}

type Rows = z.output<typeof relayedRows>

/** Shows what is left on each chain. */
function Relayed({ rows, chains }: { rows: Rows; chains: readonly Chain[] }) {
  if (rows.length === 0) return null
  return (
    <Section title="Gas paid for you">
      <p>
        The service pays the gas for a limited number of transfers in 24 hours. After that, the
        wallet pays with its own coin.
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
          ; more available <Time at={body.resets_at} isInSentence />
        </>
      )}
    </li>
  )
}
