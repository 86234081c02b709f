/** Steps of a walk: every sign-in, proof and act of a session that changes ways in or limits. */
import type { Dice } from '../model/dice.ts'
import { randomBytes, randomUUID } from '../seed.ts'
import type { TestWorld } from '../world.ts'
import type { Standing } from './standing.ts'

type Name = Parameters<TestWorld['world']['db']['call']>[0]
/** Session with the time of its last proof, and the passkey of it or `password`. */
export type Session = {
  credential: string
  proof: { at: number; by: string } | undefined
}
export type Walk = {
  world: TestWorld
  account: string
  email: string
  dice: Dice
  sessions: Session[]
  /** Time of the last recovery. */
  recoveredAt: number
  /** Everything that was ever a password, passkey or code of the account. */
  passwords: string[]
  passkeys: string[]
  codes: string[]
}

const digest = () => randomBytes(32).toString('hex')

/** A step; `by` is the session that took it, and `isDone` is false if it was refused or did nothing. */
export type Step = {
  name: string
  take(told: Walk, before: Standing): Promise<{ by: Session | undefined; isDone: boolean }>
}

/** Calls a function of the owner; returns true if it did something. */
async function callIn(told: Walk, session: Session | undefined, name: Name, args: object) {
  if (!session) return false
  try {
    const rows: unknown = await told.world.world.db.call(name, {
      credential: session.credential,
      ...args,
    })
    return Array.isArray(rows) ? rows.length > 0 : rows !== false
  } catch {
    return false
  }
}

/** Returns a step that some session takes; `done` notes what follows from it. */
function inSession(
  name: string,
  of: Name,
  argsOf: (told: Walk, before: Standing) => object,
  done: (
    told: Walk,
    session: Session,
    args: Record<string, unknown>,
    now: number,
  ) => void = () => {},
): Step {
  return {
    name,
    async take(told, before) {
      const session = told.dice.anyOf(told.sessions.slice(-4))
      const args: Record<string, unknown> = { ...argsOf(told, before) }
      const isDone = await callIn(told, session, of, args)
      if (isDone && session) done(told, session, args, before.now)
      return { by: session, isDone }
    },
  }
}

/** Returns a step that signs in; `proven` is true if that is a proof. */
function signIn(
  name: string,
  of: Name,
  argsOf: (told: Walk, before: Standing) => object,
  proven: boolean,
): Step {
  return {
    name,
    async take(told, before) {
      const credential = digest()
      const args: Record<string, unknown> = {
        session_digest: credential,
        user_agent: '',
        client: '192.0.2.1',
        ...argsOf(told, before),
      }
      // As every sign-in with a password begins.
      await told.world.world.db.call('login_find', { email: told.email, client: '192.0.2.1' })
      const rows = await told.world.world.db.call(of, args).catch(() => [])
      const isDone = Array.isArray(rows) && rows.length > 0
      const { passkey = 'password' } = args
      const proof = proven ? { at: before.now, by: String(passkey) } : undefined
      if (isDone) told.sessions.push({ credential, proof })
      if (told.sessions.length > 12) told.sessions.shift()
      return { by: undefined, isDone }
    },
  }
}

/** Draws one that is good now, or any that ever was. */
function anyOf(
  { dice, ...told }: Walk,
  list: 'passwords' | 'passkeys' | 'codes',
  { password_hash, passkeys, codes }: Standing,
): string {
  const good = { passwords: [password_hash], passkeys, codes }[list]
  return (dice.isLucky(70) ? dice.anyOf(good) : dice.anyOf(told[list])) ?? 'none'
}

const renamed = (session: Session, args: Record<string, unknown>) => {
  session.credential = String(args['session_digest'])
}

