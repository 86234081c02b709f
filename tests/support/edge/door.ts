/** The function that takes calls from another platform, over a test's world, and callers who sign for it. */
import { remoteCallsFunction } from '../../../functions/remote-calls/index.ts'
import { createSessionKeys } from '../../../scripts/local/secrets.ts'
import type { CustodyPort } from '../../../shared/custody/port.ts'
import type { MailerPort } from '../../../shared/mail/port.ts'
import { type CallerWorld, remoteBinding } from '../../../shared/remote/caller.ts'
import type { VaultPort } from '../../../shared/vault/port.ts'
import type { World } from '../../../shared/world.ts'

export const { privateKey, publicKeys } = createSessionKeys()

export type Sent = { headers: Headers; body: string }

/** Opens the door, and bindings that call through it. `sent` has each request as it left. */
export function openDoor(world: World) {
  const config = { ...world.config, REMOTE_CALLS_PUBLIC_KEYS: publicKeys }
  const door = remoteCallsFunction(() => ({ ...world, config }))
  const sent: Sent[] = []
  const enter = async (request: Request) => door.fetch(request)
  const caller: CallerWorld = {
    ...world,
    config: { ...world.config, REMOTE_CALLS_PRIVATE_KEY: privateKey },
    async fetch(input, init) {
      const request = new Request(input, init)
      sent.push({ headers: request.headers, body: await request.clone().text() })
      return enter(request)
    },
  }
  return { ...portsOf(caller), caller, sent, enter }
}

/** Returns the ports of a caller. */
export function portsOf(caller: CallerWorld) {
  return {
    custody: remoteBinding(caller, 'CUSTODY') as CustodyPort,
    vault: remoteBinding(caller, 'VAULT') as VaultPort,
    mailer: remoteBinding(caller, 'MAILER') as MailerPort,
  }
}
