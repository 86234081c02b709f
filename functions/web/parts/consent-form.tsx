/** The form in which the owner lets an app in, or does not. */
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { lifeChoices, lifeDaysDefault } from '../data/apps.ts'
import type { Caps } from '../data/caps.ts'
import { canPay } from '../data/caps.ts'
import type { Level } from '../data/levels.ts'
import type { Visit } from '../visit.ts'
import { CapFields } from './caps.tsx'
import { Button, Choices, Form } from './form.tsx'
import { Section } from './show.tsx'

type ConsentFormProps = {
  c: Visit
  request: AuthorizationRequest
  /** What the owner can choose from, the widest last. */
  levels: readonly Level[]
  caps: Caps
  typed: URLSearchParams | undefined
}

export function ConsentForm({ c, request, levels, caps, typed }: ConsentFormProps) {
  const choices = levels.map(({ name, label, hint }) => ({ value: name, label, hint }))
  return (
    <Section title="What it may do">
      <Form c={c} action={hereOf(c)}>
        <input type="hidden" name="client" value={request.client.id} />
        <Choices
          name="level"
          legend="Allow it to"
          chosen={typed?.get('level') ?? choices.at(-1)?.value ?? ''}
          choices={choices}
        />
        {levels.some(({ scopes }) => canPay(scopes)) && <CapFields caps={caps} typed={typed} />}
        <Choices
          name="days"
          legend="For how long"
          chosen={typed?.get('days') ?? lifeDaysDefault}
          choices={lifeChoices}
        />
        <p>
          It can never raise a limit, approve a payment, trust a recipient, read a stored password
          or let others in. Any app can freeze the account, which you alone undo. You can disconnect
          it at any time.
        </p>
        <div class="actions">
          <Button name="decision" value="allowed" data-considered="">
            Allow
          </Button>
        </div>
      </Form>
    </Section>
  )
}

export function DenyForm({ c }: { c: Visit }) {
  return (
    <Form c={c} action={hereOf(c)}>
      <div class="actions">
        <Button kind="plain" name="decision" value="denied">
          Deny
        </Button>
      </div>
    </Form>
  )
}

/** What the app asks for stands in the address, and nowhere else. */
function hereOf(c: Visit): string {
  return `/authorize${new URL(c.req.url).search}`
}
