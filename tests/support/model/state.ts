/**
 * The state of the ledger's slow and obvious twin: plain lists in memory, searched from the front each
 * time. It uses no SQL; its answers are compared with those of the SQL functions.
 */
export type Limits = { automatic: bigint; asserted: bigint; newRecipient: bigint; cap: bigint }

export type Account = {
  id: string
  alias: string
  wallet: string
  limits: Limits
  version: number
  isFrozen: boolean
  freezes: number
  frozenAt: number
  /** Payments open at that time, in the order of the list. */
  openAtFreeze: Payment[]
  /** Maps each to the payment whose approval made it known; null for another act of the owner. */
  recipients: Map<string, string | null>
  devices: Map<string, string | null>
  /** Credential of the owner's session. */
  session: string
  passkeys: Passkey[]
  /** Null for entries about a mandate. */
  feed: { type: string; payment: Payment | null }[]
}

export type Passkey = { id: string; publicKey: string; counter: number; addedAt: number }

/** A passkey's signature in the form that the ledger takes; the ledger does not verify it. */
export type Assertion = {
  passkey: string
  counter_seen: string
  counter_now: string
  client_data: string
  authenticator_data: string
  signature: string
}

export type Key = {
  id: string
  credential: string
  scope: 'read' | 'pay' | 'full'
  account: Account
  revokedAt: number | null
  expiresAt: number | null
  /** Most that the key may move by itself, in micro-USD; null for no cap. */
  caps: { payment: bigint | null; day: bigint | null }
}

export type Level = 'none' | 'mandate' | 'agent_asserted' | 'user_session' | 'user_passkey'
export type State =
  | 'prepared'
  | 'awaiting_confirmation'
  | 'authorized'
  | 'signed'
  | 'unknown'
  | 'settled'
  | 'released'
  | 'expired'
  | 'declined'
export type Finality = 'submitted' | 'reverted' | 'included' | 'safe' | 'finalized' | 'reorged'

export type Decision = 'approved' | 'declined'

/** One act of consent of an owner. */
export type Consent = {
  digest: string
  /** Digests of the payments, if there are several. */
  leaves: string[] | null
  /** Includes the public key as it was then; null if the session alone was the proof. */
  signed: { assertion: Assertion; publicKey: string; addedAt: number } | null
  /** Time of the request; of several, the first. */
  askedAt: number
  at: number
}

export type Ticks = { anyKey: boolean; payee: boolean; device: boolean }

export type Payment = {
  id: string
  account: Account
  key: Key
  device: string
  kind: 'transfer' | 'x402'
  state: State
  claim: string | null
  approval: { decision: Decision; digest: string; consent: Consent | null } | null
  /** The owner's ticks with the approval. */
  ticks: Ticks
  token: string
  payee: string
  alias: string | null
  atomic: bigint
  usd: bigint
  origin: string | null
  resource: string | null
  heard: boolean
  mandate: Mandate | null
  createdAt: number
  expiresAt: number
  askedLevel: Level | null
  level: Level | null
  authorizedAt: number | null
  /** Freezes of its account before the authorization. */
  freezes: number
  /** Limits at the authorization; the sums of that moment had to fit them. */
  limitsThen: Limits | null
  /** Key that had it authorized, and the caps of that key then. */
  paidBy: Key | null
  capsThen: Key['caps'] | null
  seenBlock: number | null
  validBefore: number | null
  leasedUntil: number
  nonce: string | null
  signature: string | null
  txHash: string | null
  place: { block: number; hash: string; log: number } | null
  finality: Finality | null
  /** True if it was settled in a block that is gone. */
  isReopened: boolean
  settledAt: number | null
  settledIn: string | null
  placedAt: number | null
  /** Time at which it counts again after it had left the windows, because its settlement was undone. */
  returnedAt: number | null
  delivery: unknown
  failure: string | null
}

/** Caps of a mandate; null for no cap. */
export type Caps = {
  payment: bigint
  day: bigint | null
  total: bigint | null
  payments: number | null
}

/** Terms that an owner consents to. */
export type MandateTerms = {
  domain: string
  subdomains: boolean
  caps: Caps
  chains: number[] | null
  tokens: string[] | null
  payTo: string[] | null
  expiresAt: number
}

