/** Reads the contracts from the folders of the operations, whatever the generated list of them says. */
import { existsSync, readdirSync } from 'node:fs'
import * as z from 'zod'
import type { Operation } from '../../shared/contract/operation.ts'

const exported = z.record(z.string(), z.unknown())
const functions = new URL('../../functions/', import.meta.url)

/** A contract, and the name under which its folder exports it. */
export type NamedContract = { name: string; contract: Operation }

/** Returns the contracts in the order in which the documents list them. */
export async function readContracts(): Promise<NamedContract[]> {
  const folders = readdirSync(functions).filter((folder) =>
    existsSync(new URL(`${folder}/contract.ts`, functions)),
  )
  const found = await Promise.all(folders.toSorted().map(contractsIn))
  return found.flat().toSorted((a, b) => a.contract.position - b.contract.position)
}

async function contractsIn(folder: string): Promise<NamedContract[]> {
  const module: unknown = await import(`../../functions/${folder}/contract.ts`)
  return Object.entries(exported.parse(module)).map(([name, contract]) => {
    if (!isOperation(contract)) throw new Error(`${name} of ${folder} is not an operation`)
    return { name, contract }
  })
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'id' in value && 'folder' in value
}