/** Sign-ins and proofs, which a walk takes more often than each act. */
export const entries: Step[] = [
  signIn(
    'sign in with a password',
    'login_with_password',
    (told, before) => ({
      email: told.email,
      password_hash: anyOf(told, 'passwords', before),
    }),
    true,
  ),
  signIn(
    'sign in with a passkey',
    'login_with_passkey',
    (told, before) => ({
      passkey: anyOf(told, 'passkeys', before),
      counter_seen: '0',
      counter_now: '0',
      challenge: randomBytes(32).toString('base64url'),
    }),
    true,
  ),
  signIn(
    'sign in with a code',
    'login_with_code',
    (told, before) => ({
      email: told.email,
      code_digest: anyOf(told, 'codes', before),
    }),
    false,
  ),
  inSession(
    'prove with a password',
    'owner_prove',
    (told, before) => ({
      password_hash: anyOf(told, 'passwords', before),
      session_digest: digest(),
    }),
    (_, session, args, at) => {
      renamed(session, args)
      session.proof = { at, by: 'password' }
    },
  ),
  inSession(
    'prove with a passkey',
    'owner_prove_with_passkey',
    (told, before) => ({
      passkey: anyOf(told, 'passkeys', before),
      counter_seen: '0',
      counter_now: '0',
      session_digest: digest(),
    }),
    (_, session, args, at) => {
      renamed(session, args)
      session.proof = { at, by: String(args['passkey']) }
    },
  ),
]

/** Acts of a session. */
export const acts: Step[] = [
  inSession('set a limit', 'owner_set_limits', ({ dice }) => ({
    limits: {
      [dice.oneOf(['automatic_daily', 'asserted_daily', 'daily_spending_cap'])]: String(
        dice.below(10) * 100_000_000,
      ),
    },
  })),
  inSession('add a recipient', 'owner_add_recipient', () => ({
    address: `0x${randomBytes(20).toString('hex')}`,
  })),
  inSession('make a key', 'owner_create_key', () => ({
    digest: digest(),
    label: 'x',
    shown: 'x',
    scope: 'pay',
    expires_in_days: 30,
  })),
  inSession('revoke a key', 'owner_revoke_key', ({ dice }, { keys }) => ({
    key: dice.anyOf(keys) ?? randomUUID(),
  })),
  inSession('freeze', 'freeze_account', () => ({ listed_max: 5 })),
  inSession('unfreeze', 'owner_unfreeze', ({ dice }) => ({ freeze: 1 + dice.below(3) })),
  inSession('show codes', 'owner_set_shows_codes', ({ dice }) => ({
    shows: dice.isLucky(50),
  })),
  inSession(
    'add a passkey',
    'owner_add_passkey',
    () => ({
      passkey: randomBytes(16).toString('hex'),
      public_key: 'x',
      counter: '0',
      transports: [],
      label: 'x',
    }),
    ({ passkeys }, session, args) => {
      passkeys.push(String(args['passkey']))
      if (session.proof?.by === 'password') session.proof.by = String(args['passkey'])
    },
  ),
  inSession('remove a passkey', 'owner_remove_passkey', (told, before) => ({
    passkey: anyOf(told, 'passkeys', before),
  })),
  inSession(
    'set a password',
    'owner_set_password',
    () => ({
      password_hash: digest(),
      session_digest: digest(),
    }),
    ({ passwords }, session, args) => {
      renamed(session, args)
      passwords.push(String(args['password_hash']))
    },
  ),
  inSession(
    'make codes',
    'owner_set_recovery_codes',
    () => ({ digests: [digest(), digest()] }),
    ({ codes }, _, { digests }) => {
      if (Array.isArray(digests)) codes.push(...digests.map(String))
    },
  ),
  inSession(
    'recover',
    'owner_recover',
    ({ dice }) => ({
      password_hash: digest(),
      lost_passkeys: dice.isLucky(50),
    }),
    (told, _, args, now) => {
      told.passwords.push(String(args['password_hash']))
      told.recoveredAt = now
    },
  ),
  inSession('end the hold', 'owner_end_hold', () => ({})),
]

/** Acts that end sessions, which a walk takes seldom, since it would begin anew each time. */
export const endings: Step[] = [
  inSession('leave', 'owner_leave', () => ({})),
  inSession('end other sessions', 'owner_end_other_sessions', () => ({})),
  inSession(
    'secure the account',
    'owner_secure',
    () => ({
      password_hash: digest(),
      session_digest: digest(),
    }),
    ({ passwords }, session, args) => {
      renamed(session, args)
      passwords.push(String(args['password_hash']))
    },
  ),
]
