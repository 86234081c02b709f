/** The operations that a service describes and offers as tools. */
import type { Config } from '../env.ts'
import type { Operation } from './operation.ts'

/** Returns the operations that can do something with these settings: those of vaults only where some are offered. */
export function offeredOperations(
  contracts: readonly Operation[],
  { YIELD_VAULTS }: Config,
): readonly Operation[] {
  return YIELD_VAULTS === '{}'
    ? contracts.filter(({ gap }) => gap !== 'GAP_DEFI_AUTOMATION_V1')
    : contracts
}
