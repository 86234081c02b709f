/** Who may open an account: anybody, whoever the operator invites, or nobody else any more. */
import { fail } from '../../shared/contract/errors.ts'
import { refuse } from '../../shared/http/answer.ts'
import { newId } from '../../shared/world.ts'
import type { Settings } from './settings.ts'

/** Paths by which a stranger begins to open an account; a link of the operator needs none of them. */
const beginning = ['/request-signup-verification', '/confirm-registration-code', '/web/join']

/** Returns the answer to a request that begins a sign-up, unless sign-up is open. */
export function closedTo(
  signup: Settings['signup'],
): (request: Request, path: string) => Response | undefined {
  if (signup === 'open') return () => undefined
  return (_, path) => {
    if (!beginning.some((one) => path === one || path.startsWith(`${one}/`))) return undefined
    const message = 'This service opens accounts by invitation of its operator only.'
    return refuse(fail('registration_closed', { message }), newId())
  }
}
