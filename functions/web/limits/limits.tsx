/** The page of limits, on which the owner reads and sets them and sees the exposure of each key. */
import * as z from 'zod'
import { connectedChains } from '../../../shared/chains/registry.ts'
import { bigintText } from '../../../shared/db/row-fields.ts'
import { limitsRaised } from '../../../shared/mail/money-messages.ts'
import { parseAmount, usdDecimals } from '../../../shared/money/amount.ts'
import { limitsRow, relayedRows } from '../../../shared/payments/payment-with-facts.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../own-session.ts'
import { markFormDraft, takeFormDraft } from '../typed.ts'
import { Notice, SendAgain } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { Exposures, keyExposureRow } from './exposures.tsx'
import { type Entry, Limit } from './limit.tsx'
import { limitNames, limitWords } from './limits-data.ts'
import { Relayed } from './relayed.tsx'

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
