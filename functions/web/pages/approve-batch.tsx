import { batchSize, batchTerms } from '../../../shared/consent/batch.ts'
import { digestOf, paymentTerms } from '../../../shared/consent/terms.ts'
import type { Opened } from '../data/approvals.ts'
import { openApprovals, standingOf } from '../data/approvals.ts'
import type { Unheard } from '../data/consent.ts'
import { outcomeRow, unheardOf } from '../data/consent.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { consentIn } from '../own-consent.ts'
import { ownSession } from '../own-session.ts'
import { Terms, Warnings } from '../parts/approval.tsx'
import { FrozenNotice } from '../parts/attention.tsx'
import { ConsentForm, Digest, NotHeard } from '../parts/consent.tsx'
import { LinkButton } from '../parts/form.tsx'
import { Money, Notice } from '../parts/show.tsx'
import { spentUsd } from '../parts/usd.ts'
import type { Routes, Visit } from '../visit.ts'

const path = '/approve-batch'

export const routes: Routes = (app) => {
  app.get(path, async (c) => showBatch(c, await chosen(c)))
  app.post(path, approve)
}

/** The payments that the address names and that wait, each once; whatever else it names is left out. */
async function chosen(c: Visit): Promise<Opened[]> {
  const named = [...new Set(c.req.queries('payment') ?? [])].slice(0, batchSize.max)
  const found = await openApprovals(await owner(c), named)
  return found.filter(({ approval, facts }) => standingOf(approval, facts.now) === 'waiting')
}

/** What one approval of all of them is about; undefined where they are too few. */
async function digestOfAll(c: Visit, batch: readonly Opened[]): Promise<string | undefined> {
  if (batch.length < batchSize.min) return undefined
  const digests = batch.map(({ approval }) => digestOf(paymentTerms(approval.payment_row)))
  const { account } = await owner(c)
  return digestOf(await batchTerms(account.id, await Promise.all(digests)))
}

async function showBatch(c: Visit, batch: readonly Opened[], unheard?: Unheard) {
  const me = await owner(c)
  const digest = await digestOfAll(c, batch)
  return show(
    c,
    <Page
      c={c}
      title={
        digest === undefined ? 'Choose payments first' : `Approve these ${batch.length} payments?`
      }
      owner={me}
      back={{ to: '/approvals', label: 'Approvals' }}
      lead="One approval for all of them, each exactly as it stands here. It makes nobody known."
      scripts={['copy', 'passkey', 'considered']}
    >
      <NotHeard why={unheard} />
      {me.account.isFrozen && <FrozenNotice />}
      {batch.map((opened, at) => (
        <Terms approval={opened.approval} title={`Payment ${at + 1} of ${batch.length}`}>
          <Warnings {...opened} />
        </Terms>
      ))}
      {digest === undefined ? (
        <Notice>
          Mark at least two payments that wait, on the page of approvals. What does not wait any
          more cannot be approved.
        </Notice>
      ) : (
        <Digest value={digest} />
      )}
      {digest !== undefined && !me.account.isFrozen && (
        <ApproveAll c={c} batch={batch} digest={digest} />
      )}
      <p class="actions">
        <LinkButton to="/approvals">Back, nothing approved</LinkButton>
      </p>
    </Page>,
    unheard === undefined ? 200 : 409,
  )
}

function ApproveAll({ c, batch, digest }: { c: Visit; batch: readonly Opened[]; digest: string }) {
  const sum = batch.reduce((usd, { approval }) => usd + approval.payment_row.amount_usd_micros, 0n)
  return (
    <ConsentForm
      c={c}
      action={pathOf(batch)}
      digests={{ '': digest }}
      passkeys={batch[0]?.passkeys ?? []}
      label="Approve all"
      // Who asked for each, in the order of the page.
      asker={batch.map(({ approval }) => approval.asked.asker).join(' ')}
    >
      <span>
        <Money amount={spentUsd(sum)} unit="USD" /> together
      </span>
    </ConsentForm>
  )
}

function pathOf(batch: readonly Opened[]): string {
  const named = new URLSearchParams()
  for (const { approval } of batch) named.append('payment', approval.payment_row.id)
  return `${path}?${named.toString()}`
}

async function approve(c: Visit): Promise<Response> {
  const { db } = await owner(c)
  const form = await fields(c)
  const batch = await chosen(c)
  const digest = form.get('digest') ?? ''
  const askers = (form.get('asker') ?? '').split(' ')
  // All of them as they were shown, or none: SQL compares each once more.
  if (digest !== (await digestOfAll(c, batch)) || askers.length !== batch.length) {
    return showBatch(c, batch, 'changed')
  }
  const assertion = await consentIn(await ownSession(c), form, digest, batch[0]?.passkeys ?? [])
  if (assertion === undefined) return showBatch(c, batch, 'answer')
  const payments = batch.map(({ approval }) => approval.payment_row.id)
  const question = { payments, askers, digest, assertion }
  const entered = await db.one('owner_approve_batch', question, outcomeRow)
  const unheard = unheardOf(entered?.outcome)
  if (unheard) return showBatch(c, await chosen(c), unheard)
  return goTo(c, `/approvals?approved=${payments.length}`)
}
