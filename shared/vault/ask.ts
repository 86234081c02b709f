/** How an operation asks the vault: what the vault refuses ends the request as SQL would have. */
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal, Rejection } from '../contract/errors.ts'
import type { World } from '../world.ts'
import type { VaultPort } from './port.ts'

/** What the vault answers; throws a Rejection for what it refuses. */
export async function askVault<T>(
  { vault }: Pick<World, 'vault'>,
  ask: (vault: VaultPort) => Promise<T | Refusal>,
): Promise<T> {
  if (!vault) throw new Rejection(fail('unavailable', { log: 'VAULT is not bound' }))
  const answer = await ask(vault)
  if (isRefusal(answer)) throw new Rejection(answer)
  return answer
}
