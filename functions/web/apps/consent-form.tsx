/** The form with which the owner lets an app in, or denies it. */
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { CapFields, CapsLine } from '../keys/caps.tsx'
import { type Caps, canPay } from '../keys/caps-data.ts'
import type { Level } from '../keys/levels.ts'
import { Button, Checkbox, Choices, Form } from '../ui/form.tsx'
import type { PageContext } from '../visit.ts'
import { lifeChoices, lifeDaysDefault } from './apps-data.ts'

type AuthorizeFormProps = {
  c: PageContext
  request: AuthorizationRequest
  /** Digest of what the page shows of the app. */
  shown: string
  /** Levels that the owner can choose, the widest last. */
  levels: readonly Level[]
  caps: Caps
  /** True if an app that may be the same program is connected already. */
  mayReplace: boolean
  typed: URLSearchParams | undefined
}

/** Renders the choices of level, caps and days, with the buttons that allow and deny. */
export function AuthorizeForm(props: AuthorizeFormProps) {
  const { c, request, shown, levels, caps, mayReplace, typed } = props
  const choices = levels.map(({ name, label, hint }) => ({ value: name, label, hint }))
  const pays = levels.some(({ scopes }) => canPay(scopes))
  return (
    <Form c={c} action={hereOf(c)}>
      <input type="hidden" name="client" value={request.client.id} />
      <input type="hidden" name="shown" value={shown} />
      <Choices
        name="level"
        legend="Allow it to"
        chosen={typed?.get('level') ?? choices.at(-1)?.value ?? ''}
        choices={choices}
      />
      {mayReplace && (
        <Checkbox
          name="replaces"
          label="Disconnect the app of this name that you connected before, with its mandates and requests"
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

type TermsProps = Pick<AuthorizeFormProps, 'typed'> & { caps: Caps | undefined }

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
        for {lifeDaysDefault} days: change it
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
        let others in. Any app can freeze the account, which you alone undo. You can disconnect it
        at any time.
      </p>
    </details>
  )
}

/** Renders the form that only denies. */
export function DenyForm({ c }: { c: PageContext }) {
  return (
    <Form c={c} action={hereOf(c)}>
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

/** Returns the path of this request; only the query carries what the app asks for. */
function hereOf(c: PageContext): string {
  return `/authorize${new URL(c.req.url).search}`
}
