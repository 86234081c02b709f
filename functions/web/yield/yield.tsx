/** The page of yield: positions with what they earned, rules and orders. */
import * as z from 'zod'
import { readPosition } from '../../../shared/chains/evm/yield.ts'
import { mandateRow } from '../../../shared/mandates/mandate-row.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import { bigintText, time } from '../../../shared/money/row-fields.ts'
import { type Payment, paymentRow, walletRow } from '../../../shared/payments/payment.ts'
import { summaryOf } from '../../../shared/payments/words.ts'
import { isRowOf, signedUsdc, totalOf, totalRow, vaultBody } from '../../../shared/yield/body.ts'
import { type YieldVault, yieldVaults } from '../../../shared/yield/registry.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { MandateState } from '../mandates/mandate-terms.tsx'
import { StepChart } from '../ui/charts.tsx'
import { LinkButton } from '../ui/form.tsx'
import { Empty, Facts, Money, Notice, Section, State, Table, Time } from '../ui/show.tsx'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'

const ordersListed = 20

/** Route that shows the page. */
export const routes: Routes = (app) => {
  app.get('/yield', async (c) => {
    const me = await requireOwner(c)
    const [vaults, orders] = await Promise.all([readYield(c, me), readOrders(me, ordersListed)])
    return sendPage(
      c,
      <Page
        c={c}
        title="Yield"
        owner={me}
        lead="USDC in vaults, as recorded by this service. Earnings are not guaranteed."
      >
        {vaults.length === 0 && <Notice>No vault is offered here.</Notice>}
        {vaults.map((vault) => (
          <Vault vault={vault} />
        ))}
        <Section title="Orders">
          {orders.length === 0 ? <Empty>None yet.</Empty> : <Orders orders={orders} />}
        </Section>
      </Page>,
    )
  })
}

function Vault({ vault }: { vault: VaultSeen }) {
  const { body, chain, name, rules, days, riskNote } = vault
  const unit = body.token
  return (
    <Section title={`${name} on ${chain.title}`}>
      <p class="quiet">{riskNote}</p>
      {body.position ? (
        <Facts
          facts={[
            ['Worth', <Money amount={body.position.worth} unit={unit} />],
            [
              'Earned',
              body.earned === null ? 'Not known yet' : <Money amount={body.earned} unit={unit} />,
            ],
            ['Paid in', <Money amount={body.paid_in} unit={unit} />],
            ['Taken out', <Money amount={body.paid_out} unit={unit} />],
          ]}
        />
      ) : (
        <Notice kind="warning">The vault is not responding.</Notice>
      )}
      {days.length > 1 && (
        <StepChart
          title={`Earned in ${name}`}
          says={`What the position had earned on each of ${days.length} days.`}
          unit={unit}
          points={days.map(({ at, earned_atomic: earned }) => ({
            label: at.slice(0, 10),
            value: earned > 0n ? earned : 0n,
            text: signedUsdc(earned),
          }))}
        />
      )}
      {rules.map((rule) => (
        <Rule rule={rule} vault={vault} />
      ))}
      <div class="actions">
        <LinkButton to={`/yield/rule?vault=${chain.id}:${vault.address}`}>Make a rule</LinkButton>
      </div>
    </Section>
  )
}

function Rule({ rule, vault }: { rule: RuleRow; vault: VaultSeen }) {
  const { mandate } = rule
  const daily = mandate.max_day_usd_micros ?? 0n
  return (
    <p>
      <a href={`${webAppPath}/mandate/${mandate.id}`}>{ruleSentence(rule, vault)}</a>{' '}
      <MandateState status={mandate.status} />{' '}
      <span class="quiet">
        At most {signedUsdc(daily)} {vault.token.symbol} a day, until{' '}
        <Time at={mandate.expires_at} isInSentence />
      </span>
    </p>
  )
}

/** Says in a sentence what a rule does. */
export function ruleSentence(
  rule: Pick<RuleRow, 'keep_atomic' | 'above_atomic' | 'refills'>,
  { token: { symbol, decimals } }: Pick<VaultSeen, 'token'>,
): string {
  const amount = (atomic: bigint) => `${formatAmount(atomic, decimals)} ${symbol}`
  const { above_atomic: above, keep_atomic: keep } = rule
  return [
    ...(above === null
      ? []
      : [`Above ${amount(above)}, keep ${amount(keep)} and move the rest in.`]),
    ...(rule.refills ? ['Withdraw the shortfall for a payment.'] : []),
  ].join(' ')
}

function Orders({ orders }: { orders: readonly Payment[] }) {
  return (
    <Table
      caption="Orders, newest first"
      rows={orders}
      columns={[
        { label: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
        { label: 'Order', cell: (payment) => summaryOf(payment) },
        { label: 'State', cell: ({ state, finality }) => <State of={finality ?? state} /> },
        { label: 'Why', cell: ({ memo }) => memo ?? 'Ordered by an agent' },
      ]}
    />
  )
}

const ruleRow = z.object({
  chain: z.int(),
  vault: z.string(),
  keep_atomic: bigintText,
  above_atomic: bigintText.nullable(),
  refills: z.boolean(),
  mandate: mandateRow,
})
const dayRow = z.object({ chain: z.int(), vault: z.string(), at: time, earned_atomic: bigintText })
const ownRow = z.object({ rules: z.array(ruleRow), days: z.array(dayRow) })

/** Rule of the owner that is not over. */
type RuleRow = z.output<typeof ruleRow>

/** Returns every vault with the account's position, rules and earnings by day. */
async function readYield(c: PageContext, { db }: Owner) {
  const world = c.get('world')
  const [wallet, totals, own] = await Promise.all([
    db.one('get_wallet', {}, walletRow),
    db.many('order_totals', {}, totalRow),
    db.one('owner_yield', {}, ownRow),
  ])
  if (!wallet || !own) throw new Error('an account has no wallet')
  return Promise.all(
    yieldVaults(world.config).map(async (vault) => {
      const seen = await readPosition(world, vault, wallet.address)
      const isOf = isRowOf(vault)
      return {
        ...vault,
        body: vaultBody(vault, seen, totalOf(totals, vault)),
        rules: own.rules.filter(isOf),
        days: own.days.filter(isOf),
      }
    }),
  )
}

/** Vault as its page section shows it. */
type VaultSeen = Awaited<ReturnType<typeof readYield>>[number]

const orderRow = z.object({ payment_row: paymentRow })

/** Returns the latest orders. */
async function readOrders({ db }: Owner, page: number) {
  const rows = await db.many('list_orders', { page }, orderRow)
  return rows.map(({ payment_row }) => payment_row)
}

/** Returns the vault that a form names as `chain:address`. */
export function vaultNamed(vaults: readonly YieldVault[], name: string): YieldVault | undefined {
  return vaults.find((vault) => vaultName(vault) === name)
}

/** Returns the name of a vault in a form. */
export function vaultName({ chain, address }: YieldVault): string {
  return `${chain.id}:${address}`
}
