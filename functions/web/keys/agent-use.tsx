/** Parts that the pages of a key and of an app share: caps, payments, mandates and devices, and the end of its access. */
import * as z from 'zod'
import { type MandateRow, mandateFacts, mandateRow } from '../../../shared/mandates/mandate-row.ts'
import { leftOf } from '../../../shared/policy/mandate.ts'
import { listActivity } from '../activity/activity-data.ts'
import { Items } from '../activity/activity-lines.tsx'
import { requireOwner } from '../frame.ts'
import { MandateState } from '../mandates/mandate-terms.tsx'
import { Devices, deviceRow } from '../recipients/devices.tsx'
import { Button, Checkbox, Form } from '../ui/form.tsx'
import {
  Empty,
  Facts,
  forUsd,
  Merchant,
  Money,
  Section,
  Table,
  usdRoundedDown,
  usdRoundedUp,
} from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import { readerOf } from '../ui/zone.ts'
import { type PageContext, webAppPath } from '../visit.ts'
import { CapsLine, canPay, capsOf, type HeldCaps } from './caps.tsx'

const paymentsShown = 5

const usedRow = z.object({ mandates: z.array(mandateRow), devices: z.array(deviceRow) })

/** Reads the latest payments of a key or app, its mandates that are not over, and its known devices. */
export async function readAgentUse(c: PageContext, agent: string) {
  const me = await requireOwner(c)
  const meant = { reader: readerOf(c), world: c.get('world'), page: paymentsShown }
  const [used, payments] = await Promise.all([
    me.db.one('owner_read_agent', { agent }, usedRow),
    listActivity(me, { q: '', agent }, meant),
  ])
  return { mandates: [], devices: [], ...used, payments }
}

/** Key or app, as the rows of the lists have it. */
type Agent = { scopes: readonly string[]; caps: HeldCaps; spent_usd_micros: bigint | null }

type AgentUseProps = {
  c: PageContext
  id: string
  agent: Agent
  use: Awaited<ReturnType<typeof readAgentUse>>
}

/** Shows what it may pay and has paid. What it cannot have is left out. */
export function AgentUse({ c, id, agent, use }: AgentUseProps) {
  const { payments, mandates, devices } = use
  const pays = canPay(agent.scopes)
  return (
    <>
      {pays && <Allowance agent={agent} />}
      {(pays || payments.length > 0) && (
        <Section
          title="Latest payments"
          action={<a href={`${webAppPath}/activity?agent=${id}`}>All of them</a>}
        >
          {/* Its name stands above, so not in each row. */}
          {payments.length > 0 ? (
            <Items rows={payments.map((row) => ({ ...row, agent: null }))} />
          ) : (
            <Empty>It has not paid yet.</Empty>
          )}
        </Section>
      )}
      {(pays || mandates.length > 0) && <Mandates id={id} mandates={mandates} />}
      {(pays || devices.length > 0) && <Devices c={c} devices={devices} />}
    </>
  )
}

function Allowance({ agent: { caps, spent_usd_micros: spent } }: { agent: Agent }) {
  return (
    <Section title="What it may pay and has paid">
      {caps.daily && <Used id="used-cap" label="Used in the last 24 hours" window={caps.daily} />}
      <Facts
        facts={[
          ['At most', <CapsLine caps={capsOf(caps)} />],
          ...(caps.daily
            ? []
            : [
                [
                  'Used in the last 24 hours',
                  <Money amount={usdRoundedUp(spent ?? 0n)} unit="USD" />,
                ] as const,
              ]),
        ]}
      />
    </Section>
  )
}

/** Shows in a list what is used in 24 hours, and of how much. */
export function SpentCell({ caps: { daily }, spent_usd_micros: spent }: Agent) {
  if (spent === null) return ''
  return (
    <span class="money">
      {usdRoundedUp(spent)}{' '}
      <span class="unit">{daily && `of ${usdRoundedDown(daily.limit)} `}USD</span>
    </span>
  )
}

function Mandates({ id, mandates }: { id: string; mandates: readonly MandateRow[] }) {
  return (
    <Section
      title="Mandates"
      action={<a href={`${webAppPath}/mandates/new?agent=${id}`}>Create a mandate</a>}
    >
      {mandates.length === 0 ? (
        <Empty>None is active or waiting for you.</Empty>
      ) : (
        <Table
          caption="Mandates of this agent, newest first"
          rows={mandates}
          columns={[
            {
              label: 'For',
              cell: ({ id, merchant_domain }) => (
                <a href={`${webAppPath}/mandate/${id}`}>
                  <Merchant domain={merchant_domain} />
                </a>
              ),
            },
            { label: 'State', cell: ({ status }) => <MandateState status={status} /> },
            { label: 'Left', cell: leftWords },
          ]}
        />
      )}
    </Section>
  )
}

function leftWords(mandate: MandateRow): string {
  const { day, total } = leftOf(mandateFacts(mandate))
  const left = [
    ...(day === null ? [] : [`${forUsd(day)} USD today`]),
    ...(total === null ? [] : [`${forUsd(total)} USD in all`]),
  ]
  return left.join(', ') || `${forUsd(mandate.max_payment_usd_micros)} USD each`
}

type EndFormProps = {
  c: PageContext
  /** Sentence about coming back. */
  words: string
  /** Words of the button, and the value that it sends. */
  label: string
  wanted: string
  isUnsure: boolean
}

/** Renders the form that ends its access, once the owner has ticked so. */
export function EndForm({ c, words, label, wanted, isUnsure }: EndFormProps) {
  return (
    <Section title="End its access">
      <p>It is refused from now on, and its open requests are closed. {words}</p>
      <Form c={c}>
        <Checkbox
          name="sure"
          label="End its access for good"
          error={isUnsure ? 'Nothing has changed. Tick this first.' : undefined}
        />
        <div class="actions">
          <Button kind="danger" name="wanted" value={wanted}>
            {label}
          </Button>
        </div>
      </Form>
    </Section>
  )
}
