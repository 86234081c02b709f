/** Reads a proof from a file: a proof alone, or an answer of transfer_status that contains one. */
import * as z from 'zod'

const hex = (pattern: RegExp, what: string) => z.string().regex(pattern, what)
const bytes = hex(/^0x([0-9a-f]{2})+$/, 'not bytes in lower-case hex')
const word = hex(/^0x[0-9a-fA-F]{64}$/, 'not 32 bytes in hex')
const address = hex(/^0x[0-9a-fA-F]{40}$/, 'not an address')
const count = z.int().min(0).max(1_000_000_000)
const decimal = hex(/^(0|[1-9][0-9]{0,77})$/, 'not a decimal number')
const nodesMax = 64

const proofSchema = z.object({
  chain: hex(/^eip155:[1-9][0-9]{0,14}$/, 'not a CAIP-2 id of an EVM chain'),
  tx_hash: word,
  block: z.object({ number: decimal, hash: word }),
  log_index: count,
  token: address,
  from: address,
  to: address,
  amount_atomic: decimal,
  authorization_nonce: word.nullable(),
  nonce_preimage: z.string().max(200).nullable(),
  inclusion: z
    .object({
      transaction_index: count,
      log_position: count,
      receipt: bytes,
      receipt_proof: z.array(bytes).min(1).max(nodesMax),
      header: bytes,
    })
    .nullable(),
})

/** A transfer proof. */
export type Proof = z.output<typeof proofSchema>
/** The part of a proof that shows the log in its block. */
export type Inclusion = NonNullable<Proof['inclusion']>

/** Reads a proof. Throws a sentence that says what is wrong with the text. */
export function readProof(text: string): Proof {
  const found = unwrap(parse(text))
  if (found === null) throw new Error('the payment is not settled, so there is no proof of it yet')
  const read = proofSchema.safeParse(found)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`not a transfer proof: ${issue?.path.join('.')} ${issue?.message}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('not JSON')
  }
}

function unwrap(value: unknown): unknown {
  const isAnswer = typeof value === 'object' && value !== null && 'proof' in value
  return isAnswer ? value.proof : value
}
