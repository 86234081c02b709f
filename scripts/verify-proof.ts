/**
 * Checks a transfer proof that transfer_status returned, as a third party would. It asks neither the
 * service nor its database, but only a node of the reader's own choice, if one is given.
 */
import { parseArgs } from 'node:util'
import {
  askNode,
  checkAgainstNode,
  checkBlockHash,
  checkProof,
  type Proof,
  readProof,
} from './verify-proof/check.ts'
import { conclude, readFile } from './verify-receipt/verifier.ts'

const help = `npm run verify-proof -- FILE [--rpc URL] [--block-hash HASH]

Checks a transfer proof, or an answer of transfer_status with one in it. Prints every check as a line
and ends with 0 when all of them hold, else with 1. One of the two is needed, both may be given:

--rpc URL          a node of the proof's chain: is the block in the chain, and how final
--block-hash HASH  a block hash that you trust; the hash of the transaction and the number of the
                   log in its block are then not checked, because a header does not hold them`

type Trust = { rpc: string | undefined; blockHash: string | undefined }

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const options = { rpc: { type: 'string' }, 'block-hash': { type: 'string' } } as const
    const { values, positionals } = parseArgs({
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
    if (values.help) {
      console.log(help)
      return 0
    }
    const [file] = positionals
    if (file === undefined || positionals.length > 1) throw new Error('give one FILE; see --help')
    return await verify(readFile(file, readProof), {
      rpc: values.rpc,
      blockHash: values['block-hash'],
    })
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 1
  }
}

async function verify(proof: Proof, { rpc, blockHash }: Trust): Promise<number> {
  if (rpc === undefined && blockHash === undefined) {
    throw new Error('give --rpc URL or --block-hash HASH: a proof is as good as its block')
  }
  const node = rpc === undefined ? undefined : await askNode(rpc, proof)
  const checks = [
    ...checkProof(proof),
    ...(blockHash === undefined ? [] : [checkBlockHash(proof, blockHash)]),
    ...(node ? checkAgainstNode(proof, node.view) : []),
  ]
  const claim = `${proof.from} paid ${proof.amount_atomic} of ${proof.token} to ${proof.to}`
  const where = `on ${proof.chain} in block ${proof.block.number}`
  return conclude(checks, () => `${claim} ${where}${node ? `, ${node.finality}` : ''}.`)
}
