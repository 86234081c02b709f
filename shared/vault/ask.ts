/** Calls from operations to the vault. A refusal of the vault ends the request as one of SQL would. */
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal, Rejection } from '../contract/errors.ts'
import type { World } from '../world.ts'
import type { VaultPort } from './port.ts'

/** Returns the vault's answer; throws a Rejection if the vault refuses. */
export async function callVault<T>(
  { vault }: Pick<World, 'vault'>,
  ask: (vault: VaultPort) => Promise<T | Refusal>,
): Promise<T> {
  if (!vault) throw new Rejection(fail('unavailable', { log: 'VAULT is not bound' }))
  const answer = await ask(vault)
  if (isRefusal(answer)) throw new Rejection(answer)
  return answer
}
