/**
 * The tokens by which functions reach the database. They are signed by a key made here, which the project takes
 * over as its own: a key that Supabase made gives no private half. Everything here can be made again, so the file
 * is not one that has to be kept: without it, the next run imports another key.
 */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { createSigningKey, type DatabaseRole, mintToken } from '../local/database-keys.ts'
import { readSealed, type SealedJson, writeSealed } from './sealed-json.ts'
import {
  adoptLegacySecret,
  importStandbyKey,
  type KeyChange,
  readSigningKeys,
  type SigningKey,
  type SupabaseProject,
  setKeyStatus,
} from './supabase.ts'

const daySeconds = 86_400
const lifeDays = 365
/** Tokens that end sooner are replaced. */
const renewDays = 90
/** Longest time that a change of a key is waited for. */
const throttleSecondsMax = 900

const tokensSchema = z.object({
  /** JWK as text. */
  signing_key: z.string(),
  /** Absent until the project uses the key. */
  tokens: z
    .object({
      expires_at_seconds: z.int(),
      service_role: z.string(),
      custody: z.string(),
      vault: z.string(),
    })
    .optional(),
})

/** A token for each role, and the time when all of them end. */
export type DatabaseTokens = Readonly<Record<DatabaseRole, string>> & { expiresAt: Date }

/** Clock, pauses and lines of a run. */
export type TokenWork = {
  now: () => Date
  pause: (milliseconds: number) => Promise<void>
  say: (line: string) => void
}

/** Returns the path of the file. */
export function tokensPath(settingsFile: string): string {
  return `${settingsFile}.tokens`
}

/** Returns tokens that the project accepts. Does only what a run before has not done. */
export async function openTokens(
  access: SupabaseProject,
  settingsFile: string,
  passphrase: string,
  work: TokenWork,
): Promise<DatabaseTokens> {
  const file = sealedTokens(settingsFile, passphrase)
  const known = (await readSealed(file)) ?? { signing_key: createSigningKey(randomUUID()) }
  // Stored before the project knows the key: a kill in between leaves no key that nobody has.
  if (!known.tokens) await writeSealed(file, known)
  const kid = await bringIntoUse(access, known.signing_key, work)
  const nowSeconds = Math.floor(work.now().getTime() / 1000)
  if (known.tokens && known.tokens.expires_at_seconds > nowSeconds + renewDays * daySeconds) {
    return withDate(known.tokens)
  }
  const tokens = mintAll(known.signing_key, kid, nowSeconds + lifeDays * daySeconds)
  await writeSealed(file, { ...known, tokens })
  work.say('tokens minted for service_role, custody and vault')
  return withDate(tokens)
}

/** Returns the tokens that a run before has minted. Throws one sentence if there are none. */
export async function heldTokens(
  settingsFile: string,
  passphrase: string,
): Promise<DatabaseTokens> {
  const file = sealedTokens(settingsFile, passphrase)
  const tokens = (await readSealed(file))?.tokens
  if (tokens) return withDate(tokens)
  throw new Error(`${file.path} has no tokens: run npm run deploy first`)
}

function sealedTokens(
  settingsFile: string,
  passphrase: string,
): SealedJson<z.output<typeof tokensSchema>> {
  return { path: tokensPath(settingsFile), kind: 'tokens', passphrase, schema: tokensSchema }
}

/** Returns the time when the tokens end; undefined without tokens. */
export async function endOfTokens(
  settingsFile: string,
  passphrase: string,
): Promise<Date | undefined> {
  const known = await readSealed(sealedTokens(settingsFile, passphrase))
  return known?.tokens && withDate(known.tokens).expiresAt
}

function mintAll(signingKey: string, kid: string, expiresAtSeconds: number) {
  const key = JSON.stringify({
    ...z.record(z.string(), z.json()).parse(JSON.parse(signingKey)),
    kid,
  })
  const tokenOf = (role: DatabaseRole) => mintToken(key, { role, expiresAtSeconds })
  return {
    expires_at_seconds: expiresAtSeconds,
    service_role: tokenOf('service_role'),
    custody: tokenOf('custody'),
    vault: tokenOf('vault'),
  }
}

function withDate(tokens: ReturnType<typeof mintAll>): DatabaseTokens {
  const { expires_at_seconds, ...roles } = tokens
  return { ...roles, expiresAt: new Date(expires_at_seconds * 1000) }
}

const privateJwk = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  kid: z.uuid(),
  x: z.string(),
  y: z.string(),
  d: z.string(),
})

/** Makes the project accept tokens of this key. Returns the `kid` by which the project knows it. */
async function bringIntoUse(
  access: SupabaseProject,
  signingKey: string,
  work: TokenWork,
): Promise<string> {
  const jwk = privateJwk.parse(JSON.parse(signingKey))
  const keys = await knownKeys(access, work)
  const own = keys.find(({ public_jwk: one }) => one?.x === jwk.x && one.y === jwk.y)
  const key = own ?? (await importKey(access, jwk, keys, work))
  if (key.status === 'revoked') {
    throw new Error(
      `the signing key ${key.id} of this deployment is revoked: move it to standby in the dashboard of the project (JWT keys), or delete the .tokens file so that another one is made, and run this again`,
    )
  }
  // Tokens of a key that another one has followed are accepted until it is revoked.
  if (key.status === 'standby') {
    await throttled(work, () => setKeyStatus(access, key.id, 'in_use'))
    work.say('signing key rotated in')
  }
  return key.public_jwk?.kid ?? key.id
}

/** Returns the keys. A project that still signs with its old secret has none, and then takes that as the first. */
async function knownKeys(access: SupabaseProject, { say }: TokenWork): Promise<SigningKey[]> {
  const keys = await readSigningKeys(access)
  if (keys.length > 0) return keys
  await adoptLegacySecret(access)
  say('JWT secret of the project taken over as its first signing key')
  return readSigningKeys(access)
}

/** Imports the key. A project has one standby key at most, so another one that waits is put aside first. */
async function importKey(
  access: SupabaseProject,
  jwk: object,
  keys: readonly SigningKey[],
  work: TokenWork,
): Promise<SigningKey> {
  const waiting = keys.find(({ status }) => status === 'standby')
  if (waiting) {
    await throttled(work, () => setKeyStatus(access, waiting.id, 'previously_used'))
    work.say(`standby key ${waiting.id} moved to "previously used"`)
  }
  const key = await throttled(work, () => importStandbyKey(access, jwk))
  work.say('signing key imported')
  return key
}

/** Changes a key, and waits as often as the project asks for it. */
async function throttled(
  { now, pause, say }: TokenWork,
  change: () => Promise<KeyChange>,
): Promise<SigningKey> {
  const began = now().getTime()
  for (;;) {
    const changed = await change()
    if ('key' in changed) return changed.key
    const waits = changed.notBefore.getTime() - now().getTime()
    if (changed.notBefore.getTime() - began > throttleSecondsMax * 1000) {
      throw new Error(
        `Supabase changes no signing key before ${changed.notBefore.toISOString()}; run this again then`,
      )
    }
    say(`Supabase changes no signing key before ${changed.notBefore.toISOString()}; waiting`)
    await pause(Math.max(waits, 1000))
  }
}