export type Mandate = MandateTerms & {
  id: string
  account: Account
  key: Key
  device: string
  state: 'pending_approval' | 'active' | 'suspended' | 'declined' | 'revoked'
  createdAt: number
  /** The terms as requested, once they were narrowed. */
  requested: MandateTerms | null
  isForAnyKey: boolean
  consent: Consent | null
  decidedAt: number | null
  revokedAt: number | null
  revokedBy: 'agent' | 'owner' | null
}

export type Lane = {
  address: string
  kind: 'relayer' | 'wallet'
  next: number
  mined: number
  pausedFor: string | null
  lease: string | null
  leasedUntil: number
  /** Grows with each use, to find the lane unused for longest. */
  used: number
}

/** A signed transaction, its highest cost and the payments whose transfers and cancellations are in it. */
export type Attempt = {
  hash: string
  cost: bigint
  carries: readonly Payment[]
  cancels: readonly Payment[]
  isOut?: boolean
}
export type Slot = {
  /** Learned when the ledger first returns it. */
  id: number | null
  lane: Lane
  nonce: number
  state: 'open' | 'mined' | 'final' | 'lost'
  block: { number: number; hash: string } | null
  attempts: Attempt[]
}

export type Call = {
  kind: 'transfer' | 'cancel'
  payment: Payment
  signature: string
  /** Place in the queue. */
  turn: number
  /** Number of slots that it was put into. */
  tries: number
  claim: string | null
  claimedUntil: number
  slot: Slot | null
}

/** Gas of a call in a transaction; without a slot it is reserved. */
export type GasUse = {
  payment: Payment
  kind: Call['kind']
  wei: bigint
  slot: Slot | null
  at: number
}

export type GasTerms = { wei: bigint; calls: number; leastUsd: bigint; cancels: number }

export type Kept = {
  digest: string
  claimedUntil: number
  createdAt: number
  claim: string
  status: number | null
  body: string | null
}

export type Twin = {
  chain: number
  now: number
  accounts: Account[]
  keys: Key[]
  payments: Payment[]
  /** Oldest first, as payments are. */
  mandates: Mandate[]
  /** Digests that an owner has consented to. */
  consented: Set<string>
  lanes: Lane[]
  slots: Slot[]
  /** Oldest first. */
  calls: Call[]
  gas: GasUse[]
  gasTerms: GasTerms
  kept: Map<string, Kept>
  uses: number
}

const liveStates: readonly State[] = ['authorized', 'signed', 'unknown']
export const unusedStates: readonly State[] = ['prepared', 'awaiting_confirmation']

export const isLive = ({ state }: Payment) => liveStates.includes(state)
/** Returns the time until which its signature may be valid by the chain's clock. */
export const liveUntil = ({ validBefore }: Payment) => (validBefore ?? 0) + 900
export const isUnused = ({ state }: Payment) => unusedStates.includes(state)

/** A refusal of a call, with the ledger's code. */
export class Refused extends Error {}

/** Returns the value of a call, or the code of its refusal. */
export function refusable<Value>(run: () => Value): Value | { refused: string } {
  try {
    return run()
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message }
    throw error
  }
}

const covers = { read: ['read'], pay: ['read', 'pay'], full: ['read', 'pay', 'full'] }

/** Decides whether a key is still valid. */
export const isInService = (twin: Twin, key: Key) =>
  key.revokedAt === null && isUnexpired(twin, key)

export const isUnexpired = (twin: Twin, { expiresAt }: Key) =>
  expiresAt === null || expiresAt > twin.now

/** Returns the key of a credential; throws a refusal if it may not do this. */
export function admit(
  twin: Twin,
  credential: string,
  needed: 'read' | 'pay',
  evenFrozen = false,
): Key {
  const key = twin.keys.find((one) => one.credential === credential)
  if (!key || !isInService(twin, key)) throw new Refused('unauthorized')
  if (!covers[key.scope].includes(needed)) throw new Refused('insufficient_scope')
  if (needed === 'pay' && key.account.isFrozen && !evenFrozen) throw new Refused('account_frozen')
  return key
}

/** Releases a payment that was not signed, or not sent. */
export function stop(payment: Payment, failure: string): void {
  Object.assign(payment, { state: 'released', finality: null, failure })
}

export function findOwn(twin: Twin, { account }: Key, id: string): Payment | undefined {
  return twin.payments.find((payment) => payment.id === id && payment.account === account)
}
