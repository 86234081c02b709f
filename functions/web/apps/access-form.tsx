/** The page on which the owner gives an app access, within caps and for some days, or denies it. */
import type { Child } from 'hono/jsx'
import type { GrantChoice } from '../../../shared/oauth/token.ts'
import {
  CapFields,
  type Caps,
  CapsLine,
  canPay,
  capsIn,
  type Level,
  levelsWithin,
} from '../keys/caps.tsx'
import { Page, sendPage } from '../layout.tsx'
import { FrozenApprovalNotice } from '../ui/attention.tsx'
import { Button, Checkbox, Choices, Form } from '../ui/form.tsx'
import { Notice, SendAgain } from '../ui/show.tsx'
import type { Owner, PageContext } from '../visit.ts'
import { lifeChoices, lifeDaysDefault, lifeOf, type Namesake } from './apps-data.ts'

/**
 * Reads what the owner chose. Returns a sentence if the form lacks something; an empty one if the field itself says
 * what is wrong.
 */
export function readChoice(
  form: URLSearchParams,
  asked: readonly string[],
  before: Namesake | undefined,
): GrantChoice | string {
  const level = levelsWithin(asked).find(({ name }) => name === form.get('level'))
  if (!level) return 'Choose what the app may do.'
  const caps = canPay(level.scopes) ? capsIn(form) : null
  if (caps === undefined) return ''
  return {
    scopes: level.scopes,
    ...(before && form.has('replaces') && { replaces: before.app }),
    ...(caps && { maxPerPaymentUsdMicros: caps.each, maxPerDayUsdMicros: caps.day }),
    days: lifeOf(form.get('days')),
  }
}

/** A request for access, as its page shows it. */
type AccessPage = {
  me: Owner
  title: string
  /** The app, what it asks for, and the warnings about it. */
  shown: Child
  /** Sentence about what is wrong; empty if it stands at its field, absent if nothing was sent. */
  problem: string | undefined
  form: Omit<AccessFormProps, 'c'>
}

/** Shows the page of a request; an account that is frozen or on hold can only deny. */
export function sendAccessPage(c: PageContext, { me, title, shown, problem, form }: AccessPage) {
  const mayAllow = !me.account.isFrozen && me.account.holdUntil === null
  return sendPage(
    c,
    <Page
      c={c}
      title={title}
      owner={me}
      isDecision
      lead={`It would act in the account ${me.account.alias}.`}
      scripts={['considered']}
    >
      {problem && (
        <Notice kind="danger" title="Nothing was allowed">
          {problem}
        </Notice>
      )}
      {form.typed && problem === undefined && <SendAgain />}
      {me.account.isFrozen && <FrozenApprovalNotice />}
      {shown}
      {mayAllow ? <AccessForm c={c} {...form} /> : <DenyForm c={c} action={form.action} />}
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

type AccessFormProps = {
  c: PageContext
  action: string
  /** Fields that the browser sends back as they are. */
  hidden: Readonly<Record<string, string>>
  /** Levels that the owner can choose, the widest last, and the one that is chosen at first. */
  levels: readonly Level[]
  chosen: Level | undefined
  caps: Caps
  /** True if an app that may be the same program is connected already. */
  mayReplace: boolean
  typed: URLSearchParams | undefined
}

/** Renders the choices of level, caps and days, with the buttons that allow and deny. */
function AccessForm(props: AccessFormProps) {
  const { c, action, hidden, levels, chosen, caps, mayReplace, typed } = props
  const choices = levels.map(({ name, label, hint }) => ({ value: name, label, hint }))
  const pays = levels.some(({ scopes }) => canPay(scopes))
  return (
    <Form c={c} action={action}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Choices
        name="level"
        legend="Allow it to"
        chosen={typed?.get('level') ?? chosen?.name ?? ''}
        choices={choices}
      />
      {mayReplace && (
        <Checkbox
          name="replaces"
          label="Disconnect the earlier app of this name, with its mandates and requests"
          checked={typed?.has('replaces') ?? false}
        />
      )}
      <Terms caps={pays ? caps : undefined} typed={typed} />
      <div class="actions">
        <Button name="decision" value="allowed" data-considered="">
          Allow
        </Button>
        <DenyButton />
      </div>
    </Form>
  )
}

type TermsProps = Pick<AccessFormProps, 'typed'> & { caps: Caps | undefined }

/** Folds in the caps of an app that may pay, the days, and what it can never do. */
function Terms({ caps, typed }: TermsProps) {
  // An empty field that must be filled in cannot stay out of sight.
  const isOpen = typed !== undefined || caps?.each === null
  return (
    <details open={isOpen}>
      <summary>
        {caps && (
          <>
            <CapsLine caps={caps} />,{' '}
          </>
        )}
        for {lifeDaysDefault} days (change)
      </summary>
      {caps && <CapFields caps={caps} typed={typed} />}
      <Choices
        name="days"
        legend="For how long"
        chosen={typed?.get('days') ?? lifeDaysDefault}
        choices={lifeChoices}
      />
      <p>
        It can never raise a limit, approve a payment, trust a recipient, read a stored password or
        let others in. Any app can freeze the account, which only you can undo. You can disconnect
        it at any time.
      </p>
    </details>
  )
}

/** Renders the form that only denies. */
function DenyForm({ c, action }: Pick<AccessFormProps, 'c' | 'action'>) {
  return (
    <Form c={c} action={action}>
      <div class="actions">
        <DenyButton />
      </div>
    </Form>
  )
}

function DenyButton() {
  return (
    <Button kind="plain" name="decision" value="denied" formnovalidate>
      Deny
    </Button>
  )
}
