/**
 * A chain as far as the ledger can see: blocks that may be replaced until they are final, one transaction
 * count for each sender, and a token that executes each authorization once. All of it is computed from the
 * blocks on each call.
 */
import type { Dice } from './dice.ts'
import type { Finality, Payment } from './state.ts'

export type Transaction = {
  hash: string
  /** Null for a sender whose other transactions do not matter. */
  sender: string | null
  nonce: number
  payments: readonly Payment[]
  /** Payments whose authorizations it cancels. */
  cancels: readonly Payment[]
}
type Mined = Transaction & { paid: { payment: Payment; log: number }[]; cancelled: Payment[] }
export type Block = { number: number; hash: string; at: number; transactions: Mined[] }

export type ModelChain = {
  blocks: Block[]
  /** Transactions that a node has accepted and not mined. */
  pool: Transaction[]
  deposits: { wallet: string; token: string; atomic: bigint }[]
  hashes: number
  /** True while the issuer stops all transfers (FiatToken `pause`). */
  isPaused: boolean
  /** Senders whose transactions no block includes for now, because they pay too little. */
  jammed: Set<string>
}

const finalDepth = 8
const safeDepth = 4

export function newChain(at: number): ModelChain {
  const chain: ModelChain = {
    blocks: [],
    pool: [],
    deposits: [],
    hashes: 0,
    isPaused: false,
    jammed: new Set(),
  }
  chain.blocks.push({ number: 0, hash: newHash(chain), at, transactions: [] })
  return chain
}

/** Returns 32 bytes that were never used before. */
export function newHash(chain: ModelChain): string {
  chain.hashes += 1
  return `0x${chain.hashes.toString(16).padStart(64, '0')}`
}

export const headOf = (chain: ModelChain) => chain.blocks.length - 1
/** Number of the block that can no longer be undone, and of the one that seldom is. */
export const finalOf = (chain: ModelChain) => Math.max(headOf(chain) - finalDepth, 0)
export const safeOf = (chain: ModelChain) => Math.max(headOf(chain) - safeDepth, 0)

export function finalityOf(chain: ModelChain, number: number): Finality {
  if (number <= finalOf(chain)) return 'finalized'
  return number <= safeOf(chain) ? 'safe' : 'included'
}

const until = (chain: ModelChain, number: number) =>
  chain.blocks.slice(0, number + 1).flatMap(({ transactions }) => transactions)

/** Counts the transactions of a sender up to a block. */
export function countOf(chain: ModelChain, sender: string, number = headOf(chain)): number {
  return until(chain, number).filter((mined) => mined.sender === sender).length
}

/** Returns each time that a payment left a wallet. */
export function paymentsOf(chain: ModelChain) {
  return chain.blocks.flatMap((block) =>
    block.transactions.flatMap(({ hash, paid }) => paid.map((one) => ({ ...one, hash, block }))),
  )
}

export function paidIn(chain: ModelChain, payment: Payment) {
  return paymentsOf(chain).find((paid) => paid.payment === payment)
}

const isCancelled = (chain: ModelChain, payment: Payment) =>
  until(chain, headOf(chain)).some(({ cancelled }) => cancelled.includes(payment))

/** Returns the block and the result of a transaction. */
export function placeOf(chain: ModelChain, hash: string) {
  for (const block of chain.blocks) {
    const mined = block.transactions.find((one) => one.hash === hash)
    if (mined) return { block, mined }
  }
  return undefined
}

export function balanceOf(chain: ModelChain, wallet: string, token: string): bigint {
  const held = chain.deposits
    .filter((deposit) => deposit.wallet === wallet && deposit.token === token)
    .reduce((sum, { atomic }) => sum + atomic, 0n)
  return paymentsOf(chain)
    .map(({ payment }) => payment)
    .filter((payment) => payment.account.wallet === wallet && payment.token === token)
    .reduce((sum, { atomic }) => sum - atomic, held)
}

/** Sends a transaction to a node, which accepts it once and only while it could still be mined. */
export function send(chain: ModelChain, transaction: Transaction): void {
  const { hash, sender, nonce } = transaction
  const isPassed = sender !== null && countOf(chain, sender) > nonce
  const isKnown = chain.pool.some((one) => one.hash === hash) || placeOf(chain, hash)
  if (!isPassed && !isKnown) chain.pool.push(transaction)
}

/** Mines the pool: a sender's transactions in order of nonce, and any one of those with the same nonce. */
export function mine(chain: ModelChain, at: number, dice: Dice): Block {
  const block: Block = { number: chain.blocks.length, hash: newHash(chain), at, transactions: [] }
  chain.blocks.push(block)
  for (;;) {
    const next = chain.pool.filter(
      ({ sender, nonce }) =>
        sender === null || (!chain.jammed.has(sender) && countOf(chain, sender) === nonce),
    )
    const picked = dice.anyOf(next)
    if (!picked) break
    chain.pool = chain.pool.filter(
      ({ hash, sender, nonce }) =>
        hash !== picked.hash &&
        !(sender !== null && sender === picked.sender && nonce === picked.nonce),
    )
    execute(chain, block, picked)
  }
  return block
}

function execute(chain: ModelChain, block: Block, transaction: Transaction): void {
  const mined: Mined = { ...transaction, paid: [], cancelled: [] }
  block.transactions.push(mined)
  for (const payment of transaction.payments) {
    const isCovered = balanceOf(chain, payment.account.wallet, payment.token) >= payment.atomic
    const isUsable = isUnused(chain, payment) && (payment.validBefore ?? 0) > block.at
    if (chain.isPaused || !isCovered || !isUsable) continue
    const logs = block.transactions.reduce((sum, { paid }) => sum + paid.length, 0)
    mined.paid.push({ payment, log: logs })
  }
  for (const payment of transaction.cancels) {
    if (!chain.isPaused && isUnused(chain, payment)) mined.cancelled.push(payment)
  }
}

/** True if the token has neither paid nor cancelled an authorization; it does either only once. */
const isUnused = (chain: ModelChain, payment: Payment) =>
  !paidIn(chain, payment) && !isCancelled(chain, payment)

/** Replaces the newest blocks. Their transactions return to the pool or are lost. */
export function reorganize(chain: ModelChain, depth: number, at: number, dice: Dice): void {
  const keptNumber = Math.max(headOf(chain) - depth, finalOf(chain))
  const gone = chain.blocks.splice(keptNumber + 1)
  for (const transaction of gone.flatMap(({ transactions }) => transactions)) {
    const { paid: _, cancelled: __, ...sent } = transaction
    if (dice.isLucky(60)) chain.pool.push(sent)
  }
  while (chain.blocks.length <= keptNumber + gone.length) mine(chain, at, dice)
}
