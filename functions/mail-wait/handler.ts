import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { mailWait } from './contract.ts'

const timeoutSecondsDefault = 25

/** Waits in the vault for a mail that matches, 25 seconds unless the caller asks for less. */
export const run: Handler<typeof mailWait> = async (input, { world, credential }) => {
  const { timeout_seconds: timeout, ...filters } = input
  return callVault(world, (vault) =>
    vault.waitForMail(credential, {
      ...filters,
      timeoutSeconds: Number(timeout ?? timeoutSecondsDefault),
    }),
  )
}
