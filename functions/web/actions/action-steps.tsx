/** Parts that the pages of a hosted action share. */
import type { HostedAction } from '../../../shared/hosted/action.ts'
import { Button, Form } from '../ui/form.tsx'
import type { PageContext } from '../visit.ts'
import type { LinkView } from './hosted-link.ts'

/** Link whose action this browser may see. */
export type ActionView = LinkView & { action: HostedAction }

const titles: Record<HostedAction['type'], string> = {
  login: 'Sign in',
  deposit: 'Send money',
  walletconnect: 'Send money from your wallet',
  human_verification: 'Confirm that you are present',
  website_login: 'Enter a login',
}

/** Returns the title of an action's page. */
export function titleOf({ type }: HostedAction): string {
  return titles[type]
}

/** Renders the form that declines the action. */
export function Decline({ c }: { c: PageContext }) {
  return (
    <Form c={c} action={stepPath(c, 'decline')}>
      <Button kind="plain">Decline</Button>
    </Form>
  )
}

/** Returns the path of a step, relative to the app. */
export function stepPath(c: PageContext, step: string): string {
  return `/action/${c.req.param('token')}/${step}`
}
