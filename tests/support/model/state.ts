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
  recipients: Set<string>
  devices: Set<string>
  /** The credential of the owner's session. */
  session: string
  feed: { type: string; payment: Payment }[]
}

export type Key = {
  id: string
  credential: string
  scope: 'read' | 'pay' | 'full'
  account: Account
  isRevoked: boolean
  expiresAt: number | null
}

export type Level = 'none' | 'mandate' | 'agent_asserted' | 'user_session' | 'user_passkey'
export type State =
  | 'prepared'
  | 'awaiting_confirmation'
  | 'authorized'
  | 'signed'
  | 'unknown'
  | 'settled'
  | 'failed'
  | 'released'
  | 'expired'
  | 'declined'
export type Finality = 'submitted' | 'included' | 'safe' | 'finalized' | 'reorged'

/** One act of consent of an owner. */
export type Consent = { level: 'user_session' | 'user_passkey'; digest: string; at: number }

export type Payment = {
  id: string
  account: Account
  key: Key
  device: string
  kind: 'transfer' | 'x402'
  state: State
  claim: string | null
  approval: { decision: 'approved' | 'declined'; digest: string; consent: Consent | null } | null
  token: string
  payee: string
  alias: string | null
  atomic: bigint
  usd: bigint
  createdAt: number
  expiresAt: number
  level: Level | null
  authorizedAt: number | null
  /** Limits as they were when it was authorized: the sums of that moment had to fit them. */
  limitsThen: Limits | null
  seenBlock: number | null
  validBefore: number | null
  leasedUntil: number
  nonce: string | null
  signature: string | null
  txHash: string | null
  place: { block: number; hash: string; log: number } | null
  finality: Finality | null
  settledAt: number | null
  delivery: unknown
  failure: string | null
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

export type Attempt = { hash: string; at: number }
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
  payment: Payment
  claim: string | null
  claimedUntil: number
  slot: Slot | null
}

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
  lanes: Lane[]
  slots: Slot[]
  /** Oldest first. */
  calls: Call[]
  kept: Map<string, Kept>
  uses: number
}

export const liveStates: readonly State[] = ['authorized', 'signed', 'unknown']
export const unusedStates: readonly State[] = ['prepared', 'awaiting_confirmation']

export const isLive = ({ state }: Payment) => liveStates.includes(state)
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

/** The key of a credential, or the refusal of whoever holds it. */
export function admit(twin: Twin, credential: string, needed: 'read' | 'pay'): Key {
  const key = twin.keys.find((one) => one.credential === credential)
  const isOver = key?.expiresAt !== null && (key?.expiresAt ?? 0) <= twin.now
  if (!key || key.isRevoked || isOver) throw new Refused('unauthorized')
  if (!covers[key.scope].includes(needed)) throw new Refused('insufficient_scope')
  if (needed === 'pay' && key.account.isFrozen) throw new Refused('account_frozen')
  return key
}

export function findOwn(twin: Twin, { account }: Key, id: string): Payment | undefined {
  return twin.payments.find((payment) => payment.id === id && payment.account === account)
}
