/** Calls from operations to the vault. A refusal of the vault ends the request as one of SQL would. */
import { fail, isRefusal, type Refusal, Rejection } from '../contract/errors.ts'
import type { World } from '../world.ts'
import type { VaultPort } from './port.ts'

/** The call itself, which is made again once the owner approved the destination of a secret. */
type Again = { tool: string; arguments: object }

/** Returns the vault's answer; throws a Rejection if the vault refuses. */
export async function callVault<T>(
  { vault }: Pick<World, 'vault'>,
  ask: (vault: VaultPort) => Promise<T | Refusal>,
  again?: Again,
): Promise<T> {
  if (!vault) throw new Rejection(fail('unavailable', { log: 'VAULT is not bound' }))
  const answer = await ask(vault)
  if (!isRefusal(answer)) return answer
  const isAsked = again !== undefined && answer.refusal === 'destination_not_approved'
  const next = { ...again, when: 'Once your user approved it at approval_url.' }
  throw new Rejection(isAsked ? { ...answer, details: { ...answer.details, next } } : answer)
}
