/** Rules for every answer of an operation: it keeps to the contracts. */
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { commonErrors } from '../../shared/contract/operation.ts'
import { inputProblems, parseInput } from '../../shared/http/input.ts'

/** Throws if an operation answers an error code that its contract does not declare. */
export function mustBeDeclared(folder: string, method: string, code: unknown): void {
  const ofFolder = contracts.filter((one) => one.folder === folder)
  const contract = ofFolder.find((one) => one.method === method) ?? ofFolder[0]
  const declared: unknown[] = contract ? [...contract.errors, ...commonErrors(contract)] : []
  if (contract && !declared.includes(code)) {
    throw new Error(`${contract.id} answers ${String(code)}, which its contract does not declare`)
  }
}

const call = z.object({ tool: z.string(), arguments: z.unknown() }).optional()
const answer = z.object({ next: call, details: z.object({ next: call }).optional() })

/** Throws if the next call that an answer names is not one that a tool takes as it stands. */
export function mustBeCallable(body: Record<string, unknown>): void {
  const { next, details } = answer.parse(body)
  for (const { tool, arguments: given } of [next, details?.next].filter((one) => !!one)) {
    const contract = contracts.find(({ id }) => id === tool)
    const read = contract && parseInput(contract.request, given)
    if (!read) throw new Error(`an answer names ${tool}, which is no tool`)
    if (read.error) throw new Error(`next ${tool}: ${inputProblems(read.error.issues).message}`)
  }
}
