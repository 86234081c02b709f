/** Plans which operations run as Supabase Edge Functions, and what each is given. */
import type { Operation } from '../../../shared/contract/operation.ts'
import { offered, type Target } from '../../../shared/remote/calls.ts'
import { describeFunctions } from '../../local/functions.ts'

/** An operation as an Edge Function. */
export type EdgeFunction = {
  folder: string
  /** Values that are not secret. */
  vars: Readonly<Record<string, string>>
  /** Names of its secrets. */
  secrets: readonly string[]
  /** Functions that it calls over the internet, because they stay on workers. */
  calls: readonly Target[]
}

/** Secret that signs the calls. */
const callsKey = 'REMOTE_CALLS_PRIVATE_KEY'

/** Returns the operations of these contracts. A var without a value keeps that of scripts/deploy/functions.toml. */
export function planEdgeFunctions(
  contracts: readonly Operation[],
  values: Readonly<Record<string, string>>,
): EdgeFunction[] {
  const folders = new Set(contracts.map(({ folder }) => folder))
  return describeFunctions(contracts)
    .filter(({ folder }) => folders.has(folder))
    .map(({ folder, vars, secrets, services }) => {
      const calls = services.map(({ binding }) => targetOf(folder, binding))
      return {
        folder,
        vars: Object.fromEntries(
          Object.entries(vars).map(([name, value]) => [name, values[name] ?? value]),
        ),
        secrets: [...secrets, ...(calls.length > 0 ? [callsKey] : [])],
        calls,
      }
    })
}

function targetOf(folder: string, binding: string): Target {
  const found = Object.keys(offered).find((name): name is Target => name === binding)
  if (!found) throw new Error(`${folder} calls ${binding}, which takes no calls from elsewhere`)
  return found
}

/** Returns the vars of all functions. */
export function varsOf(functions: readonly EdgeFunction[]): Record<string, string> {
  return Object.fromEntries(functions.flatMap(({ vars }) => Object.entries(vars)))
}

/** Returns the names of the secrets of all functions. */
export function secretsOf(functions: readonly EdgeFunction[]): string[] {
  return [...new Set(functions.flatMap(({ secrets }) => secrets))].toSorted()
}
