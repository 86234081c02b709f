/**
 * Opens an account with a wallet: makes the key, seals it for the account and has the ledger open
 * everything in one transaction, by the digest of a registration link. Without such a link nothing is
 * opened, and no key is stored that belongs to no account.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { createAccountKey } from './accounts.ts'
import { sealKey } from './envelope.ts'
import type { OpenAccountAnswer, OpenAccountRequest } from './port.ts'

const digest = z.string().regex(/^[0-9a-f]{64}$/)

const openAccountRequest = z.strictObject({
  linkDigest: digest,
  alias: z.string().max(32),
  passwordHash: z.string().max(256),
  apiKey: z.strictObject({ digest, shown: z.string().max(32) }),
  session: z
    .strictObject({
      digest,
      user_agent: z.string().max(256),
      client: z.string().max(64),
      browser: digest.nullable(),
    })
    .optional(),
})

const answerRow = z.object({
  outcome: z.enum(['opened', 'link_closed', 'alias_taken', 'address_known']),
})

/** Uses a link once. Every outcome but `opened` leaves everything unchanged. */
export async function openAccount(
  world: World,
  roots: Roots,
  request: OpenAccountRequest,
): Promise<OpenAccountAnswer> {
  const { linkDigest, alias, passwordHash, apiKey, session } = openAccountRequest.parse(request)
  const account = world.newId()
  const random = (length: number) => world.randomBytes(length)
  const { address, privateKey } = createAccountKey(random)
  const envelope = sealKey(roots, random, { account, address }, privateKey)
  privateKey.fill(0)
  const question = {
    link_digest: linkDigest,
    opened: account,
    alias,
    address,
    envelope,
    password_hash: passwordHash,
    api_key: apiKey,
    session: session ?? null,
  }
  const row = await unbound(world.db).one('custody_open_account', question, answerRow)
  if (!row) throw new Error('custody_open_account answered no row')
  return row.outcome === 'opened'
    ? { outcome: 'opened', account, address }
    : { outcome: row.outcome }
}
