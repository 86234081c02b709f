/**
 * Form of a transfer proof on the wire. All bytes are in the encoding that consensus hashes, so anyone who
 * trusts the block hash can check them. The header does not contain tx_hash and log_index.
 */
import * as z from 'zod'
import * as field from './fields.ts'
import * as form from './forms.ts'

const bytes = z
  .string()
  .max(16_777_216)
  .regex(/^0x[0-9a-f]*$/)

const inclusion = z.object({
  transaction_index: z.int(),
  log_position: z.int().describe("The Transfer log's place among the receipt's own logs."),
  receipt: bytes.describe('In consensus encoding: RLP, behind its type (EIP-2718).'),
  receipt_proof: z
    .array(bytes)
    .max(1_000)
    .describe("Trie nodes from the header's receiptsRoot to the leaf that holds the receipt."),
  header: bytes.describe('RLP; its keccak-256 is the block hash.'),
})

/** Proof of a settled payment. */
export const transferProof = z.object({
  chain: field.chain,
  tx_hash: form.chainHash,
  block: z.object({ number: form.digits, hash: form.chainHash }),
  log_index: z.int().describe('Of the Transfer log, in the block.'),
  token: form.address.describe('Contract address.'),
  from: form.address,
  to: form.address,
  amount_atomic: field.amountAtomic,
  authorization_nonce: form.chainHash
    .nullable()
    .describe('EIP-3009. Null for a transfer that the wallet itself sent.'),
  nonce_preimage: form
    .words(2048)
    .nullable()
    .describe('keccak-256 of this text is the authorization nonce.'),
  inclusion: inclusion
    .nullable()
    .describe(
      'That the log is in the block. Null unless include_proof asked for it, or if it cannot be shown.',
    ),
})
