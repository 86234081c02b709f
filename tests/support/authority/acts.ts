/**
 * The book: the list of everything done in an account, each act in its own second. This list is the twin of
 * the authority rules. Each question about permissions is answered by reading it from the beginning.
 */

export type Way = 'password' | 'passkey' | 'recovery_code'
export type Scope = 'read' | 'pay' | 'full' | 'vault'
export type Ticks = { anyKey: boolean; payee: boolean; device: boolean }
export type Level = 'none' | 'mandate' | 'agent_asserted' | 'user_session' | 'user_passkey'
export type LimitName = 'automatic' | 'asserted' | 'newRecipient' | 'cap'
export type Permission = 'reads_secrets' | 'shows_codes'

/** Acts of the owner in a session. */
type OfOwner = { session: string } & (
  | { do: 'touch' }
  | { do: 'prove'; by: string; isPasskey: boolean }
  | { do: 'end session'; ended: string }
  | { do: 'end other sessions' }
  | { do: 'set password'; password: string }
  | { do: 'make codes'; codes: readonly string[] }
  | { do: 'add passkey'; passkey: string }
  | { do: 'remove passkey'; passkey: string }
  | { do: 'lose passkeys' }
  | { do: 'make key'; key: string; scope: Scope }
  | { do: 'rotate key'; key: string; successor: string; overlapHours: number }
  | { do: 'revoke key'; key: string }
  | { do: 'let in'; code: string; scope: Scope; days: number }
  | { do: 'disconnect'; app: string }
  | { do: 'add recipient'; address: string }
  | { do: 'remove recipient'; address: string }
  | { do: 'remove device'; key: string; device: string }
  | { do: 'forget all by'; key: string }
  | { do: 'approve'; payment: string; ticks: Ticks; level: 'user_session' | 'user_passkey' }
  | { do: 'decline'; payment: string }
  | { do: 'approve mandate'; mandate: string; anyKey: boolean; isByPasskey: boolean }
  | { do: 'decline mandate'; mandate: string }
  | { do: 'suspend mandate'; mandate: string }
  | { do: 'resume mandate'; mandate: string }
  | { do: 'unfreeze' }
  | { do: 'set limit'; name: LimitName; micros: number }
  | { do: 'permit'; what: Permission; to: string; permits: boolean }
  | { do: 'undo'; since: number; password: string; putBack: readonly string[] }
)

/** Requests and acts of an agent. */
type OfAgent =
  | { do: 'ask'; payment: Asked }
  | { do: 'take over'; payment: string; key: string; device: string }
  | { do: 'pay'; payment: string; by: string; level: Level; mandate: string | null }
  | { do: 'ask mandate'; mandate: AskedMandate }
  | { do: 'begin'; app: string; code: string }

/** Acts of anyone, of time and of the chain. */
type OfOthers =
  | { do: 'open'; password: string; codes: readonly string[]; limits: Record<LimitName, number> }
  | { do: 'sign in'; session: string; way: Way; by: string }
  | { do: 'freeze' }
  | { do: 'revoke mandate'; mandate: string }
  | { do: 'release'; payment: string }
  | { do: 'settle' | 'unsettle'; payment: string }

export type Asked = {
  id: string
  kind: 'transfer' | 'x402'
  key: string
  device: string
  payee: string
  micros: number
  /** Host of the merchant; null for a transfer. */
  host: string | null
  expiresAt: number
}

export type AskedMandate = {
  id: string
  key: string
  device: string
  host: string
  payTo: string | null
  paymentMicros: number
  totalMicros: number
  expiresAt: number
}

export type Deed = OfOwner | OfAgent | OfOthers
export type Act = { at: number } & Deed
export type ActOf<Name extends Act['do']> = Extract<Act, { do: Name }>
export type Book = { now: number; acts: readonly Act[] }

export const minute = 60
export const hour = 60 * minute
export const day = 24 * hour
/**
 * Seconds after a recovery in which nothing can be widened, and after the removal of the last passkey in
 * which the account still requires one.
 */
export const guardSeconds = 72 * hour

/** Returns all acts of one kind, oldest first. */
export function actsOf<Name extends Act['do']>({ acts }: Book, name: Name): ActOf<Name>[] {
  return acts.filter((act): act is ActOf<Name> => act.do === name)
}

/** Returns the book as it was just before an act, at the second of that act. */
export function before({ acts }: Book, act: Act): Book {
  return { now: act.at, acts: acts.slice(0, acts.indexOf(act)) }
}

/** Decides whether an item created at this time was later undone with "it was not me". */
export function isUndone(book: Book, madeAt: number): boolean {
  return actsOf(book, 'undo').some(({ at, since }) => madeAt > since && madeAt < at)
}
