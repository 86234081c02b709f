/**
 * Checks a transfer proof with ethers alone. It shares no code with the part that makes proofs, so that one
 * mistake cannot be on both sides. It reads nothing from a network.
 */
import type { RlpStructuredData } from 'ethers'
import { dataSlice, getBytes, id, keccak256, toBeHex, toBigInt, zeroPadValue } from 'ethers'
import type { Check } from '../verifier.ts'
import type { Inclusion, Proof } from './proof.ts'
import { decodeList, textAt, valueInTrie } from './trie.ts'

/** A node's view of the places that a proof names; undefined where it does not know them. */
export type NodeView = {
  chainId: bigint
  /** Hash of the block at the proof's height. */
  blockHash: string | undefined
  /** Hash of the transaction at the proof's index in that block. */
  transactionHash: string | undefined
  /** Index of the log at the proof's position in that transaction's receipt. */
  logIndex: number | undefined
}

type Log = { address: string; topics: string[]; data: string }

// Positions in the RLP of a header, the same since the first block (Yellow Paper, section 4.4).
const receiptsRootAt = 5
const numberAt = 8

const transferTopic = id('Transfer(address,address,uint256)')
// EIP-3009
const usedTopic = id('AuthorizationUsed(address,bytes32)')

/** Checks the proof for a reader who trusts its block hash. */
export function checkProof(proof: Proof): Check[] {
  const { inclusion } = proof
  return [
    ...checkNonce(proof),
    ...(inclusion
      ? checkInclusion(proof, inclusion)
      : [{ name: 'the log is in the block', fault: 'the proof does not show it' }]),
  ]
}

function checkInclusion(proof: Proof, inclusion: Inclusion): Check[] {
  const { block } = proof
  const { header, receipt, receipt_proof: nodes, transaction_index: index } = inclusion
  const fields = () => decodeList(header)
  return [
    check('the header hashes to the block hash', () => same(keccak256(header), block.hash)),
    check('the header has the block number', () =>
      same(toBigInt(getBytes(textAt(fields(), numberAt))), BigInt(block.number)),
    ),
    check('the receipt is in the trie that the header names', () =>
      same(valueInTrie(textAt(fields(), receiptsRootAt), index, nodes), receipt),
    ),
    ...checkReceipt(proof, inclusion),
  ]
}

function checkReceipt(proof: Proof, { receipt, log_position: position }: Inclusion): Check[] {
  return [
    check('the transaction succeeded', () => same(textAt(decodeReceipt(receipt), 0), '0x01')),
    check('the log is a transfer of this amount from payer to payee', () => {
      const { address, topics, data } = logAt(receipt, position)
      const wanted = [transferTopic, topicOf(proof.from), topicOf(proof.to)]
      return (
        same(address, proof.token) ??
        same(topics.join(' '), wanted.join(' ')) ??
        same(data, zeroPadValue(toBeHex(BigInt(proof.amount_atomic)), 32))
      )
    }),
    check('the log before it uses the authorization, or there is none', () =>
      same(authorizationBefore(proof, receipt, position), proof.authorization_nonce),
    ),
  ]
}

/** Returns the nonce of the authorization that made the transfer at this position, if there is one. */
function authorizationBefore(proof: Proof, receipt: string, position: number): string | null {
  if (position === 0) return null
  const { address, topics } = logAt(receipt, position - 1)
  const [topic, authorizer, nonce] = topics
  const isUse = topic === usedTopic && authorizer === topicOf(proof.from)
  return isUse && address === proof.token.toLowerCase() ? (nonce ?? null) : null
}

function checkNonce({ authorization_nonce, nonce_preimage, chain, token }: Proof): Check[] {
  return [
    check('the nonce is the hash of its preimage', () =>
      same(nonce_preimage === null ? null : id(nonce_preimage), authorization_nonce),
    ),
    // The nonce of an MPP charge is made from the merchant's challenge, so its preimage names neither.
    check('the preimage names chain and token', () => {
      const named = `aoa.payment.v1|${chain}|${token.toLowerCase()}|`
      const isNaming = nonce_preimage?.startsWith('aoa.payment.') === true
      return isNaming ? same(nonce_preimage.slice(0, named.length), named) : undefined
    }),
  ]
}

/** Checks that the proof's block is the one that its reader trusts. */
export function checkBlockHash(proof: Proof, trusted: string): Check {
  return check('the block hash is the trusted one', () => same(proof.block.hash, trusted))
}

/** Checks that the node knows the proof's block, transaction and log at the places that it names. */
export function checkAgainstNode(proof: Proof, view: NodeView): Check[] {
  return [
    check("the node's chain is the proof's", () => same(`eip155:${view.chainId}`, proof.chain)),
    check('the block is in the chain at its height', () => same(view.blockHash, proof.block.hash)),
    check('the transaction is in the block at its index', () =>
      same(view.transactionHash, proof.tx_hash),
    ),
    check('the log has its index in the block', () => same(view.logIndex, proof.log_index)),
  ]
}

type Value = string | bigint | number | null | undefined

/** Returns why the two differ, or undefined if they are equal; letter case does not count. */
function same(found: Value, wanted: Value): string | undefined {
  const [one, other] = [found, wanted].map((value) => String(value).toLowerCase())
  return one === other ? undefined : `${one} is not ${other}`
}

function check(name: string, faultOf: () => string | undefined): Check {
  try {
    const fault = faultOf()
    return fault === undefined ? { name } : { name, fault }
  } catch (error) {
    return { name, fault: error instanceof Error ? error.message : String(error) }
  }
}

function topicOf(address: string): string {
  return zeroPadValue(address.toLowerCase(), 32)
}

/** Decodes status, gas, bloom and logs of a receipt; a type in front (EIP-2718) is less than 0xc0. */
function decodeReceipt(receipt: string): RlpStructuredData[] {
  const isTyped = Number(dataSlice(receipt, 0, 1)) < 0xc0
  return decodeList(isTyped ? dataSlice(receipt, 1) : receipt)
}

function logAt(receipt: string, position: number): Log {
  const [, , , logs] = decodeReceipt(receipt)
  const log = Array.isArray(logs) ? logs[position] : undefined
  if (!Array.isArray(log)) throw new Error('the receipt has no log there')
  const [, topics] = log
  if (!Array.isArray(topics)) throw new Error('the log has no topics')
  return {
    address: textAt(log, 0),
    topics: topics.map((_, at) => textAt(topics, at)),
    data: textAt(log, 2),
  }
}
