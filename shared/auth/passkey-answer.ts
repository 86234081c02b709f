/**
 * A browser's answer to a passkey request, as a form carries it. This file only parses it;
 * shared/auth/passkey.ts verifies it.
 */
import * as z from 'zod'
import { decodeText, parseJson } from '../base64.ts'

const bytes = z.string().regex(/^[\w-]+$/)
/** Reads what an authenticator has none of as absent: browsers leave it out, or write null or nothing. */
const orAbsent = <Value extends z.ZodType>(value: Value) =>
  z.preprocess((sent) => (sent === null || sent === '' ? undefined : sent), value)
const common = {
  id: bytes.max(1400),
  rawId: bytes,
  type: z.literal('public-key'),
  clientExtensionResults: orAbsent(z.looseObject({}).default({})),
}
const registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: orAbsent(z.array(z.string().max(20)).max(8).default([])),
  }),
})
const assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: orAbsent(bytes.optional()),
  }),
})

/** A browser's answer with a new passkey. */
export type PasskeyRegistration = z.output<typeof registration>
/** A browser's answer with an assertion by a passkey. */
export type Assertion = z.output<typeof assertion>

/** Parses a registration from a form field; returns undefined if it has another form. */
export function readPasskeyRegistration(text: string): PasskeyRegistration | undefined {
  return registration.safeParse(parseJson(text)).data
}

/** Parses an assertion from a form field; returns undefined if it has another form. */
export function readAssertion(text: string): Assertion | undefined {
  return assertion.safeParse(parseJson(text)).data
}

/** Returns the challenge that an answer claims to be for, or ''. Trust it only once it was checked. */
export function claimedChallenge({ response }: PasskeyRegistration | Assertion): string {
  const data = z
    .object({ challenge: bytes })
    .safeParse(parseJson(decodeText(response.clientDataJSON) ?? ''))
  return data.data?.challenge ?? ''
}
