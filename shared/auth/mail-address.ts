/**
 * Changes the owner's mail address: asked for, confirmed with a code that went to the new one, and in effect 72 hours
 * later (supabase/schemas/17_mail_address.sql). Nothing here shows whether an address has an account.
 */
import * as z from 'zod'
import { secretValues } from '../env.ts'
import { canonicalEmail } from '../mail/address.ts'
import {
  mailAddressAsked,
  mailAddressAwaited,
  mailAddressChanged,
  mailAddressCode,
  mailAddressConfirmed,
  mailAddressKept,
  mailAddressStopped,
} from '../mail/address-messages.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import { alreadyHaveAccount } from '../mail/sign-up-messages.ts'
import { codeDigest, codeDigests, createCode } from '../onboarding/code.ts'
import { type OwnerSession, sealSessionNotice } from './new-session.ts'

/** Minutes for which a code is valid; api.owner_confirm_mail_address enforces it. */
const codeMinutes = 60
/** Milliseconds from the code to the change; api.owner_confirm_mail_address sets its time. */
const waitMilliseconds = 72 * 3_600_000

/** Sends a code to the address, or tells the owner of another account that it has one. */
export async function askMailAddress(session: OwnerSession, typed: string): Promise<void> {
  const { world, db } = session
  const email = canonicalEmail(typed)
  const code = createCode(world)
  const codeLetter = mailAddressCode({ code, minutes: codeMinutes })
  await db.run('owner_ask_mail_address', {
    email,
    code_digest: await codeDigest(
      secretValues(world.config, 'OTP_PEPPER')[0],
      addressOfCode(session, email),
      code,
    ),
    code_mail: await sealForOutbox(world, { to: email, ...codeLetter }),
    known_mail: await sealForOutbox(world, {
      to: email,
      ...alreadyHaveAccount(world.config.WEB_URL),
    }),
    mail: await sealSessionNotice(session, (url, deed) =>
      mailAddressAsked(url, { ...deed, email }),
    ),
  })
}

const confirmedRow = z.object({ confirmed: z.boolean() })
const stoppedRow = z.object({ stopped: z.boolean() })

/** Confirms the new address; returns false for a code that is invalid for any reason. */
export async function confirmMailAddress(
  session: OwnerSession,
  { code, email, old }: { code: string; email: string; old: string },
): Promise<boolean> {
  const { world, db, account } = session
  const url = world.config.WEB_URL
  const from = new Date(world.now().getTime() + waitMilliseconds)
  const changed = mailAddressChanged(url, { alias: account.alias, email })
  const later = {
    old: await sealForOutbox(world, { to: old, ...changed }),
    new: await sealForOutbox(world, changed),
    kept: await sealForOutbox(world, mailAddressKept(url, { email })),
  }
  const awaited = mailAddressAwaited(url, { alias: account.alias, from })
  const args = {
    email,
    code_digest: await codeDigests(
      secretValues(world.config, 'OTP_PEPPER'),
      addressOfCode(session, email),
      code,
    ),
    later,
    mail: await sealSessionNotice(session, (web, deed) =>
      mailAddressConfirmed(web, { ...deed, email, from }),
    ),
    new_mail: await sealForOutbox(world, { to: email, ...awaited }),
  }
  return (await db.one('owner_confirm_mail_address', args, confirmedRow))?.confirmed === true
}

/** Stops the change, wherever it stands. Returns false if it took effect before, or there was none. */
export async function stopMailAddress(session: OwnerSession): Promise<boolean> {
  const mail = await sealSessionNotice(session, mailAddressStopped)
  return (await session.db.one('owner_stop_mail_address', { mail }, stoppedRow))?.stopped === true
}

/** Returns what a code is bound to: it is good in this account and for this address alone. */
function addressOfCode({ account }: OwnerSession, email: string): string {
  return `${account.id} ${email}`
}
