/** The page on which the owner makes a rule, after seeing what it would have done in the last 90 days. */
import * as z from 'zod'
import { sha256Hex } from '../../../shared/digest.ts'
import { formatAmount, parseAmount } from '../../../shared/money/amount.ts'
import { bigintText } from '../../../shared/money/row-fields.ts'
import { type YieldVault, yieldVaults } from '../../../shared/yield/registry.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Checkbox, Field, Form, Select } from '../ui/form.tsx'
import { Facts, Money, Section } from '../ui/show.tsx'
import { typedAmount } from '../ui/typed-amount.ts'
import type { PageContext, Routes } from '../visit.ts'
import { ruleSentence, vaultName, vaultNamed } from './yield.tsx'

/** One million dollars, the same maximum as for the owner's own limits. */
const atomicMax = 1_000_000_000_000n
/** Amount that a withdrawal is signed over. */
const leastAtomic = 10_000n

/** Routes that show the form, rehearse a rule and make it. */
export const routes: Routes = (app) => {
  app.get('/yield/rule', (c) => show(c, new URLSearchParams(c.req.query())))
  app.post('/yield/rule', async (c) => {
    const form = await readFormFields(c)
    const rule = ruleIn(yieldVaults(c.get('world').config), form)
    if (typeof rule === 'string') return show(c, form, { problem: rule })
    return form.get('sure') === 'yes' ? make(c, rule) : show(c, form, { rule })
  })
}

type Rule = {
  vault: YieldVault
  keep_atomic: bigint
  above_atomic: bigint | null
  day: bigint
  refills: boolean
}

/** Reads a rule from its form; a sentence if something is wrong with it. */
function ruleIn(vaults: readonly YieldVault[], form: URLSearchParams): Rule | string {
  const vault = vaultNamed(vaults, form.get('vault') ?? '')
  if (!vault || vault.isClosed) return 'Choose a vault that takes deposits.'
  const typed = (name: string) => (form.get(name) ?? '').trim()
  const amount = (name: string) => parseAmount(typedAmount(typed(name)), vault.token.decimals)
  const [keep, day] = [amount('keep'), amount('day')]
  const above = typed('above') === '' ? null : amount('above')
  const refills = form.get('refills') === 'yes'
  const isGiven = keep !== undefined && day !== undefined && above !== undefined
  if (!isGiven || [keep, day, above ?? 0n].some((one) => one > atomicMax))
    return 'Amounts from 0 to 1000000, such as 250 or 12.50, without signs or spaces.'
  if (keep < leastAtomic) return 'Keep at least 0.01 USDC, which a withdrawal needs.'
  if (above !== null && above < keep) return 'What is moved in must be above what is kept.'
  if (above === null && !refills) return 'Enter what it moves in, or let it take money out.'
  if (day === 0n) return 'The daily maximum is 0, so the rule would do nothing.'
  return { vault, keep_atomic: keep, above_atomic: above, day, refills }
}

const madeRow = z.object({ mandate: z.uuid() })

async function make(c: PageContext, rule: Rule): Promise<Response> {
  const { db } = await requireOwner(c)
  const { vault, day } = rule
  const nonce = Buffer.from(c.get('world').randomBytes(32)).toString('hex')
  const question = {
    ...ruleQuestion(rule),
    // No token has this digest, so only the service orders as this key.
    digest: nonce,
    label: `Yield: ${vault.name}`.slice(0, 64),
    device: await sha256Hex(nonce),
    gate: vault.gate,
    vault: vault.address,
    max_day_usd_micros: day.toString(),
    purpose: `${vault.name}. ${ruleSentence(rule, vault)}`,
  }
  const made = await db.one('owner_make_rule', question, madeRow)
  return goTo(c, made ? `/mandate/${made.mandate}` : '/yield')
}

function ruleQuestion({ vault, keep_atomic, above_atomic, refills }: Rule) {
  return {
    chain: vault.chain.id,
    token: vault.token.address,
    keep_atomic: keep_atomic.toString(),
    refills,
    ...(above_atomic === null ? {} : { above_atomic: above_atomic.toString() }),
  }
}

const rehearsalRow = z.object({
  rehearsal: z.object({
    ins: z.int(),
    outs: z.int(),
    moved_atomic: bigintText,
    taken_atomic: bigintText,
  }),
})

async function show(
  c: PageContext,
  form: URLSearchParams,
  { problem, rule }: { problem?: string; rule?: Rule } = {},
): Promise<Response> {
  const me = await requireOwner(c)
  const vaults = yieldVaults(c.get('world').config)
  const seen = rule && (await me.db.one('owner_rehearse_rule', ruleQuestion(rule), rehearsalRow))
  return sendPage(
    c,
    <Page c={c} title="A rule for yield" owner={me} back={{ to: '/yield', label: 'Yield' }}>
      <Form c={c}>
        {problem && <p class="error">{problem}</p>}
        <RuleFields vaults={vaults} value={(name) => form.get(name) ?? ''} />
        <div class="actions">
          <Button kind={seen ? 'plain' : 'main'}>Test it on the last 90 days</Button>
          {seen && (
            <Button name="sure" value="yes">
              Review and approve the rule
            </Button>
          )}
        </div>
      </Form>
      {rule && seen && <Rehearsal rule={rule} seen={seen.rehearsal} />}
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

function RuleFields({
  vaults,
  value,
}: {
  vaults: readonly YieldVault[]
  value: (name: string) => string
}) {
  const amount = { unit: 'USDC', inputmode: 'decimal', maxlength: 20 } as const
  return (
    <>
      <Select
        name="vault"
        label="Vault"
        choices={vaults.map((one) => ({ value: vaultName(one), label: one.name }))}
        chosen={value('vault')}
      />
      <Field
        name="above"
        label="Move in what is above"
        value={value('above')}
        {...amount}
        hint="Empty: move nothing in."
      />
      <Field
        name="keep"
        label="Keep"
        hint="Stays in the wallet."
        value={value('keep') || '1'}
        {...amount}
        required
      />
      <Checkbox
        name="refills"
        label="Withdraw the shortfall for a payment"
        checked={value('refills') === 'yes'}
      />
      <Field
        name="day"
        label="At most in a day"
        hint="What the rule may move in within 24 hours, and the most that it takes out at once."
        value={value('day')}
        {...amount}
        required
      />
    </>
  )
}

function Rehearsal({
  rule,
  seen: { ins, outs, moved_atomic, taken_atomic },
}: {
  rule: Rule
  seen: z.output<typeof rehearsalRow>['rehearsal']
}) {
  const { symbol, decimals } = rule.vault.token
  const money = (atomic: bigint) => <Money amount={formatAmount(atomic, decimals)} unit={symbol} />
  return (
    <Section title="What it would have done in the last 90 days">
      <p>{ruleSentence(rule, rule.vault)}</p>
      <Facts
        facts={[
          ['Moved in', money(moved_atomic)],
          ['Days with money moved in', String(ins)],
          ['Taken out', money(taken_atomic)],
          ['Days with money taken out', String(outs)],
        ]}
      />
      <p class="hint">Ignores the daily maximum, and what the vault would have earned.</p>
    </Section>
  )
}
