import * as z from 'zod'
import { digestOf, mandateTerms } from '../../../shared/consent/terms.ts'
import { mandateApproved } from '../../../shared/mail/money-messages.ts'
import type { MandateRow } from '../../../shared/mandates/mandate-row.ts'
import { mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { mandateSummary } from '../../../shared/mandates/words.ts'
import type { Unheard } from '../data/consent.ts'
import { outcomeRow, unheardOf } from '../data/consent.ts'
import type { OpenedMandate } from '../data/mandates.ts'
import { openMandate, paidRow } from '../data/mandates.ts'
import { digestsOf, ticksIn } from '../data/ticks.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { consentIn } from '../own-consent.ts'
import { noticeOf, ownSession } from '../own-session.ts'
import { FrozenNotice } from '../parts/attention.tsx'
import { Digest, NotHeard, ReceiptLink } from '../parts/consent.tsx'
import { MandateTermsInFull, WorstCase } from '../parts/mandate.tsx'
import {
  MandateDecision,
  MandateOutcome,
  MandateReins,
  NewDevice,
} from '../parts/mandate-decision.tsx'
import { Statement, UseOf } from '../parts/mandate-use.tsx'
import { ForeignLetters } from '../parts/merchant.tsx'
import { NamedPayees } from '../parts/named-payees.tsx'
import { NarrowForm, narrowedIn } from '../parts/narrow.tsx'
import { RehearsalOf } from '../parts/rehearsal.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

const paymentsListed = 25

/** What a form came to, where it came to nothing. */
type Trouble = { unheard?: Unheard; typed?: URLSearchParams; problem?: string }

export const routes: Routes = (app) => {
  app.get('/mandate/:mandate', async (c) => showMandate(c, await openMandate(c)))
  app.post('/mandate/:mandate', change)
  app.post('/mandate/:mandate/narrow', narrow)
}

async function showMandate(c: Visit, opened: OpenedMandate, trouble: Trouble = {}) {
  const me = await owner(c)
  const { mandate_row: mandate, asked } = opened
  const isPending = mandate.status === 'pending_approval'
  return show(
    c,
    <Page
      c={c}
      title={titles[mandate.status]}
      owner={me}
      back={{ to: '/mandates', label: 'Mandates' }}
      lead={
        <>
          {asked.title} asked for it: {mandateSummary(mandateFacts(mandate))}
        </>
      }
      scripts={['copy', 'passkey', 'considered']}
    >
      <NotHeard why={trouble.unheard} />
      {isPending && me.account.isFrozen && <FrozenNotice />}
      {isPending ? (
        <ForeignLetters domain={mandate.merchant_domain} />
      ) : (
        <MandateOutcome opened={opened} />
      )}
      <MandateTermsInFull opened={opened} world={c.get('world')} />
      {isPending ? await pending(c, opened, trouble) : await decided(c, opened)}
    </Page>,
    trouble.unheard === undefined && trouble.problem === undefined ? 200 : 409,
  )
}

const titles: Record<MandateRow['status'], string> = {
  pending_approval: 'Approve this mandate?',
  active: 'This mandate is active',
  suspended: 'This mandate is suspended',
  exhausted: 'This mandate is used up',
  expired: 'This mandate has expired',
  revoked: 'This mandate is revoked',
  declined: 'You declined this mandate',
}

async function pending(c: Visit, opened: OpenedMandate, { typed, problem }: Trouble) {
  const now = c.get('world').now()
  const { mandate_row: mandate } = opened
  const digests = await digestsOf(['any_key'], (ticked) => digestFor(mandate, ticked))
  const { isFrozen } = (await owner(c)).account
  return (
    <>
      <WorstCase opened={opened} now={now} />
      <RehearsalOf opened={opened} now={now} />
      <Digest value={digests[''] ?? ''} />
      <NewDevice asked={opened.asked} />
      <NamedPayees payees={opened.payees} />
      <MandateDecision c={c} opened={opened} digests={digests} isFrozen={isFrozen} />
      <NarrowForm c={c} mandate={mandate} now={now} typed={typed} problem={problem} />
    </>
  )
}

function digestFor(mandate: MandateRow, ticked: readonly string[]): Promise<string> {
  const isForAny = ticked.includes('any_key')
  return digestOf(mandateTerms({ ...mandate, for_any_key: isForAny }))
}

async function decided(c: Visit, { mandate_row: mandate, consent }: OpenedMandate) {
  const [paid, older] = await paymentsOf(c, mandate)
  const here = `${pagesBelow}/mandate/${mandate.id}`
  return (
    <>
      {consent && <UseOf mandate={mandate} />}
      {consent && (
        <Statement
          paid={paid}
          newest={c.req.query('before') === undefined ? undefined : here}
          older={older && `${here}?before=${older}`}
        />
      )}
      {consent && <ReceiptLink of={`/mandate/${mandate.id}`} />}
      <MandateReins c={c} mandate={mandate} />
    </>
  )
}

/** A page of what was paid under it, and the payment after which the next one begins. */
async function paymentsOf(c: Visit, { id }: MandateRow) {
  const { db } = await owner(c)
  const before = z.uuid().safeParse(c.req.query('before')).data ?? null
  const question = { mandate: id, page: paymentsListed + 1, before }
  const found = await db.many('list_mandate_payments', question, paidRow)
  const paid = found.slice(0, paymentsListed)
  const last = found.length > paymentsListed ? paid.at(-1) : undefined
  return [paid, last?.payment_row.id] as const
}

async function change(c: Visit): Promise<Response> {
  const { db } = await owner(c)
  const form = await fields(c)
  const opened = await openMandate(c)
  const { id: mandate } = opened.mandate_row
  const digest = form.get('digest') ?? ''
  switch (form.get('decision') ?? '') {
    case 'approved':
      return approve(c, opened, form)
    case 'declined':
      await db.run('owner_decide_mandate', { mandate, decision: 'declined', digest })
      break
    case 'suspended':
    case 'resumed': {
      const suspended = form.get('decision') === 'suspended'
      await db.run('owner_suspend_mandate', { mandate, suspended })
      break
    }
    case 'revoked':
      await db.run('owner_revoke_mandate', { mandate })
      break
    default:
  }
  return goTo(c, `/mandate/${mandate}`)
}

async function approve(c: Visit, opened: OpenedMandate, form: URLSearchParams) {
  const { db } = await owner(c)
  const { mandate_row: row, passkeys } = opened
  if (form.get('digest') !== (await digestFor(row, []))) {
    return showMandate(c, opened, { unheard: 'changed' })
  }
  const ticks = ticksIn(form)
  const digest = await digestFor(row, ticks)
  const assertion = await consentIn(await ownSession(c), form, digest, passkeys)
  if (assertion === undefined) return showMandate(c, opened, { unheard: 'answer' })
  const mail = await noticeOf(c, (webUrl, deed) =>
    mandateApproved(webUrl, {
      ...deed,
      terms: mandateSummary(mandateFacts(row)),
      isForAnyKey: ticks.includes('any_key'),
      mandate: row.id,
    }),
  )
  const question = {
    mandate: row.id,
    decision: 'approved',
    digest,
    assertion,
    mail,
    any_key: ticks.includes('any_key'),
  }
  const entered = await db.one('owner_decide_mandate', question, outcomeRow)
  const unheard = unheardOf(entered?.outcome)
  if (unheard) return showMandate(c, await openMandate(c), { unheard })
  return goTo(c, `/mandate/${row.id}`)
}

async function narrow(c: Visit): Promise<Response> {
  const { db } = await owner(c)
  const opened = await openMandate(c)
  const { mandate_row: mandate } = opened
  const typed = await fields(c)
  const wanted = narrowedIn(typed, mandate, c.get('world').now())
  const done = wanted && (await db.one('owner_narrow_mandate', wanted, outcomeRow))
  const outcome = done?.outcome ?? 'unreadable'
  if (['narrowed', 'same', 'closed'].includes(outcome)) return goTo(c, `/mandate/${mandate.id}`)
  return showMandate(c, opened, { typed, problem: outcome })
}
