/** What the pages of a hosted action have in common. */
import type { HostedAction } from '../../../shared/hosted/action.ts'
import type { Seen } from '../data/hosted-link.ts'
import type { Visit } from '../visit.ts'
import { Button, Form } from './form.tsx'

/** A page of a link that this browser may see. */
export type Shown = Seen & { action: HostedAction }

const titles: Record<HostedAction['type'], string> = {
  login: 'Sign in',
  deposit: 'Send money',
  walletconnect: 'Send money from your wallet',
  human_verification: 'Confirm that you are there',
  website_login: 'Enter a login',
}

export function titleOf({ type }: HostedAction): string {
  return titles[type]
}

export function Decline({ c }: { c: Visit }) {
  return (
    <Form c={c} action={stepPath(c, 'decline')}>
      <Button kind="plain">Decline</Button>
    </Form>
  )
}

/** Path of a step below the pages. */
export function stepPath(c: Visit, step: string): string {
  return `/action/${c.req.param('token')}/${step}`
}
