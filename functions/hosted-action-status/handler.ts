import * as z from 'zod'
import { fail } from '../../shared/contract/errors.ts'
import { actionResultOf, actionSchema } from '../../shared/hosted/action.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { readUntil } from '../../shared/http/input.ts'
import type { hostedActionStatus } from './contract.ts'

const row = z.object({ action: actionSchema })

/** Answers the state of one hosted action and, where it has one, its result. */
export const run: Handler<typeof hostedActionStatus> = async (input, { db, world }) => {
  const { action_id, wait_seconds = '0' } = input
  const found = await readUntil(
    world,
    Number(wait_seconds),
    () => db.one('hosted_action', { action_id }, row),
    (seen) => !seen || !['pending', 'opened'].includes(seen.action.status),
  )
  if (!found) return fail('action_not_found')
  const { action } = found
  const result = actionResultOf(action)
  return {
    action_id,
    action_type: action.type,
    status: action.status,
    expires_at: new Date(action.expires_at).toISOString(),
    ...(result ? { result } : {}),
  }
}
