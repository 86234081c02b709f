/**
 * Custody's signatures, decoded by another library from its answers alone: each authorization once, by its
 * nonce. No row of the ledger is used.
 */
import { Interface, Transaction } from 'ethers'
import * as z from 'zod'
import type {
  AuthorizeAnswer,
  CustodyPort,
  SignedPayment,
  SignedTransaction,
} from '../../../shared/custody/port.ts'
import type { World } from '../../../shared/world.ts'

type Signed = { nonce: string; to: string; value: bigint }
type Book = Map<string, Map<string, Signed>>

/** The signatures of each wallet. */
export type SignatureBook = { of(wallet: string): Signed[] }

const forms = new Interface([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
])

/** Records every signature that custody gives to this world from now on. */
export function keepSignatures(world: World): SignatureBook {
  const { custody } = world
  if (!custody) throw new Error('the world has no custody')
  const book: Book = new Map()
  world.custody = recording(custody, book)
  return { of: (wallet) => [...(book.get(wallet)?.values() ?? [])] }
}

function recording(custody: CustodyPort, book: Book): CustodyPort {
  return {
    openAccount: (request) => custody.openAccount(request),
    ready: () => custody.ready(),
    confirm: async (request) => enterSigned(book, await custody.confirm(request)),
    authorize: async (request) => enterSigned(book, await custody.authorize(request)),
    async relay(request) {
      const answer = await custody.relay(request)
      enterTransaction(book, answer.transaction)
      return answer
    },
    async replace(request) {
      const transaction = await custody.replace(request)
      enterTransaction(book, transaction)
      return transaction
    },
  }
}

function enterSigned(book: Book, answer: AuthorizeAnswer): AuthorizeAnswer {
  if (answer.outcome !== 'signed') return answer
  if (answer.authorization) enterPayment(book, answer.authorization)
  enterTransaction(book, answer.transaction)
  return answer
}

function enterPayment(book: Book, { from, to, value, nonce }: SignedPayment): void {
  enter(book, from, { nonce, to, value: BigInt(value) })
}

function enter(book: Book, from: string, signed: Signed): void {
  const own = book.get(from) ?? new Map<string, Signed>()
  book.set(from, own.set(signed.nonce, signed))
}

function enterTransaction(book: Book, signed: SignedTransaction | undefined): void {
  if (signed) enterCall(book, Transaction.from(signed.raw).data)
}

const batch = z.object({ calls: z.array(z.object({ callData: z.string() })) })
const transfer = z.object({
  from: z.string(),
  to: z.string(),
  value: z.bigint(),
  nonce: z.string(),
})

/** Records one transfer, or a batch of calls that may contain transfers. */
function enterCall(book: Book, data: string): void {
  const call = forms.parseTransaction({ data })
  if (call?.name === 'aggregate3') {
    const { calls } = batch.parse(call.args.toObject(true))
    for (const { callData } of calls) enterCall(book, callData)
  }
  if (call?.name !== 'transferWithAuthorization') return
  const { from, ...signed } = transfer.parse(call.args.toObject())
  enter(book, from, signed)
}
