/**
 * Compiles Solidity with the compiler from npm. Imports come from npm packages. The compiler takes seconds to
 * load, so only what needs a contract asks for it.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { type Hex, isHex } from 'viem'
import * as z from 'zod'

const { resolve } = createRequire(import.meta.url)
const compiler = z.custom<{
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string
}>()
const hex = z.custom<Hex>((value) => isHex(value))
const code = z.object({ object: z.string() }).transform(({ object }) => hex.parse(`0x${object}`))
const compiled = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).default([]),
  contracts: z.record(
    z.string(),
    z.record(z.string(), z.object({ evm: z.object({ bytecode: code, deployedBytecode: code }) })),
  ),
})

/** Code of a contract: with its constructor, and as it runs. */
export type ContractCode = { bytecode: Hex; deployedBytecode: Hex }

/** Compiles a file; returns the code of each contract in it. Throws with the compiler's errors. */
export function compileContracts(path: string): ReadonlyMap<string, ContractCode> {
  const solc = compiler.parse(createRequire(import.meta.url)('solc'))
  const source = basename(path)
  const input = {
    language: 'Solidity',
    sources: { [source]: { content: readFileSync(path, 'utf8') } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const read = (name: string) => ({ contents: readFileSync(resolve(name), 'utf8') })
  const output: unknown = JSON.parse(solc.compile(JSON.stringify(input), { import: read }))
  const { errors, contracts } = compiled.parse(output)
  const wrong = errors.filter(({ severity }) => severity === 'error')
  if (wrong.length > 0) throw new Error(wrong.map((one) => one.formattedMessage).join('\n'))
  return new Map(Object.entries(contracts[source] ?? {}).map(([name, { evm }]) => [name, evm]))
}
