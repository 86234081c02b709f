/** The first steps of a new account, which the overview lists until they are done or hidden. */
import { getCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import { goTo, requireOwner } from '../frame.ts'
import { Button, Form } from '../ui/form.tsx'
import { Section } from '../ui/show.tsx'
import { hostCookie, type PageContext, type Routes, webAppPath } from '../visit.ts'

/** Row of the steps that are done. */
export const stepsRow = z.object({
  deposited: z.boolean(),
  connected: z.boolean(),
  has_passkey: z.boolean(),
  has_codes: z.boolean(),
  has_own_limits: z.boolean(),
})
type Steps = z.output<typeof stepsRow>

const cookie = 'aoa_steps'
const hiddenSeconds = 400 * 86_400

/** Route that hides the steps in this browser. */
export const routes: Routes = (app) => {
  app.post('/first-steps', async (c) => {
    const { account } = await requireOwner(c)
    const options = {
      ...hostCookie,
      httpOnly: true,
      sameSite: 'Lax',
      maxAge: hiddenSeconds,
    } as const
    setCookie(c, cookie, account.id, options)
    return goTo(c, '')
  })
}

const list: readonly { done: keyof Steps; to: string; label: string; why: string }[] = [
  {
    done: 'deposited',
    to: '/deposit',
    label: 'Add money',
    why: 'Send USDC to the address of the account.',
  },
  {
    done: 'connected',
    to: '/connect',
    label: 'Connect your agent',
    why: 'Claude, Cursor, VS Code, Codex, Gemini, or your own program.',
  },
  {
    done: 'has_passkey',
    to: '/security/passkeys',
    label: 'Add a passkey',
    why: 'It approves payments with a touch, and keeps others out.',
  },
  {
    done: 'has_codes',
    to: '/security/recovery-codes',
    label: 'Save recovery codes',
    why: 'They let you in if you lose everything else.',
  },
  {
    done: 'has_own_limits',
    to: '/limits',
    label: 'Set your limits',
    why: 'How much agents may pay without asking you.',
  },
]

/** Shows the steps with those that are done; nothing once all are, or the owner hid them. */
export function FirstSteps({ c, steps }: { c: PageContext; steps: Steps }) {
  const left = list.filter(({ done }) => !steps[done]).length
  const isHidden = getCookie(c, cookie, 'host') === c.get('owner')?.account.id
  if (left === 0 || isHidden) return null
  return (
    <Section
      title="First steps"
      action={
        <Form c={c} action="/first-steps">
          <Button kind="plain">Hide</Button>
        </Form>
      }
    >
      <ol class="steps">
        {list.map(({ done, to, label, why }) => (
          <li class={steps[done] ? 'done' : undefined}>
            {steps[done] ? (
              <span>
                {label}
                <span class="unseen"> (done)</span>
              </span>
            ) : (
              <a href={webAppPath + to}>{label}</a>
            )}
            {!steps[done] && <span class="hint">{why}</span>}
          </li>
        ))}
      </ol>
    </Section>
  )
}
