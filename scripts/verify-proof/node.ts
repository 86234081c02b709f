/** Asks one node, through ethers, for its view of the places that a proof names. */
import { FetchRequest, JsonRpcProvider, Network, toQuantity } from 'ethers'
import * as z from 'zod'
import type { NodeView } from './check.ts'
import type { Proof } from './proof.ts'

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
