/**
 * Checks a transfer proof with ethers alone. It shares no code with the part that makes proofs, so that one
 * mistake cannot be on both sides. It reads nothing from a network.
 */
import {
  dataSlice,
  decodeRlp,
  encodeRlp,
  FetchRequest,
  getBytes,
  id,
  JsonRpcProvider,
  keccak256,
  Network,
  type RlpStructuredData,
  toBeArray,
  toBeHex,
  toBigInt,
  toQuantity,
  zeroPadValue,
} from 'ethers'
import * as z from 'zod'
import type { Check } from '../verify-receipt/verifier.ts'

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

/** Returns the value at an index. Throws the reason if the nodes do not lead to one. */
export function valueInTrie(root: string, index: number, nodes: readonly string[]): string {
  let named = root
  // The key is the RLP of the index, read nibble by nibble.
  let left = encodeRlp(toBeArray(index)).slice(2)
  for (const [depth, node] of nodes.entries()) {
    if (keccak256(node) !== named) throw new Error(`node ${depth} is not the one that is named`)
    const items = decodeList(node)
    if (items.length === 17) {
      named = textAt(items, Number.parseInt(left.slice(0, 1), 16))
      left = left.slice(1)
      continue
    }
    const { nibbles, isLeaf } = decodePath(textAt(items, 0))
    if (!left.startsWith(nibbles)) throw new Error(`node ${depth} leads elsewhere`)
    left = left.slice(nibbles.length)
    named = textAt(items, 1)
    if (!isLeaf) continue
    if (left !== '' || depth !== nodes.length - 1) throw new Error(`node ${depth} is not the last`)
    return named
  }
  throw new Error('the nodes end before a value')
}

/** Returns the items of an RLP list. */
function decodeList(rlp: string): RlpStructuredData[] {
  const decoded = decodeRlp(rlp)
  if (typeof decoded === 'string') throw new Error('not a list')
  return decoded
}

/** Returns the item at this place, as bytes. */
function textAt(items: readonly RlpStructuredData[], at: number): string {
  const item = items[at]
  if (typeof item !== 'string') throw new Error(`item ${at} is not a string of bytes`)
  return item
}

/** Decodes hex-prefix (Yellow Paper, appendix C): bit 1 of the first nibble is leaf, bit 0 odd. */
function decodePath(path: string): { nibbles: string; isLeaf: boolean } {
  const flag = Number.parseInt(path.slice(2, 3), 16)
  const isOdd = (flag & 1) === 1
  return { nibbles: path.slice(isOdd ? 3 : 4), isLeaf: (flag & 2) === 2 }
}

const timeoutMilliseconds = 10_000
const quantity = z.string().transform((text) => BigInt(text))
const block = z
  .object({ number: quantity, hash: z.string(), transactions: z.array(z.string()) })
  .nullable()
const receipt = z.object({ logs: z.array(z.object({ logIndex: quantity })) }).nullable()

/** Finality of the proof's height, in the node's words. */
export type Finality = 'not final yet' | 'safe' | 'finalized'

/** Reads the values that `checkAgainstNode` compares, and the finality of the proof's height. */
export async function askNode(
  url: string,
  proof: Proof,
): Promise<{ view: NodeView; finality: Finality }> {
  const request = new FetchRequest(url)
  request.timeout = timeoutMilliseconds
  // The network is given, so that ethers does not keep looking for it if no node answers.
  const staticNetwork = Network.from(BigInt(proof.chain.replace('eip155:', '')))
  const node = new JsonRpcProvider(request, staticNetwork, { staticNetwork, batchMaxCount: 1 })
  try {
    return { view: await readView(node, proof), finality: await readFinality(node, proof) }
  } catch (error) {
    throw new Error(
      `the node does not answer: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    node.destroy()
  }
}

async function readView(node: JsonRpcProvider, proof: Proof): Promise<NodeView> {
  const { block: place, inclusion } = proof
  const at = block.parse(await node.send('eth_getBlockByNumber', [toQuantity(place.number), false]))
  const received = receipt.parse(await node.send('eth_getTransactionReceipt', [proof.tx_hash]))
  const logIndex = received?.logs[inclusion?.log_position ?? -1]?.logIndex
  return {
    chainId: quantity.parse(await node.send('eth_chainId', [])),
    blockHash: at?.hash,
    transactionHash: at?.transactions[inclusion?.transaction_index ?? -1],
    logIndex: logIndex === undefined ? undefined : Number(logIndex),
  }
}

async function readFinality(node: JsonRpcProvider, proof: Proof): Promise<Finality> {
  for (const tag of ['finalized', 'safe'] as const) {
    // A node that does not know the tag returns an error. Nothing is then claimed from it.
    const head: unknown = await node.send('eth_getBlockByNumber', [tag, false]).catch(() => null)
    const read = block.safeParse(head)
    if (read.data && read.data.number >= BigInt(proof.block.number)) return tag
  }
  return 'not final yet'
}
