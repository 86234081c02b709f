/**
 * The ledger as a slow and obvious twin has it: plain lists in memory, searched from the front each
 * time. It knows no SQL; what it answers is compared with what the SQL functions answer.
 */
export type Limits = { automatic: bigint; asserted: bigint; newRecipient: bigint; cap: bigint }

export type Account = {
  id: string
  alias: string
  wallet: string
  limits: Limits
  version: number
  isFrozen: boolean
  /** When it was frozen last. */
  frozenAt: number
  /** What was open then, in the order in which it is listed. */
  openAtFreeze: Payment[]
  /** By the payment whose approval made them known; null where that was another act of the owner. */
  recipients: Map<string, string | null>
  devices: Map<string, string | null>
  /** The credential of the owner's session. */
  session: string
  passkeys: Passkey[]
  /** Null where it is about a mandate. */
  feed: { type: string; payment: Payment | null }[]
}

export type Passkey = { id: string; publicKey: string; counter: number; addedAt: number }

/** What a passkey signed, as the ledger takes it; whether it is right is not the ledger's matter. */
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
  /** The most that it may move by itself, in micro-USD; null for no cap. */
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
  /** Digests of the payments, where it is for several. */
  leaves: string[] | null
  /** With the key as it was then; null where the session alone had to do. */
  signed: { assertion: Assertion; publicKey: string; addedAt: number } | null
  /** When it was asked for; of several, the first. */
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
  /** What the owner ticked beside the approval. */
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
  level: Level | null
  authorizedAt: number | null
  /** Limits as they were when it was authorized: the sums of that moment had to fit them. */
  limitsThen: Limits | null
  /** Who had it authorized, and the caps of that key then. */
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
  /** Was settled in a block that is gone. */
  isReopened: boolean
  settledAt: number | null
  settledIn: string | null
  placedAt: number | null
  /** When it counted again that had left the windows: its settlement was taken back. */
  returnedAt: number | null
  delivery: unknown
  failure: string | null
}

/** Null where there is no cap. */
export type Caps = {
  payment: bigint
  day: bigint | null
  total: bigint | null
  payments: number | null
}

/** What an owner consents to. */
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
  /** As it was asked for, once it was narrowed. */
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
  /** Grows with each use, so that the lane unused for longest is known. */
  used: number
}

/** A signed transaction, the most that it can cost and the payments whose transfers are in it. */
export type Attempt = { hash: string; cost: bigint; carries: readonly Payment[] }
export type Slot = {
  /** Learned when the ledger first tells it. */
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
  /** Its place in the queue. */
  turn: number
  /** Slots that it was put into. */
  tries: number
  claim: string | null
  claimedUntil: number
  slot: Slot | null
}

/** A call that goes into a transaction; without a slot it may go into one. */
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
  /** Digests that somebody consented to. */
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
/** Until when its signature may be good by the chain's clock. */
export const liveUntil = ({ validBefore }: Payment) => (validBefore ?? 0) + 900
export const isUnused = ({ state }: Payment) => unusedStates.includes(state)

/** Why a call is turned away, as the ledger names it. */
export class Refused extends Error {}

/** What comes of a call: its value, or the code of its refusal. */
export function refusable<Value>(run: () => Value): Value | { refused: string } {
  try {
    return run()
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message }
    throw error
  }
}

const covers = { read: ['read'], pay: ['read', 'pay'], full: ['read', 'pay', 'full'] }

/** Whether a key is good still. */
export const isInService = (twin: Twin, key: Key) =>
  key.revokedAt === null && isUnexpired(twin, key)

const isUnexpired = (twin: Twin, { expiresAt }: Key) => expiresAt === null || expiresAt > twin.now

/** The key of a credential, or the refusal of whoever holds it. */
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

/** Gives up what nobody has signed, or sent. */
export function stop(payment: Payment, failure: string): void {
  Object.assign(payment, { state: 'released', finality: null, failure })
}

/** The same for a freeze, which a key may ask for that was revoked in the last three days. */
export function admitBrake(twin: Twin, credential: string): Key {
  const key = twin.keys.find((one) => one.credential === credential)
  const wasRevoked = key !== undefined && (key.revokedAt ?? -Infinity) > twin.now - 3 * 86_400
  return wasRevoked && isUnexpired(twin, key) ? key : admit(twin, credential, 'read')
}

export function findOwn(twin: Twin, { account }: Key, id: string): Payment | undefined {
  return twin.payments.find((payment) => payment.id === id && payment.account === account)
}
