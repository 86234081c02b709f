/**
 * Calls of functions that run on another platform to the three that stay where their keys are. A call is a POST whose
 * token is a JWT (RFC 7519) over the hash of the body, for one address and for seconds.
 */
import * as z from 'zod'
import { encodeForUrl } from '../base64.ts'
import type { CustodyPort } from '../custody/port.ts'
import { sha256 } from '../digest.ts'
import type { MailerPort } from '../mail/port.ts'
import type { VaultPort } from '../vault/port.ts'

/** Methods that may be called: those that operations use, by the binding of their function. */
export const offered = {
  CUSTODY: ['authorize', 'confirm', 'openAccount', 'relay'],
  MAILER: ['deliver'],
  VAULT: [
    'generate',
    'goOn',
    'listMails',
    'login',
    'read',
    'readMail',
    'sendMail',
    'store',
    'totp',
    'use',
    'waitForMail',
  ],
} as const satisfies {
  CUSTODY: readonly (keyof CustodyPort)[]
  MAILER: readonly (keyof MailerPort)[]
  VAULT: readonly (keyof VaultPort)[]
}

/** Binding of a function that may be called. */
export type Target = keyof typeof offered

/** Schema of the body of a call. */
export const callSchema = z.strictObject({
  to: z.enum(['CUSTODY', 'MAILER', 'VAULT']),
  method: z.string(),
  args: z.array(z.unknown()).max(2),
})
/** Schema of its answer. Refusals that a method declares are values; an error has lost its class. */
export const answerSchema = z.union([
  z.strictObject({ error: z.string() }),
  z.strictObject({ value: z.unknown().optional() }),
])

/** Claim of a token beside the registered ones: the hash of the body. */
export const bodyClaim = 'body_sha256'
/** `typ` of a token, so that no other token of the service is taken for one. */
export const tokenType = 'call+jwt'

/** Returns the address that takes the calls, which is also the audience of their tokens. */
export function callsAddress({ BASE_URL }: { BASE_URL: string }): string {
  return `${BASE_URL}/remote-calls`
}

/** Hashes a body as its token names it. */
export async function bodyHash(body: Uint8Array): Promise<string> {
  return encodeForUrl(await sha256(body))
}
