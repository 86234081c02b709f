/**
 * What a browser answers when it was asked for a passkey, as a form carries it. It is read, and not
 * believed: shared/auth/passkey.ts verifies it.
 */
import * as z from 'zod'
import { decodeText, parseJson } from '../base64.ts'

const bytes = z.string().regex(/^[\w-]+$/)
const common = {
  id: bytes.max(1400),
  rawId: bytes,
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}).default({}),
}
const registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(20)).max(8).default([]),
  }),
})
const assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes.optional(),
  }),
})

/** A browser's answer with a new passkey. */
export type Registration = z.output<typeof registration>
/** A browser's answer that shows a passkey. */
export type Assertion = z.output<typeof assertion>

/** Reads what a form carried; undefined when it is no such answer. */
export function readRegistration(text: string): Registration | undefined {
  return registration.safeParse(parseJson(text)).data
}

/** Reads what a form carried; undefined when it is no such answer. */
export function readAssertion(text: string): Assertion | undefined {
  return assertion.safeParse(parseJson(text)).data
}

/** The challenge that an answer claims to be for. It is trusted only once it was taken. */
export function challengeOf({ response }: Registration | Assertion): string {
  const data = z
    .object({ challenge: bytes })
    .safeParse(parseJson(decodeText(response.clientDataJSON) ?? ''))
  return data.data?.challenge ?? ''
}
