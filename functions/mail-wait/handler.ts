import type { Handler } from '../../shared/http/handler.ts'
import { askVault } from '../../shared/vault/ask.ts'
import type { mailWait } from './contract.ts'

const timeoutSecondsDefault = 25

export const run: Handler<typeof mailWait> = async (input, { world, credential }) => {
  const { timeout_seconds: timeout, ...filters } = input
  return askVault(world, (vault) =>
    vault.waitForMail(credential, {
      ...filters,
      timeoutSeconds: Number(timeout ?? timeoutSecondsDefault),
    }),
  )
}
