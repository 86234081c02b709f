/**
 * The first half of onboarding: a code goes to a mail address and is exchanged for a link that opens one
 * account. Nothing here shows whether an address has an account: for one that has, the steps are the same
 * and another mail is sent.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../contract/errors.ts'
import { unbound } from '../db/database.ts'
import { sha256Hex } from '../digest.ts'
import { secretValues } from '../env.ts'
import { canonicalEmail } from '../mail/address.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import { alreadyHaveAccount, signUpCode } from '../mail/sign-up-messages.ts'
import type { World } from '../world.ts'
import { aliasProblem, canonicalAlias } from './alias.ts'
import { codeDigest, codeDigests, createCode, createRegistrationSecret } from './code.ts'

/** Seconds for which a code is valid; api.signup_confirm enforces it. */
export const codeSeconds = 600

/** The caller: the world, and the network address by which limits count. */
export type Asking = { world: World; client: string }

/** Sends a code to the address, or tells an owner that an account already exists. */
export async function requestSignup(
  { world, client }: Asking,
  asked: { email: string; alias?: string | undefined },
): Promise<Refusal<'alias_unavailable'> | undefined> {
  const wish = asked.alias === undefined ? undefined : canonicalAlias(asked.alias)
  if (wish !== undefined && aliasProblem(wish) !== undefined) return fail('alias_unavailable')
  const { config } = world
  const email = canonicalEmail(asked.email)
  const code = createCode(world)
  const minutes = codeSeconds / 60
  const question = {
    email,
    code_digest: await codeDigest(secretValues(config, 'OTP_PEPPER')[0], email, code),
    client,
    code_mail: await sealForOutbox(world, { to: email, ...signUpCode({ code, minutes }) }),
    known_mail: await sealForOutbox(world, { to: email, ...alreadyHaveAccount(config.WEB_URL) }),
    ...(wish === undefined ? {} : { wish }),
  }
  await unbound(world.db).run('signup_request', question)
  return undefined
}

const confirmedRow = z.object({ expires_at: z.string() })

/** Exchanges a code for the link; a code that is invalid for any reason gets the same answer. */
export async function confirmCode(
  { world, client }: Asking,
  asked: { email: string; code: string },
): Promise<{ registrationUrl: string; expiresAt: string } | Refusal<'code_not_accepted'>> {
  const email = canonicalEmail(asked.email)
  const link = createRegistrationSecret(world)
  const question = {
    email,
    code_digest: await codeDigests(secretValues(world.config, 'OTP_PEPPER'), email, asked.code),
    link_digest: await sha256Hex(link),
    client,
  }
  const row = await unbound(world.db).one('signup_confirm', question, confirmedRow)
  if (!row) return fail('code_not_accepted')
  return {
    registrationUrl: `${world.config.WEB_URL}/register/${link}`,
    expiresAt: row.expires_at,
  }
}
